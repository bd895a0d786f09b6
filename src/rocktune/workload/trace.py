"""Traces: what a file of recorded operations holds, and the workload that replays it (docs/traces.md)."""

from typing import ClassVar

from rocktune.spec_file import Amount, Count, Number, Positive, Share, SparseSpec, Spec


class TracePreload(Spec):
    """The database that a trace was recorded on, whose keys the replay's store begins with.

    Attributes:
        directory: the database's directory; it is not needed any more.
        keys: its keys in the column families of the trace.
        untouched_keys: those of them that no operation names.
        bytes: sum of the sizes of keys and values.
    """

    directory: str
    keys: Count
    untouched_keys: Count
    bytes: Count


class TraceSpec(SparseSpec):
    """The trace that a workload replays.

    Attributes:
        path: the file of operations that `rocktune trace import` wrote; absolute once it is loaded.
        scale: S; above 1 a sample with one of S keys is replayed.
        operations: operations of the whole trace.
        seconds: time of the whole trace, from its first operation to the last.
        preload: the database that the trace was recorded on; None if it is not known.
    """

    sparse_fields: ClassVar[frozenset[str]] = frozenset({"preload"})

    path: str
    scale: Positive = 1
    operations: Positive
    seconds: Amount
    preload: TracePreload | None = None

    def scaled(self, scale: int) -> "TraceSpec":
        """Returns the trace of a 1/S model of this one."""
        return self.model_copy(update={"scale": self.scale * scale})


class StoredEntries(Spec):
    """The entries of a column family of the user's database, which the replay's store begins with.

    Attributes:
        keys: keys of the database.
        untouched_keys: those that no operation of the whole trace names.
        mean_key_bytes: mean size of a key.
        value_bytes: sum of the sizes of the values.
    """

    keys: Count
    untouched_keys: Count
    mean_key_bytes: Count
    value_bytes: Count

    @property
    def mean_value_bytes(self) -> int:
        """The mean size of a value."""
        return self.value_bytes // max(1, self.keys)

    @property
    def bytes(self) -> int:
        """The sum of the sizes of keys and values."""
        return self.keys * self.mean_key_bytes + self.value_bytes


class TraceFamily(Spec):
    """The operations of a trace on one column family.

    Attributes:
        id: RocksDB's number of the family.
        keys: distinct keys of the trace, those that only bound a scan included, and of the database. The
            ends of a deleted range are no keys.
        used_keys: keys with operations.
        present_keys: keys in the store before the first operation: those of the database, or if it is not
            known those whose first operation is no put.
        mean_key_bytes: mean size of an operation's key.
        mean_value_bytes: mean size of the values whose size the trace states; 0 if it states no size.
        max_value_bytes: maximum size of these values.
        operations: operations by kind.
        stored: the entries of the database that the trace was recorded on; None if it is not known.
    """

    id: Count
    keys: Count
    used_keys: Count
    present_keys: Count
    mean_key_bytes: Count
    mean_value_bytes: Count
    max_value_bytes: Count
    operations: dict[str, Count]
    stored: StoredEntries | None = None

    @property
    def total(self) -> int:
        """The operations of all kinds."""
        return sum(self.operations.values())


class TraceSampling(Spec):
    """How a sample of a trace was drawn, and how it differs from the whole.

    Attributes:
        scale: S; one key of S is in the sample.
        block_keys: keys with neighbouring ranks that are kept or left out together.
        hot_keys: keys that are all kept, with one of S operations each.
        operations_ratio: operations of the sample times S, over those of the whole.
        mix_error: maximum difference of a kind's share of the operations.
        hot_share_whole: share of the whole's operations on the hottest hundredth of its keys.
        hot_share_sample: the same of the sample.
        hit_ratio_whole: hit ratio of an LRU cache for a tenth of the whole's keys.
        hit_ratio_sample: the same of the sample.
    """

    scale: Positive
    block_keys: Positive
    hot_keys: Count
    operations_ratio: Number
    mix_error: Share
    hot_share_whole: Share
    hot_share_sample: Share
    hit_ratio_whole: Share
    hit_ratio_sample: Share


class TraceSummary(Spec):
    """What a trace holds.

    Attributes:
        operations: number of operations.
        span_us: time from the first operation to the last in microseconds.
        scan_entries: sum of the scans' lengths in entries.
        range_keys: sum of the keys of deleted ranges.
        hot_share: share of the operations on the hottest hundredth of the keys.
        families: the column families, by their numbers.
        notes: what was assumed or left out, each with the number of its cases.
        sampling: how a sample was drawn; None for a whole trace.
    """

    operations: Positive
    span_us: Count
    scan_entries: Count
    range_keys: Count = 0
    hot_share: Share
    families: tuple[TraceFamily, ...]
    notes: dict[str, Count]
    sampling: TraceSampling | None = None

    @property
    def seconds(self) -> float:
        """Time from the first operation to the last in seconds."""
        return self.span_us / 1e6

    @property
    def stored(self) -> tuple[StoredEntries, ...]:
        """The entries of the database in each family that it has."""
        return tuple(family.stored for family in self.families if family.stored)

    def total(self, kind: str) -> int:
        """Returns the operations of a kind on all families."""
        return sum(family.operations.get(kind, 0) for family in self.families)
