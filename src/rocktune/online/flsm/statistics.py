"""What an FLSM store was asked for, and what each level cost."""

import math
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from typing import Any


@dataclass(frozen=True)
class FlsmLevelStatistics:
    """What happened at a level.

    What concerns lookups and iterators is estimated from a sample of them, the rest is counted.

    Where RocksDB moves tables, what a filter said may count for the level above.

    Attributes:
        filtered: runs whose filter said that a key is not there.
        passed: runs whose filter let a lookup pass.
        false_positives: of them, those that did not have the key; smaller is better.
        found: keys that were found here.
        read_ns: that lookups spent in the level's tables.
        false_positive_read_ns: of it, in runs that did not have the key.
        scanned: runs that there were for iterators, estimated likewise.
        compactions: whose output was here; moved tables have read and written nothing.
        compaction_read_bytes: by them.
        compaction_written_bytes: likewise.
        compaction_us: that they took.
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
        """How often the filter of a run without the key lets a lookup pass; NaN if none was asked."""
        absent = self.filtered + self.false_positives
        return self.false_positives / absent if absent else math.nan

    def together(self, other: "FlsmLevelStatistics") -> "FlsmLevelStatistics":
        """Returns what has happened at both."""
        return FlsmLevelStatistics(
            *(own + others for own, others in zip(astuple(self), astuple(other), strict=True))
        )

    def since(self, earlier: "FlsmLevelStatistics") -> "FlsmLevelStatistics":
        """Returns what has happened since."""
        return FlsmLevelStatistics(
            *(now - before for now, before in zip(astuple(self), astuple(earlier), strict=True))
        )


@dataclass(frozen=True)
class FlsmServed:
    """Operations that had something in common, and what they cost; estimated from a sample of them.

    Attributes:
        operations: lookups, writes and iterators.
        busy_ns: that callers spent in them; smaller is better.
        passed: runs that lookups read.
        read_ns: what that took.
        scanned: runs that there were for iterators.
    """

    operations: int
    busy_ns: int
    passed: int
    read_ns: int
    scanned: int

    def since(self, earlier: "FlsmServed") -> "FlsmServed":
        """Returns what has come since."""
        return FlsmServed(
            *(now - before for now, before in zip(astuple(self), astuple(earlier), strict=True))
        )


@dataclass(frozen=True)
class FlsmStatistics:
    """What a store was asked for and what it cost, since it was opened.

    Attributes:
        lookups: keys that were looked up, alone or several together.
        found: of them, those whose key was there.
        iterators: that were made.
        entries_written: puts, merges and deletes.
        busy_ns: that callers spent in lookups, writes and iterators, where writes and lookups are estimated
            from a sample; smaller is better.
        quiet: operations during which nothing was merged, from beginning to end.
        merging: all others.
        levels: from RocksDB's own level 0, which holds what was flushed: level 1's newest runs.
    """

    lookups: int
    found: int
    iterators: int
    entries_written: int
    busy_ns: int
    quiet: FlsmServed
    merging: FlsmServed
    levels: tuple[FlsmLevelStatistics, ...]

    def since(self, earlier: "FlsmStatistics") -> "FlsmStatistics":
        """Returns what has happened since; `earlier` is of the same store and not of before it was opened."""
        levels = zip(self.levels, earlier.levels, strict=True)
        return FlsmStatistics(
            self.lookups - earlier.lookups,
            self.found - earlier.found,
            self.iterators - earlier.iterators,
            self.entries_written - earlier.entries_written,
            self.busy_ns - earlier.busy_ns,
            self.quiet.since(earlier.quiet),
            self.merging.since(earlier.merging),
            tuple(now.since(before) for now, before in levels),
        )


def flsm_statistics_of(document: Mapping[str, Any]) -> FlsmStatistics:
    """Returns statistics from what the extension or the worker has told of them."""
    levels = tuple(FlsmLevelStatistics(**level) for level in document["levels"])
    served = {state: FlsmServed(**document[state]) for state in ("quiet", "merging")}
    return FlsmStatistics(**{**document, **served, "levels": levels})
