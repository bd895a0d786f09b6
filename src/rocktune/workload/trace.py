"""Traces: what a file of recorded operations holds, and the workload that replays it (docs/traces.md)."""

from rocktune.spec_file import Amount, Count, Number, Positive, Share, Spec


class TraceSpec(Spec):
    """The trace that a workload replays.

    Attributes:
        path: the file of operations that `rocktune trace import` wrote; absolute once it is loaded.
        scale: S; above 1 a sample with one of S keys is replayed.
        operations: operations of the whole trace.
        seconds: time of the whole trace, from its first operation to the last.
    """

    path: str
    scale: Positive = 1
    operations: Positive
    seconds: Amount

    def scaled(self, scale: int) -> "TraceSpec":
        """Returns the trace of a 1/S model of this one."""
        return self.model_copy(update={"scale": self.scale * scale})


class TraceFamily(Spec):
    """The operations of a trace on one column family.

    Attributes:
        id: RocksDB's number of the family.
        keys: distinct keys, those that only bound a scan included.
        used_keys: keys with operations.
        present_keys: keys in the store before the first operation: those whose first one is no put.
        mean_key_bytes: mean size of an operation's key.
        mean_value_bytes: mean size of the values whose size the trace states; 0 if it states no size.
        max_value_bytes: maximum size of these values.
        operations: operations by kind.
    """

    id: Count
    keys: Count
    used_keys: Count
    present_keys: Count
    mean_key_bytes: Count
    mean_value_bytes: Count
    max_value_bytes: Count
    operations: dict[str, Count]

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
        hot_share: share of the operations on the hottest hundredth of the keys.
        families: the column families, by their numbers.
        notes: what was assumed or left out, each with the number of its cases.
        sampling: how a sample was drawn; None for a whole trace.
    """

    operations: Positive
    span_us: Count
    scan_entries: Count
    hot_share: Share
    families: tuple[TraceFamily, ...]
    notes: dict[str, Count]
    sampling: TraceSampling | None = None

    @property
    def seconds(self) -> float:
        """Time from the first operation to the last in seconds."""
        return self.span_us / 1e6

    def total(self, kind: str) -> int:
        """Returns the operations of a kind on all families."""
        return sum(family.operations.get(kind, 0) for family in self.families)
