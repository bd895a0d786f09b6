"""Workloads that both sides must read alike. `python tests/workload/golden_specs.py` writes the file."""

import json
from pathlib import Path

from rocktune.workload import WorkloadSpec, load_workload, workload_names
from rocktune.workload.arrival import ArrivalSpec
from rocktune.workload.distributions import KeyChooserSpec, SizeSpec
from rocktune.workload.loads import FamilyLoadSpec, FamilySpec, MixSpec, PreloadSpec
from rocktune.workload.sessions import SessionSpec

GOLDEN_FILE = Path(__file__).parents[1] / "golden" / "workload_specs.json"


def golden_specs() -> list[WorkloadSpec]:
    """Returns every preset, and workloads that use every kind which no preset uses."""
    get = MixSpec(get=1.0)
    forever = (SessionSpec(mix=get),)
    choosers = (
        KeyChooserSpec(),
        KeyChooserSpec(kind="zipfian", skew=0.5),
        KeyChooserSpec(kind="true_zipf", skew=1.2),
        KeyChooserSpec(kind="hotspot", hot_key_share=0.1, hot_operation_share=0.9),
    )
    arrivals = (
        ArrivalSpec(kind="fixed_rate", operations_s=5000.0),
        ArrivalSpec(kind="sine", operations_s=1000.0, amplitude_operations_s=1000.0, period_s=20.0),
        ArrivalSpec(kind="bursts", operations_s=2000.0, period_s=5.0, on_s=1.0, phase_s=0.5, patience_s=2.0),
    )
    every_kind = MixSpec(
        get=0.2, get_absent=0.1, put=0.2, insert=0.1, delete=0.1, scan=0.1, read_modify_write=0.2
    )
    sessions = tuple(SessionSpec(seconds=30.0, mix=every_kind, arrival=arrival) for arrival in arrivals)
    pareto = SizeSpec(kind="pareto", high=1024, k=0.2615, sigma=25.45)
    return [
        *(load_workload(name) for name in workload_names()),
        *(
            WorkloadSpec(name=chooser.kind, keys=1000, key_chooser=chooser, sessions=forever)
            for chooser in choosers
        ),
        WorkloadSpec(
            name="everything",
            keys=100_000,
            key_bytes=8,
            value=pareto,
            value_compressed_fraction=1.0,
            threads=3,
            scan_length=SizeSpec(kind="uniform", low=0, high=7),
            sessions=(*sessions, SessionSpec(mix=get)),
            preload=PreloadSpec(keys=50_000, random_order=True),
            sync=True,
        ),
        families_workload(),
        WorkloadSpec(
            name="ranges",
            keys=1000,
            delete_range_keys=SizeSpec(low=10),
            sessions=(SessionSpec(mix=MixSpec(put=0.9, delete_range=0.1)),),
        ),
        WorkloadSpec(name="no-wal", keys=1, sessions=forever, wal=False).scaled(512),
    ]


def families_workload() -> WorkloadSpec:
    """Returns a workload on two families in which every level states some of the operations."""
    users = FamilySpec(name="default", keys=1000, share=0.25, preload=PreloadSpec(keys=500))
    large = FamilySpec(
        name="large",
        keys=200,
        share=0.75,
        key_bytes=8,
        value_compressed_fraction=1.0,
        mix=MixSpec(put=1.0),
        value=SizeSpec(low=5000),
        key_chooser=KeyChooserSpec(kind="latest"),
    )
    scans = SessionSpec(
        mix=MixSpec(scan=1.0),
        value=SizeSpec(low=20),
        scan_length=SizeSpec(low=3),
        key_chooser=KeyChooserSpec(kind="zipfian", skew=0.5),
        families=(FamilyLoadSpec(name="large", value=SizeSpec(low=9000)),),
    )
    return WorkloadSpec(
        name="families",
        keys=1200,
        key_bytes=24,
        families=(users, large),
        sessions=(SessionSpec(seconds=1.0, mix=MixSpec(get=1.0)), scans),
        preload=PreloadSpec(keys=500),
    )


def golden_text() -> str:
    """Returns what the golden file must hold."""
    return json.dumps([spec.model_dump(mode="json") for spec in golden_specs()], indent=1) + "\n"


if __name__ == "__main__":
    GOLDEN_FILE.write_text(golden_text())
