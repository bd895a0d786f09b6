"""Tests for what clients pay."""

import pytest

from rocktune.online.control.mission import LevelMission, Mission, Served
from rocktune.online.control.prices import Prices

NOTHING = Served(0, 0.0, 0, 0.0, 0)


def level(passed: float, read_s: float, merged: float, scanned: float = 0) -> LevelMission:
    """A level that lookups, scans and compactions went through; half of the time lookups read in vain."""
    return LevelMission(1, 1, 1.0, 0.0, passed, read_s, read_s / 2, scanned, 0.0, merged)


def mission(quiet: Served, merging: Served, *levels: LevelMission) -> Mission:
    """A mission of a hundred operations, half of them scans if there are any."""
    scans = 50 if any(each.scanned for each in levels) else 0
    busy_s = quiet.busy_s + merging.busy_s
    return Mission(50, scans, 50 - scans, busy_s, quiet, merging, 10, levels)


def test_what_operations_take_longer_while_something_is_merged_is_paid_to_merges() -> None:
    # A read takes 1 ms and anything else 0.1 ms an operation; while 1 MB is merged 2 and 0.3.
    quiet = mission(Served(100, 0.03, 20, 0.02, 0), NOTHING, level(10, 0.01, 0), level(10, 0.01, 0))
    busy = mission(
        Served(60, 0.016, 10, 0.01, 0),
        Served(40, 0.032, 10, 0.02, 0),
        level(10, 0.02, 1e6),
        level(10, 0.01, 0),
    )
    prices = Prices.of([quiet, busy])
    assert prices.read_s == pytest.approx(1e-3)
    assert prices.byte_s == pytest.approx((0.032 - 10 * 1e-3 - 40 * 1e-4) / 1e6)
    # 30 ms for 20 runs, of which 20 are undisturbed.
    assert [prices.reads_s(busy, each) for each in busy.levels] == pytest.approx([4e-4 / 3, 2e-4 / 3])
    assert prices.false_positive_read_s(busy, busy.levels[0]) == pytest.approx(2e-4 / 3)
    assert prices.merges_s(busy, busy.levels[0]) == pytest.approx(0.018 / 100)
    assert prices.merges_s(busy, busy.levels[1]) == 0


def test_what_disturbs_all_operations_alike_is_not_the_merges() -> None:
    disturbed = mission(Served(90, 0.9, 18, 0.18, 0), Served(10, 0.1, 2, 0.02, 0), level(20, 0.2, 1e3))
    assert Prices.of([disturbed]).byte_s == pytest.approx(0, abs=1e-15)


def test_a_merge_makes_no_read_quicker() -> None:
    slow_by_chance = mission(Served(10, 0.02, 1, 0.02, 0), Served(90, 0.5, 90, 0.45, 0), level(91, 0.47, 1e6))
    prices = Prices.of([slow_by_chance])
    assert prices.read_s == pytest.approx(5e-3)


def test_where_something_is_merged_all_the_time_the_quickest_mission_is_quiet() -> None:
    quick = mission(NOTHING, Served(100, 0.03, 20, 0.02, 0), level(20, 0.02, 1e6))
    slow = mission(NOTHING, Served(100, 0.05, 20, 0.03, 0), level(20, 0.03, 1e6))
    prices = Prices.of([slow, quick])
    assert prices.read_s == pytest.approx(1e-3)
    assert prices.byte_s == pytest.approx(0.02 / 2e6)


def test_a_workload_that_reads_and_merges_nothing_costs_nothing() -> None:
    nothing = level(0, 0, 0)
    idle = mission(Served(100, 0.01, 0, 0.0, 0), NOTHING, nothing)
    prices = Prices.of([idle])
    assert prices == Prices(0.0, 0.0, 0.0)
    assert prices.reads_s(idle, nothing) == 0
    assert Prices.of([mission(NOTHING, NOTHING, nothing)]) == prices


def test_probes_without_a_run_that_passes_are_what_reads_cost() -> None:
    probing = mission(Served(100, 0.01, 0, 0.006, 0), NOTHING, level(0, 0.005, 0), level(0, 0.001, 0))
    prices = Prices.of([probing] * 3)
    assert [prices.reads_s(probing, each) for each in probing.levels] == pytest.approx([5e-5, 1e-5])


def scanning(runs: int, waited_s: float = 0.0, merged: float = 0.0) -> Mission:
    """Of a hundred operations of 0.1 ms fifty are scans, through one run of level 2 and so many of level 1.

    Each run takes 20 us. Half of the time something is merged.
    """
    half = 50 * 1e-4 + 25 * 2e-5 * (runs + 1)
    scanned = 25 * (runs + 1)
    quiet, merging = Served(50, half, 0, 0, scanned), Served(50, half + waited_s, 0, 0, scanned)
    return mission(quiet, merging, level(0, 0, merged, 50 * runs), level(0, 0, 0, 50))


def test_each_run_costs_a_scan_the_same() -> None:
    missions = [scanning(runs) for runs in (1, 3, 5, 9)]
    prices = Prices.of(missions)
    assert prices.scan_s == pytest.approx(2e-5)
    first, second = missions[1].levels
    assert prices.reads_s(missions[1], first) == pytest.approx(3e-5)
    assert prices.false_positive_read_s(missions[1], second) == pytest.approx(1e-5), (
        "scans go through all runs"
    )
    assert prices.byte_s == 0


def test_a_merge_that_happens_by_while_runs_are_many_is_not_the_scans() -> None:
    missions = [scanning(runs) for runs in (1, 2, 3, 5, 9)]
    prices = Prices.of([*missions, scanning(9, waited_s=10.0, merged=1e6)])
    assert prices.scan_s == pytest.approx(2e-5, rel=0.5)
    assert prices.byte_s == pytest.approx(10 / 1e6, rel=0.01)
