"""Alabed and Yoneki's two workloads: one from their text, one from their command (docs/readings.md).

Both are db_bench's mixgraph, Facebook's social graph after Cao et al. (FAST 2020): 50 million keys of 48
bytes, generalized Pareto sizes, 30 ranges of keys with two-term exponential weights. The command names no
distribution within the ranges, so db_bench draws all keys uniformly. The text's workload has that of Cao et
al. Preloading the keys in random order is our choice. The loop is closed, because the command's rate is far
beyond what one thread reaches.
"""

from collections.abc import Iterator

from rocktune.workload.distributions import KeyChooserSpec, SizeSpec
from rocktune.workload.loads import MixSpec, PreloadSpec
from rocktune.workload.sessions import SessionSpec
from rocktune.workload.spec import WorkloadSpec

KEYS = 50_000_000
_MAX_VALUE_BYTES = 1 << 20
_MAX_SCAN = 10_000
# The parameters of Cao et al. in RocksDB's wiki page on mixgraph.
_RANGES = KeyChooserSpec(
    kind="two_term_exponential",
    range_a=14.18,
    range_b=-2.917,
    range_c=0.0164,
    range_d=-0.08082,
    ranges=30,
    key_a=0.002312,
    key_b=0.3467,
)


def alabed_workloads() -> Iterator[tuple[str, WorkloadSpec]]:
    """Yields the workloads alabed-text and alabed-listing, as (summary, workload) pairs."""
    text = MixSpec(get=0.78, put=0.13, delete=0.06, scan=0.03)
    yield _workload("text", "78% get, 13% put, 6% delete, 3% scan, hot ranges", text, _RANGES)
    listing = MixSpec(get=0.85, put=0.14, scan=0.01)
    yield _workload("listing", "85% get, 14% put, 1% scan, uniform keys", listing, KeyChooserSpec())


def _workload(name: str, summary: str, mix: MixSpec, chooser: KeyChooserSpec) -> tuple[str, WorkloadSpec]:
    """Returns a (summary, workload) pair."""
    spec = WorkloadSpec(
        name=f"alabed-{name}",
        keys=KEYS,
        key_bytes=48,
        value=SizeSpec(kind="pareto", high=_MAX_VALUE_BYTES, k=0.2615, sigma=25.45),
        threads=1,
        key_chooser=chooser,
        scan_length=SizeSpec(kind="pareto", high=_MAX_SCAN, k=2.517, sigma=14.236),
        sessions=(SessionSpec(mix=mix),),
        preload=PreloadSpec(keys=KEYS, random_order=True),
    )
    return f"Alabed and Yoneki's mixgraph, 50 million keys preloaded: {summary}", spec
