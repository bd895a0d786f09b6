"""Tests for what clients pay."""

from dataclasses import replace

import pytest

from rocktune.online.control.mission import LevelMission, Mission
from rocktune.online.control.prices import Prices


def level(
    passed: float, read_s: float, merged: float, scanned: float = 0, chance_s: float = 0
) -> LevelMission:
    """A level that lookups, scans and compactions went through; what its reads took is off by chance."""
    read_s2 = chance_s**2 + (read_s**2 / passed if passed else 0.0)
    return LevelMission(1, 1, 1.0, passed, read_s, read_s / 2, read_s2, scanned, 0.0, merged)


def mission(busy_s: float, *levels: LevelMission, scans: int = 0, sampled: int = 50) -> Mission:
    """A mission of a hundred operations."""
    return Mission(50, sampled, scans, 50 - scans, busy_s, 10, levels)


def test_what_clients_wait_beyond_undisturbed_reads_is_paid_to_merges() -> None:
    # Ten missions in which a read takes 1 ms and the rest of the operations 10 ms together; one in which 20
    # reads take twice as long while 1 MB is merged, and the rest as long as ever.
    quiet = [mission(0.03, level(10, 0.01, 0), level(10, 0.01, 0))] * 10
    busy = mission(0.05, level(10, 0.02, 1e6), level(10, 0.02, 0))
    prices = Prices.of([*quiet, busy])
    assert prices.read_s == pytest.approx(1e-3)
    assert prices.byte_s == pytest.approx(0.02 / 1e6)
    assert [prices.reads_s(busy, each) for each in busy.levels] == pytest.approx([1e-4, 1e-4])
    # Half of what lookups spend there.
    assert prices.vain_s(busy, busy.levels[0]) == pytest.approx(0.5e-4)
    assert prices.merges_s(busy, busy.levels[0]) == pytest.approx(0.02 / 100)
    assert prices.merges_s(busy, busy.levels[1]) == 0


# Ten reads take 5, 6 ... 15 ms: the quickest tenth 6, the median 10, so that their deviation is 4 / 1.28 ms.
TAKEN_S = [ms / 1e3 for ms in range(5, 16)]
DEVIATION_S = 0.004 / 1.2815516


@pytest.mark.parametrize(
    ("chance", "read_s"), [(0.0, 0.6e-3), (0.6, 0.68e-3), (0.8, 0.76e-3), (1.01, 1e-3), (3.0, 1e-3)]
)
def test_reads_that_are_quick_by_chance_do_not_count_as_undisturbed(chance: float, read_s: float) -> None:
    # What is left of a variance without 0.6 of its deviation is 0.8 of the deviation.
    missions = [
        mission(0.02 + taken, level(10, taken, 1e6, chance_s=chance * DEVIATION_S)) for taken in TAKEN_S
    ]
    prices = Prices.of(missions)
    assert prices.read_s == pytest.approx(read_s)
    # On average reads take 10 ms and merges a megabyte.
    assert prices.byte_s == pytest.approx((10e-3 - 10 * read_s) / 1e6, abs=1e-15)


def test_chance_is_the_greater_the_fewer_lookups_are_looked_at() -> None:
    # One of four: what they tell of all has twice the standard error.
    missions = [
        mission(0.02 + taken, level(10, taken, 0, chance_s=0.3 * DEVIATION_S), sampled=12)
        for taken in TAKEN_S
    ]
    of_all = [replace(each, sampled=50) for each in missions]
    by_chance = 0.3 * (50 / 12) ** 0.5
    assert Prices.of(missions).read_s == pytest.approx((10 - (1 - by_chance**2) ** 0.5 * 4) * 1e-4)
    assert Prices.of(of_all).read_s == pytest.approx((10 - 0.91**0.5 * 4) * 1e-4)


def test_a_workload_that_reads_and_merges_nothing_costs_nothing() -> None:
    prices = Prices.of([mission(0.01, level(0, 0, 0))])
    assert prices == Prices(0.0, 0.0, 0.0)
    nothing = level(0, 0, 0)
    assert prices.reads_s(mission(0.01, nothing), nothing) == 0


def test_probes_without_a_run_that_passes_are_what_reads_cost() -> None:
    probing = mission(0.01, level(0, 0.005, 0), level(0, 0.001, 0))
    prices = Prices.of([probing] * 3)
    assert [prices.reads_s(probing, each) for each in probing.levels] == pytest.approx([5e-5, 1e-5])


def test_each_run_costs_a_scan_the_same() -> None:
    # Of a hundred operations fifty are scans, through one run of level 2 and so many of level 1.
    missions = [
        mission(100 * 1e-4 + 50 * 2e-5 * (runs + 1), level(0, 0, 0, 50 * runs), level(0, 0, 0, 50), scans=50)
        for runs in (1, 3, 5, 9)
    ]
    prices = Prices.of(missions)
    assert prices.scan_s == pytest.approx(2e-5)
    first, second = missions[1].levels
    assert prices.reads_s(missions[1], first) == pytest.approx(3e-5)
    assert prices.vain_s(missions[1], second) == pytest.approx(1e-5), "scans go through all runs"
    assert prices.byte_s == 0


def test_a_merge_that_happens_by_while_runs_are_many_is_not_the_scans() -> None:
    missions = [
        mission(100 * 1e-4 + 50 * 2e-5 * runs, level(0, 0, 0, 50 * runs), scans=50)
        for runs in (1, 2, 3, 5, 9)
    ]
    merging = mission(10.0, level(0, 0, 1e6, 450), scans=50)
    assert Prices.of([*missions, merging]).scan_s == pytest.approx(2e-5, rel=0.5)
