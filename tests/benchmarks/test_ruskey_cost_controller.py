"""Tests for the benchmarks of the cost controller: recorded drives of Lerp, and stationary workloads."""

from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.common.claims import Settings
from benchmarks.common.tables import append_rows, read_rows, record_of
from benchmarks.ruskey import cost_controller, stationary
from benchmarks.ruskey.stationary import Session

from rocktune.errors import UserError
from rocktune.online import DrivenMission
from rocktune.online.control import Decision

SESSION = Session(1, 1000, 0.3333, 3600.0, settled_after=8, alarms=0, changes=0)


def settings_of(out: Path) -> Settings:
    extra = {"missions": 100, "repeats": 1, "lerp": "recorded"}
    return Settings(quick=False, as_json=False, out=out, scale=1, seed=1, command="", extra=extra)


def drive(name: str, seed: int) -> list[DrivenMission]:
    assert name == cost_controller.PAPERS_ORDER
    return [DrivenMission(0, seed, 1.0, 0.5, (1,), Decision(), 0.0)]


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = ("11,100,lerp,0,11.0", "11,100,lerp,1,11.0", "12,100,lerp,0,24.0", "12,200,lerp,0,1.0")
    path = tmp_path / "recorded.csv"
    path.write_text("\n".join(("seed,missions,controller,session,seconds", *rows, "11,100,curve,0,1.0", "")))
    monkeypatch.setattr(cost_controller, "RECORDED", path)


@pytest.mark.usefixtures("recorded")
def test_recorded_drives_of_lerp_stand_beside_those_of_the_same_seeds_and_lengths(tmp_path: Path) -> None:
    for _ in range(2):  # the second time from the drives in the directory
        claim = cost_controller.over_recorded_lerp(settings_of(tmp_path / "out"), 100, drive)
        assert claim.measured.value == pytest.approx(0.5)
        assert claim.measured.repeats == 2
        assert claim.holds is True


@pytest.mark.usefixtures("recorded")
def test_a_length_without_recorded_drives_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="has no sessions of 7 missions"):
        cost_controller.over_recorded_lerp(settings_of(tmp_path / "out"), 7, drive)


def test_sessions_are_read_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "sessions.csv"
    written = [SESSION, replace(SESSION, seed=2, seconds=1234.5)]
    for session in written:
        append_rows(path, [session])
    assert read_rows(path, record_of(Session)) == written


def test_a_rate_without_alarms_is_decided_by_the_number_of_missions() -> None:
    # Without alarms the upper bound is 1 - 0.025 ** (1 / missions): 73,776 missions bring it to 1 in 20,000.
    assert stationary.claims_of([SESSION] * 73)[0].holds is False
    assert stationary.claims_of([SESSION] * 74)[0].holds is True


def test_alarms_and_changes_count() -> None:
    rate, changed, settles, hours = stationary.claims_of(
        [SESSION, replace(SESSION, alarms=1, changes=2, settled_after=12)]
    )
    assert rate.measured.value == pytest.approx(1 / 2000)
    assert (rate.measured.low, rate.measured.high) == pytest.approx((1.27e-5, 2.78e-3), rel=0.01)
    assert (changed.measured.value, changed.holds) == (1, False)
    assert (settles.measured.low, settles.measured.value, settles.measured.high) == (8, 10, 12)
    assert hours.measured.value == pytest.approx(1)
