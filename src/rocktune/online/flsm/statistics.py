"""Statistics of an FLSM store. The fields are those of `cpp/include/rocktune/flsm_statistics.h`."""

import math
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from typing import Any


@dataclass(frozen=True)
class FlsmLevelStatistics:
    """Counts of one level since the store was opened.

    Counts of lookups and iterators are estimated from a sample; those of compactions are exact. Where RocksDB
    moves tables, the answers of their filters may count for the level above.

    Attributes:
        filtered: runs whose filter ruled the key out.
        passed: runs whose filter let a lookup pass.
        false_positives: part of `passed` without the key; smaller is better.
        found: keys found in this level.
        read_ns: nanoseconds that lookups spent in the level's tables.
        false_positive_read_ns: part of `read_ns` spent in runs without the key.
        scanned: runs visible to iterators, summed over all iterators.
        compactions: compactions whose output is in this level.
        compaction_read_bytes: bytes that these read; a moved table is neither read nor written.
        compaction_written_bytes: bytes that these wrote.
        compaction_us: microseconds that these took.
    """

    filtered: int
    passed: int
    false_positives: int
    found: int
    read_ns: int
    false_positive_read_ns: int
    scanned: int
    compactions: int
    compaction_read_bytes: int
    compaction_written_bytes: int
    compaction_us: int

    @property
    def false_positive_rate(self) -> float:
        """Share of lookups in runs without the key that the filter let pass; NaN without such lookups."""
        absent = self.filtered + self.false_positives
        return self.false_positives / absent if absent else math.nan

    def together(self, other: "FlsmLevelStatistics") -> "FlsmLevelStatistics":
        """Returns the sum of the counts of two levels."""
        return FlsmLevelStatistics(
            *(own + others for own, others in zip(astuple(self), astuple(other), strict=True))
        )

    def since(self, earlier: "FlsmLevelStatistics") -> "FlsmLevelStatistics":
        """Returns the counts since `earlier`, counts of the same level."""
        return FlsmLevelStatistics(
            *(now - before for now, before in zip(astuple(self), astuple(earlier), strict=True))
        )


@dataclass(frozen=True)
class FlsmServed:
    """A group of operations and their cost, estimated from a sample of them.

    Attributes:
        operations: number of lookups, writes and iterators.
        busy_ns: nanoseconds that callers spent in them; smaller is better.
        passed: runs that lookups read.
        read_ns: nanoseconds that lookups spent in these runs.
        scanned: runs visible to iterators, summed over all iterators.
    """

    operations: int
    busy_ns: int
    passed: int
    read_ns: int
    scanned: int

    def since(self, earlier: "FlsmServed") -> "FlsmServed":
        """Returns the counts since `earlier`, counts of the same group."""
        return FlsmServed(
            *(now - before for now, before in zip(astuple(self), astuple(earlier), strict=True))
        )


@dataclass(frozen=True)
class FlsmStatistics:
    """The operations of a store since it was opened, and their cost.

    Attributes:
        lookups: number of keys that were looked up, alone or several together.
        found: lookups that found their key.
        iterators: number of iterators created.
        entries_written: number of puts, merges and deletes.
        flushed_bytes: bytes of the tables that memtables became.
        busy_ns: nanoseconds that callers spent in lookups, writes and iterators; lookups and writes are
            estimated from a sample; smaller is better.
        quiet: operations during which no merge ran, from beginning to end.
        merging: all other operations.
        levels: counts by level, from RocksDB's own level 0, which holds level 1's newest runs, on.
    """

    lookups: int
    found: int
    iterators: int
    entries_written: int
    flushed_bytes: int
    busy_ns: int
    quiet: FlsmServed
    merging: FlsmServed
    levels: tuple[FlsmLevelStatistics, ...]

    def since(self, earlier: "FlsmStatistics") -> "FlsmStatistics":
        """Returns the counts since `earlier`, statistics of the same opened store."""
        levels = zip(self.levels, earlier.levels, strict=True)
        return FlsmStatistics(
            self.lookups - earlier.lookups,
            self.found - earlier.found,
            self.iterators - earlier.iterators,
            self.entries_written - earlier.entries_written,
            self.flushed_bytes - earlier.flushed_bytes,
            self.busy_ns - earlier.busy_ns,
            self.quiet.since(earlier.quiet),
            self.merging.since(earlier.merging),
            tuple(now.since(before) for now, before in levels),
        )


def flsm_statistics_of(document: Mapping[str, Any]) -> FlsmStatistics:
    """Returns the statistics in a document of the extension or the worker."""
    levels = tuple(FlsmLevelStatistics(**level) for level in document["levels"])
    served = {state: FlsmServed(**document[state]) for state in ("quiet", "merging")}
    return FlsmStatistics(**{**document, **served, "levels": levels})
