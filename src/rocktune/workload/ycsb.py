"""YCSB's core workloads A to F (Cooper et al., SoCC 2010), with the shares of YCSB's own workload files.

YCSB leaves the number of records and threads to its user; 10 million and 16 are our choice. Keys have 23
bytes ("user" and 19 digits), values 1,000 bytes (ten fields of 100). Records are loaded in random order,
because YCSB hashes their keys.
"""

from collections.abc import Iterator

from rocktune.workload.distributions import KeyChooserSpec, SizeSpec
from rocktune.workload.loads import MixSpec, PreloadSpec
from rocktune.workload.sessions import SessionSpec
from rocktune.workload.spec import WorkloadSpec

RECORDS = 10_000_000
SKEW = 0.99


def ycsb_workloads() -> Iterator[tuple[str, WorkloadSpec]]:
    """Yields the workloads ycsb-a to ycsb-f, as (summary, workload) pairs."""
    yield _workload("a", "update heavy: 50% get, 50% put", MixSpec(get=0.5, put=0.5))
    yield _workload("b", "read mostly: 95% get, 5% put", MixSpec(get=0.95, put=0.05))
    yield _workload("c", "read only: 100% get", MixSpec(get=1.0))
    yield _workload("d", "read latest: 95% get, 5% insert", MixSpec(get=0.95, insert=0.05), "latest")
    yield _workload("e", "short ranges: 95% scan of 1 to 100, 5% insert", MixSpec(scan=0.95, insert=0.05))
    yield _workload("f", "50% get, 50% read-modify-write", MixSpec(get=0.5, read_modify_write=0.5))


def _workload(
    letter: str, summary: str, mix: MixSpec, chooser: str = "scrambled_zipfian"
) -> tuple[str, WorkloadSpec]:
    """Returns a (summary, workload) pair."""
    spec = WorkloadSpec(
        name=f"ycsb-{letter}",
        keys=RECORDS,
        key_bytes=23,
        value=SizeSpec(low=1000),
        key_chooser=KeyChooserSpec.model_validate({"kind": chooser, "skew": SKEW}),
        scan_length=SizeSpec(kind="uniform", low=1, high=100),
        sessions=(SessionSpec(mix=mix),),
        preload=PreloadSpec(keys=RECORDS, random_order=True),
    )
    return f"YCSB {letter.upper()}, {summary}", spec
