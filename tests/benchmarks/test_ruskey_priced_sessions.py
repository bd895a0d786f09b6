"""Tests for counted work and its price."""

import math
from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.common.tables import append_rows, read_rows, record_of
from benchmarks.ruskey.counted import CAUSES, SessionWork, prices_of, sessions_of
from benchmarks.ruskey.priced_sessions import turns_for

from rocktune.device import DeviceSpec
from rocktune.online import CountedWork, DrivenMission
from rocktune.online.control import Decision, LevelMission, Mission, Served

DEVICE = DeviceSpec(name="small", bandwidth_bytes_s=1000, iops=10)
NOTHING = Served(0.0, 0.0, 0.0, 0.0, 0.0)


def work(**counts: tuple[int, int]) -> SessionWork:
    """A session with bytes and operations by cause."""
    bytes_of, operations = zip(*(counts.get(cause, (0, 0)) for cause in CAUSES), strict=True)
    return SessionWork(3, "static:2", 1, 20, 6, 4, 0, 0, bytes_of, operations, 0.5, 700, 8, (2, 1))


def mission(session: int, *, converged: bool = True) -> DrivenMission:
    level = LevelMission(2, 2, 1.0, 6.0, 2.5, 0.0, 0.0, 0.0, 0.0, 100.0)
    counted = CountedWork(11, dict.fromkeys(CAUSES, 10), dict.fromkeys(CAUSES, 1), 0.25, 300)
    seen = Mission(6, 0, 4, 0.0, NOTHING, NOTHING, 10, (level, level))
    decision = Decision(converged=converged)
    return DrivenMission(session, 1.0, 1.0, 0.6, (2, 2), decision, 0.0, seen, counted)


def test_a_cause_takes_what_its_bytes_or_its_operations_take() -> None:
    done = work(user_read=(1000, 40), compaction_write=(3000, 5), compaction_read=(500, 5))
    assert done.device_s(DEVICE) == pytest.approx(4.0 + 3.0 + 0.5)
    assert done.reading_s(DEVICE) == 4.0
    assert done.merging_s(DEVICE) == 3.5
    assert done.device_cost_s(DEVICE) == pytest.approx(7.5 / 20 * 1e6)
    assert done.cost_s(DEVICE) == pytest.approx(8.0 / 20 * 1e6)
    assert done.device_s(replace_limits(iops=0)) == pytest.approx(4.5)
    assert done.device_s(replace_limits(bandwidth_bytes_s=0)) == 5.0


def replace_limits(**limits: int) -> DeviceSpec:
    return DEVICE.model_copy(update=limits)


def test_the_missions_of_a_session_are_added_up() -> None:
    first, second = sessions_of(5, "cost", [mission(0, converged=False), mission(0), mission(1)])
    assert (first.lookups, first.writes, first.passed, first.moved_bytes) == (12, 8, 10, 400)
    assert (first.operations, second.operations) == (22, 11)
    assert first.device_bytes == (20,) * len(CAUSES)
    assert first.cpu_s == 0.5
    assert first.memory_bytes == second.memory_bytes == 300
    assert (first.settled_after, second.settled_after) == (1, 0)
    assert (second.seed, second.drive, second.session, second.lookups) == (5, "cost", 1, 6)


def test_rows_come_back_as_they_were(tmp_path: Path) -> None:
    table = tmp_path / "sessions.csv"
    written = [work(wal=(7, 3)), replace(work(flush=(1, 2)), policies=())]
    for each in written:
        append_rows(table, [each])
    assert read_rows(table, record_of(SessionWork)) == written


def test_prices_are_those_of_the_device_and_of_the_processor() -> None:
    def session(passed: int, moved: int) -> SessionWork:
        done = work(user_read=(0, passed), compaction_write=(moved, 0))
        return replace(
            done, passed=passed, moved_bytes=moved, cpu_s=10 * 0.01 + passed * 0.02 + moved * 0.001
        )

    prices = prices_of([session(30, 1000), session(90, 200), session(10, 5000)], DEVICE)
    assert prices.lookup_s == prices.write_s == pytest.approx(0.01)
    assert prices.read_s == pytest.approx(0.02 + 0.1)
    assert prices.compaction_s_per_byte == pytest.approx(0.001 + 0.001)


def test_turns_follow_from_the_known_spread() -> None:
    # With 4 turns, 3.18 * 0.05 / 2 is 0.0795.
    assert turns_for(0.08, spread=0.05) == 4
    assert turns_for(0.0795, spread=0.05) == 5
    assert turns_for(math.log(2), spread=0.05) == 3
