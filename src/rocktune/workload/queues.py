"""Data that is deleted in the order in which it was written: queues, and entries that expire.

RocksDB writes a tombstone for each delete. Until a compaction drops it, each scan from the front passes it:
the figure `skipped_keys_per_scan` counts them. The 2 million entries and their sizes are our choice.

Entries that expire are appended under keys that grow with time. The application deletes the expired ones with
range deletes, 100 entries at a time, as fast as new ones are inserted.
"""

from collections.abc import Iterator

from rocktune.workload.distributions import KeyChooserSpec, SizeSpec
from rocktune.workload.loads import MixSpec, PreloadSpec
from rocktune.workload.sessions import SessionSpec
from rocktune.workload.spec import WorkloadSpec

ENTRIES = 2_000_000
EXPIRING_KEYS = 100
"""Entries that one range delete of `expiry` deletes."""


def queue_workloads() -> Iterator[tuple[str, WorkloadSpec]]:
    """Yields the workloads queue and expiry in (summary, workload) pairs."""
    queue = WorkloadSpec(
        name="queue",
        keys=ENTRIES,
        value=SizeSpec(low=512),
        threads=4,
        key_chooser=KeyChooserSpec(kind="oldest"),
        scan_length=SizeSpec(low=10),
        sessions=(SessionSpec(mix=MixSpec(insert=0.495, delete=0.495, scan=0.01)),),
        preload=PreloadSpec(keys=ENTRIES),
    )
    yield "a queue: 49.5% insert, 49.5% delete of the oldest, 1% scan of 10 from the front", queue
    expiry = queue.model_copy(
        update={
            "name": "expiry",
            "delete_range_keys": SizeSpec(low=EXPIRING_KEYS),
            "sessions": (SessionSpec(mix=MixSpec(insert=0.9, delete_range=0.009, scan=0.091)),),
        }
    )
    yield "entries that expire: 90% insert, 0.9% delete of the oldest 100, 9.1% scan of 10", expiry
