"""RusKey's workloads (section 7): lookups and updates of uniform keys in a store of 100 GB.

The paper states 100 million entries of 128-byte keys and 896-byte values, and the shares of lookups. One
thread and loading in random order are our choice.
"""

from collections.abc import Iterator

from rocktune.workload.distributions import SizeSpec
from rocktune.workload.loads import MixSpec, PreloadSpec
from rocktune.workload.sessions import SessionSpec
from rocktune.workload.spec import WorkloadSpec

ENTRIES = 100_000_000
SHARES = {
    "read-heavy": 0.9,
    "read-inclined": 0.7,
    "balanced": 0.5,
    "write-inclined": 0.3,
    "write-heavy": 0.1,
}
"""Shares of lookups by the paper's names of the workloads."""


def ruskey_workloads() -> Iterator[tuple[str, WorkloadSpec]]:
    """Yields the workloads of the five shares of lookups, as (summary, workload) pairs."""
    for name, lookups in SHARES.items():
        spec = WorkloadSpec(
            name=f"ruskey-{name}",
            keys=ENTRIES,
            key_bytes=128,
            value=SizeSpec(low=896),
            threads=1,
            # Rounded, because 1 - 0.9 is 0.09999999999999998 in doubles.
            sessions=(SessionSpec(mix=MixSpec(get=lookups, put=round(1 - lookups, 1))),),
            preload=PreloadSpec(keys=ENTRIES, random_order=True),
        )
        yield f"RusKey's, 100 GB preloaded: {lookups:.0%} get, {1 - lookups:.0%} put, uniform keys", spec
