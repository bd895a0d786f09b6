"""A queue in a store: entries are appended, and consumers scan from the front and delete in order.

RocksDB writes a tombstone for each delete. Until a compaction drops it, each scan from the front passes it:
the figure `skipped_keys_per_scan` counts them. The 2 million entries and their sizes are our choice.
"""

from collections.abc import Iterator

from rocktune.workload.distributions import KeyChooserSpec, SizeSpec
from rocktune.workload.loads import MixSpec, PreloadSpec
from rocktune.workload.sessions import SessionSpec
from rocktune.workload.spec import WorkloadSpec

ENTRIES = 2_000_000


def queue_workloads() -> Iterator[tuple[str, WorkloadSpec]]:
    """Yields the workload queue in a (summary, workload) pair."""
    spec = WorkloadSpec(
        name="queue",
        keys=ENTRIES,
        value=SizeSpec(low=512),
        threads=4,
        key_chooser=KeyChooserSpec(kind="oldest"),
        scan_length=SizeSpec(low=10),
        sessions=(SessionSpec(mix=MixSpec(insert=0.495, delete=0.495, scan=0.01)),),
        preload=PreloadSpec(keys=ENTRIES),
    )
    yield "a queue: 49.5% insert, 49.5% delete of the oldest, 1% scan of 10 from the front", spec
