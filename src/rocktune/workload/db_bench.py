"""Workloads of db_bench under db_bench's names, which all engines can measure.

The 10 million keys, 16 threads and 1,024-byte values are our choice.
"""

from collections.abc import Iterator

from rocktune.workload.loads import MixSpec, PreloadSpec
from rocktune.workload.sessions import SessionSpec
from rocktune.workload.spec import WorkloadSpec

KEYS = 10_000_000


def db_bench_workloads() -> Iterator[tuple[str, WorkloadSpec]]:
    """Yields four of db_bench's benchmarks with uniform keys, as (summary, workload) pairs."""
    yield _workload("fillrandom", "100% put, into an empty store", MixSpec(put=1.0), 0)
    yield _workload("overwrite", "100% put, of preloaded keys", MixSpec(put=1.0), KEYS)
    yield _workload("readrandom", "100% get, of preloaded keys", MixSpec(get=1.0), KEYS)
    yield _workload(
        "readrandomwriterandom", "30% get, 70% put, into an empty store", MixSpec(get=0.3, put=0.7), 0
    )


def _workload(name: str, summary: str, mix: MixSpec, preloaded_keys: int) -> tuple[str, WorkloadSpec]:
    """Returns a (summary, workload) pair."""
    spec = WorkloadSpec(
        name=name,
        keys=KEYS,
        sessions=(SessionSpec(mix=mix),),
        preload=PreloadSpec(keys=preloaded_keys, random_order=preloaded_keys > 0),
    )
    return f"db_bench's, {summary}, uniform keys", spec
