"""The statistics of a mission that controllers get: RusKey's statistics collector (section 3)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rocktune.online.flsm.shape import FlsmShape
from rocktune.online.flsm.statistics import FlsmServed, FlsmStatistics


@dataclass(frozen=True)
class LevelMission:
    """The statistics of one level in a mission.

    Attributes:
        policy: K at the mission's end.
        runs: sorted runs at the mission's end.
        filled: held bytes over capacity; about 1 in a full level.
        reached: lookups that no newer level, nor the memtable, answered.
        passed: runs that lookups had to read.
        read_s: seconds that lookups spent in the level's tables.
        false_positive_read_s: part of `read_s` spent in runs without the key.
        scanned: sorted runs visible to scans, summed over all scans.
        compaction_s: seconds of compactions into the level.
        compaction_bytes: bytes read and written by these compactions.
    """

    policy: int
    runs: int
    filled: float
    reached: float
    passed: float
    read_s: float
    false_positive_read_s: float
    scanned: float
    compaction_s: float
    compaction_bytes: float


@dataclass(frozen=True)
class Served:
    """The operations of a mission that ran with merges, or without, and their cost; estimated from a sample.

    Attributes:
        operations: number of lookups, scans and writes.
        busy_s: seconds that clients spent in them; smaller is better.
        passed: runs that lookups had to read.
        read_s: seconds that lookups spent in these runs.
        scanned: sorted runs visible to scans, summed over all scans.
    """

    operations: float
    busy_s: float
    passed: float
    read_s: float
    scanned: float


@dataclass(frozen=True)
class Mission:
    """The statistics of a mission: its operations, and the cost of operations and of background work.

    Attributes:
        lookups: number of keys looked up.
        scans: number of iterators created.
        writes: number of entries put or deleted.
        busy_s: seconds that all clients together spent in operations; smaller is better.
        quiet: operations during which no merge ran.
        merging: all other operations.
        size_ratio: T, the largest policy.
        levels: levels from the first to the deepest that holds data, at least one.
        flushed_bytes: bytes of the tables that memtables became.
        shape: tree at the mission's end; None if it is not known, which is enough for controllers that do
            not forecast.
    """

    lookups: int
    scans: int
    writes: int
    busy_s: float
    quiet: Served
    merging: Served
    size_ratio: int
    levels: tuple[LevelMission, ...]
    flushed_bytes: float = 0.0
    shape: FlsmShape | None = None

    @property
    def operations(self) -> int:
        """Number of all operations, at least 1."""
        return max(1, self.lookups + self.scans + self.writes)

    @property
    def read_share(self) -> float:
        """Share of operations that read (lookups and scans), from 0 to 1."""
        return (self.lookups + self.scans) / self.operations

    @property
    def latency_s(self) -> float:
        """Mean latency of an operation in seconds: t' of RusKey's section 5.1."""
        return self.busy_s / self.operations


def mission_of(statistics: FlsmStatistics, shape: FlsmShape, busy_s: float) -> Mission:
    """Returns the statistics that controllers get.

    Args:
        statistics: statistics of the mission alone.
        shape: shape of the store at the mission's end.
        busy_s: seconds that all clients spent in operations.
    """
    levels = []
    # Tables in RocksDB's own level 0 are the newest runs of the FLSM-tree's level 1.
    flushed, first, *deeper = statistics.levels
    counts = [flushed.together(first), *deeper]
    # The keys that no level answered were found in memtables.
    reached = statistics.lookups - max(0, statistics.found - sum(counted.found for counted in counts))
    # Counters exist for all physical levels, but deeper ones than the tree has are empty.
    for number, counted in enumerate(counts[: shape.levels_in_use], 1):
        level = shape.levels[number - 1]
        levels.append(
            LevelMission(
                policy=level.policy,
                runs=shape.runs_of(number),
                filled=shape.held_bytes_of(number) / level.capacity_bytes,
                # Estimates from samples may exceed the exact count of lookups.
                reached=max(0, reached),
                passed=counted.passed,
                read_s=counted.read_ns / 1e9,
                false_positive_read_s=counted.false_positive_read_ns / 1e9,
                scanned=counted.scanned,
                compaction_s=counted.compaction_us / 1e6,
                compaction_bytes=counted.compaction_read_bytes + counted.compaction_written_bytes,
            )
        )
        reached -= counted.found
    return Mission(
        statistics.lookups,
        statistics.iterators,
        statistics.entries_written,
        busy_s,
        _served(statistics.quiet),
        _served(statistics.merging),
        shape.size_ratio,
        tuple(levels),
        statistics.flushed_bytes,
        shape,
    )


def _served(served: FlsmServed) -> Served:
    """Returns the statistics of some operations in seconds instead of nanoseconds."""
    return Served(
        served.operations, served.busy_ns / 1e9, served.passed, served.read_ns / 1e9, served.scanned
    )


def busy_seconds(operations: Mapping[str, Any]) -> float:
    """Returns the seconds that clients spent in operations.

    Args:
        operations: totals by kind of operation, as in `Measurement.raw["operations"]`.
    """
    return float(sum(kind["latency_sum_ns"] for kind in operations.values())) / 1e9
