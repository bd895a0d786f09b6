"""What a controller is told of a mission: RusKey's statistics collector (section 3)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rocktune.online.flsm.shape import FlsmShape
from rocktune.online.flsm.statistics import FlsmServed, FlsmStatistics


@dataclass(frozen=True)
class LevelMission:
    """What a mission was for one level.

    Attributes:
        policy: K at its end.
        runs: sorted runs at its end.
        filled: share of the level's capacity that is held, about 1 when it is full.
        passed: runs that lookups had to read.
        read_s: that lookups spent in the level's tables.
        false_positive_read_s: of it, in runs that did not have the key.
        scanned: runs that there were for scans, of all of them together.
        compaction_s: of compactions into the level.
        compaction_bytes: read and written by them.
    """

    policy: int
    runs: int
    filled: float
    passed: float
    read_s: float
    false_positive_read_s: float
    scanned: float
    compaction_s: float
    compaction_bytes: float


@dataclass(frozen=True)
class Served:
    """Operations of a mission, and what they took; estimated from a sample of them.

    Attributes:
        operations: lookups, scans and writes.
        busy_s: that clients spent in them; smaller is better.
        passed: runs that lookups had to read.
        read_s: what that took.
        scanned: runs that there were for scans.
    """

    operations: float
    busy_s: float
    passed: float
    read_s: float
    scanned: float


@dataclass(frozen=True)
class Mission:
    """A stretch of operations, and what they and the store's background work took.

    Attributes:
        lookups: of one key.
        scans: iterators made.
        writes: entries put or deleted.
        busy_s: that clients spent in operations, all clients together; smaller is better.
        quiet: operations while nothing was merged.
        merging: all others.
        size_ratio: T; policies go from 1 to it.
        levels: from the first to the deepest that holds something, at least one.
    """

    lookups: int
    scans: int
    writes: int
    busy_s: float
    quiet: Served
    merging: Served
    size_ratio: int
    levels: tuple[LevelMission, ...]

    @property
    def operations(self) -> int:
        """All of them, at least 1."""
        return max(1, self.lookups + self.scans + self.writes)

    @property
    def read_share(self) -> float:
        """Of operations, those that read: lookups and scans."""
        return (self.lookups + self.scans) / self.operations

    @property
    def latency_s(self) -> float:
        """End-to-end latency of an operation: t'."""
        return self.busy_s / self.operations


def mission_of(statistics: FlsmStatistics, shape: FlsmShape, busy_s: float) -> Mission:
    """Returns a mission from what happened in it and the shape at its end.

    Args:
        statistics: of the mission alone.
        shape: of the store.
        busy_s: see `Mission`.
    """
    levels = []
    # What lies in RocksDB's own level 0 are runs of level 1.
    flushed, first, *deeper = statistics.levels
    counts = [flushed.together(first), *deeper]
    for number, counted in enumerate(counts[: shape.levels_in_use], 1):
        level = shape.levels[number - 1]
        levels.append(
            LevelMission(
                policy=level.policy,
                runs=shape.runs_of(number),
                filled=shape.held_bytes_of(number) / level.capacity_bytes,
                passed=counted.passed,
                read_s=counted.read_ns / 1e9,
                false_positive_read_s=counted.false_positive_read_ns / 1e9,
                scanned=counted.scanned,
                compaction_s=counted.compaction_us / 1e6,
                compaction_bytes=counted.compaction_read_bytes + counted.compaction_written_bytes,
            )
        )
    return Mission(
        statistics.lookups,
        statistics.iterators,
        statistics.entries_written,
        busy_s,
        _served(statistics.quiet),
        _served(statistics.merging),
        shape.size_ratio,
        tuple(levels),
    )


def _served(served: FlsmServed) -> Served:
    return Served(
        served.operations, served.busy_ns / 1e9, served.passed, served.read_ns / 1e9, served.scanned
    )


def busy_seconds(operations: Mapping[str, Any]) -> float:
    """Returns what clients spent in operations, from a measurement's totals of each kind."""
    return float(sum(kind["latency_sum_ns"] for kind in operations.values())) / 1e9
