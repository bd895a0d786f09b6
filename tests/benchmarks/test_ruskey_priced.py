"""Tests for missions of a store whose counted work is priced."""

from dataclasses import replace

import pytest
from benchmarks.ruskey.priced import Priced, priced

from rocktune.online import DrivenMission
from rocktune.online.control import Decision, LevelMission, Mission, Served
from rocktune.online.control.prices import Prices
from rocktune.online.modelled import ModelledStore, StoreCosts

COSTS = StoreCosts(lookup_s=1.0, probe_s=0.5, read_s=10.0, write_s=2.0, compaction_s_per_byte=0.25, noise=0.0)


def level(reached: float, passed: float, **counts: float) -> LevelMission:
    # The measured seconds are nonsense, as on a machine that stood still for an hour.
    return LevelMission(
        policy=2,
        runs=2,
        filled=1.0,
        reached=reached,
        passed=passed,
        read_s=3600.0,
        false_positive_read_s=3600.0,
        scanned=counts.get("scanned", 0.0),
        compaction_s=3600.0,
        compaction_bytes=counts.get("compaction_bytes", 0.0),
    )


def mission(*levels: LevelMission) -> Mission:
    slow = Served(7.0, 3600.0, 1.0, 3600.0, 0.0)
    return Mission(4, 1, 2, 3600.0, slow, slow, 10, levels)


COUNTED = mission(level(4.0, 2.0, scanned=2.0), level(3.0, 3.5, compaction_bytes=8.0))


def test_work_is_priced_as_by_hand() -> None:
    of_present = priced(COUNTED, COSTS, absent=False)
    # 4 lookups probe 2 runs and read 2, one of which has the key; 3 go on and find theirs.
    assert of_present.levels[0].read_s == 4 * 2 * 0.5 + 2 * 10.0
    assert of_present.levels[0].false_positive_read_s == 4 * 2 * 0.5 + 1 * 10.0
    assert of_present.levels[1].false_positive_read_s == 3 * 2 * 0.5 + 0.5 * 10.0
    assert of_present.levels[1].compaction_s == 2.0
    reads_s = 24.0 + 38.0
    assert of_present.busy_s == pytest.approx((4 + 1) * 1.0 + 2 * 2.0 + reads_s + 2 * 10.0 + 2.0)
    assert of_present.quiet.busy_s + of_present.merging.busy_s == of_present.busy_s


def test_every_read_of_an_absent_key_is_a_false_positive() -> None:
    for each in priced(COUNTED, COSTS, absent=True).levels:
        assert each.false_positive_read_s == each.read_s


def test_prices_of_priced_missions_are_the_costs() -> None:
    again = replace(COUNTED, levels=(level(4.0, 2.0), level(3.0, 3.0, compaction_bytes=80.0)))
    found = Prices.of([priced(each, COSTS, absent=False) for each in (again, again)])
    assert found.byte_s == pytest.approx(COSTS.compaction_s_per_byte)
    # The filters' probes belong to reads.
    assert found.read_s == pytest.approx((62.0 - 5.0) / 5.0)


def test_a_modelled_mission_keeps_its_time() -> None:
    store = ModelledStore(COSTS, entries=2_000_000, absent=True)
    seen = store.serve(10_000, 0.5)
    assert priced(seen, COSTS, absent=True).busy_s == pytest.approx(seen.busy_s, rel=0.05)


def test_a_controller_sees_and_reports_priced_missions() -> None:
    class Kept:
        def __init__(self) -> None:
            self.seen: list[Mission] = []

        def decide(self, mission: Mission) -> Decision:
            self.seen.append(mission)
            return Decision()

    inner = Kept()
    controller = Priced(inner, COSTS, absent=False)
    decision = controller.decide(COUNTED)
    driven = DrivenMission(0, 3600.0, 3600.0, 0.5, (2, 2), decision, 0.0, COUNTED)
    (reported,) = controller.missions([driven])
    assert reported.statistics == inner.seen[0]
    assert reported.seconds == inner.seen[0].busy_s
    assert reported.latency_us == pytest.approx(inner.seen[0].busy_s / 7 * 1e6)
