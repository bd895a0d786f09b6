"""Jia and Chen's three workloads (section III), which differ in the distribution of keys over 100 GB.

The paper states the working set, 100 GB, and that 80% of the hotspot's gets go to 20% of the data. It leaves
these open, so they are our choice: 50% get and 50% put, 16-byte keys, 1,024-byte values as in Dremel, Zipf
0.99 over scattered keys as in YCSB, loading in random order. The number of threads is a knob of its space.
"""

from collections.abc import Iterator

from rocktune.workload.distributions import KeyChooserSpec, SizeSpec
from rocktune.workload.loads import MixSpec, PreloadSpec
from rocktune.workload.sessions import SessionSpec
from rocktune.workload.spec import WorkloadSpec

WORKING_SET_BYTES = 100 * 10**9
_ENTRY_BYTES = 16 + 1024
KEYS = WORKING_SET_BYTES // _ENTRY_BYTES


def jia_chen_workloads() -> Iterator[tuple[str, WorkloadSpec]]:
    """Yields the workloads zipfian, hotspot and random, as (summary, workload) pairs."""
    yield _workload("zipfian", "Zipf 0.99", KeyChooserSpec(kind="scrambled_zipfian", skew=0.99))
    yield _workload("hotspot", "80% on 20% of the keys", KeyChooserSpec(kind="hotspot"))
    yield _workload("random", "uniform", KeyChooserSpec())


def _workload(name: str, law: str, key_chooser: KeyChooserSpec) -> tuple[str, WorkloadSpec]:
    """Returns a (summary, workload) pair; `law` describes the distribution of keys in the summary."""
    spec = WorkloadSpec(
        name=name,
        keys=KEYS,
        value=SizeSpec(low=1024),
        threads=1,  # replaced by the space's knob
        key_chooser=key_chooser,
        sessions=(SessionSpec(mix=MixSpec(get=0.5, put=0.5)),),
        preload=PreloadSpec(keys=KEYS, random_order=True),
    )
    return f"Jia and Chen's, 100 GB preloaded: 50% get, 50% put, {law}", spec
