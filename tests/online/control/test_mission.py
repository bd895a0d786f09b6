"""Tests for what a controller is told of a mission."""

import pytest

from rocktune.online.control import Served, busy_seconds, mission_of
from rocktune.online.flsm import FlsmLevelStatistics, FlsmServed, FlsmShape, FlsmStatistics
from rocktune.online.flsm.shape import FlsmLevel


def counted(read_ns: int = 0, compaction_us: int = 0) -> FlsmLevelStatistics:
    return FlsmLevelStatistics(5, 7, 2, 3, read_ns, read_ns // 2, 4, 1, 1000, 500, compaction_us)


def test_a_mission_has_each_level_that_holds_something() -> None:
    levels = (
        FlsmLevel(3, 100, (20, 30), (False, True)),
        FlsmLevel(2, 1000, (400,), (False,)),
        FlsmLevel(2, 10_000, (), ()),
    )
    # The first is RocksDB's own level 0, whose files are level 1's newest runs.
    flushed = FlsmLevelStatistics(1, 1, 1, 0, 2_000, 1_000, 2, 0, 0, 0, 0)
    quiet, merging = FlsmServed(80, 7_000, 9, 6_000, 5), FlsmServed(20, 4_000, 3, 1_000, 1)
    statistics = FlsmStatistics(
        60, 50, 10, 30, 77, 0, quiet, merging, (flushed, counted(4_000, 6), counted(1_000, 0), counted())
    )
    mission = mission_of(statistics, FlsmShape(10, 10, 2, 20, levels), busy_s=0.5)
    assert (mission.lookups, mission.scans, mission.writes, mission.operations) == (60, 10, 30, 100)
    assert mission.quiet == Served(80, 7e-6, 9, 6e-6, 5)
    assert mission.merging == Served(20, 4e-6, 3, 1e-6, 1)
    assert mission.flushed_bytes == 77
    assert mission.read_share == 0.7
    assert mission.latency_s == 0.005
    assert [(level.policy, level.runs, level.filled) for level in mission.levels] == [
        (3, 4, 0.7),
        (2, 1, 0.4),
    ]
    assert mission.levels[0].compaction_bytes == 1500
    assert (mission.levels[0].passed, mission.levels[0].scanned) == (8, 6)
    # 60 lookups, of which 50 found their key: 41 in memtables and 3 in each of the three levels.
    assert [level.reached for level in mission.levels] == [19, 16]
    assert [level.read_s for level in mission.levels] == pytest.approx([6e-6, 1e-6])
    assert [level.false_positive_read_s for level in mission.levels] == pytest.approx([3e-6, 0.5e-6])
    assert [level.compaction_s for level in mission.levels] == pytest.approx([6e-6, 0])


def test_a_store_that_holds_nothing_has_one_level() -> None:
    nothing = FlsmServed(0, 0, 0, 0, 0)
    statistics = FlsmStatistics(0, 0, 0, 0, 0, 0, nothing, nothing, (counted(), counted()))
    mission = mission_of(statistics, FlsmShape(10, 10, 0, 0, (FlsmLevel(1, 100, (), ()),)), 0.0)
    assert len(mission.levels) == 1
    assert mission.operations == 1


def test_clients_are_busy_in_operations_of_every_kind() -> None:
    operations = {"get": {"latency_sum_ns": 2e9}, "put": {"latency_sum_ns": 5e8}}
    assert busy_seconds(operations) == 2.5
