"""Tests for the parts of RusKey's figures that need no store."""

from pathlib import Path

import pytest
from benchmarks.common.claims import Settings
from benchmarks.flsm.shared import Where
from benchmarks.ruskey.brute_force import NEAR, SMOOTHED, _until_near
from benchmarks.ruskey.driver import FLAGS, RIVALS, Driver, Setting, driver_of, is_stock, setting_of
from benchmarks.ruskey.per_level import DATA, per_level
from benchmarks.ruskey.shared import LEARNED, Served
from benchmarks.ruskey.static_workloads import _updates

from rocktune.errors import UserError

COSTS = "docs/evidence/ruskey/costs/costs.json"


def settings(out: Path | None = None, **flags: object) -> Settings:
    return Settings(True, False, out, 1, 1, "", FLAGS | {"costs": COSTS, "absent": "yes"} | flags)


def test_levels_are_measured_once_and_explain_the_whole(tmp_path: Path) -> None:
    first = per_level(settings(tmp_path))
    data = (tmp_path / DATA).read_text()
    assert per_level(settings(tmp_path)) == first
    assert (tmp_path / DATA).read_text() == data
    rows = [line.split(",") for line in data.splitlines()[1:] if ",lazy-leveling," in line]
    whole_us, *levels_us = (float(row[4]) for row in rows)
    # The rest is the fixed time of writes, 25 us for half of the operations.
    assert sum(levels_us) == pytest.approx(whole_us - 12.5, rel=0.05)
    assert [row[3] for row in rows[1:]] == ["10", "10", "10", "10", "1"]


def mission(seconds: float, learner_ms: float, converged: bool) -> Served:
    return Served(0, seconds, 1.0, (1,), "", converged, learner_ms)


def test_updates_count_until_lerp_has_settled_beside_missions_of_full_size() -> None:
    drive = [mission(0.5, 20.0, False), mission(1.5, 40.0, False), mission(9.0, 0.1, True)]
    took, share = _updates({"ruskey-balanced": {LEARNED: [drive]}}, "ruskey-balanced", 4, Where("", ""))
    assert took.measured.value == 30.0
    assert took.paper == 19
    assert share.measured.value == pytest.approx(0.030 / 4.0)
    assert share.target == "<= 0.01"


def test_a_method_is_near_the_best_from_its_last_far_mission_on() -> None:
    near, far = 10.0, 10.0 * NEAR * SMOOTHED
    assert _until_near([near] * 4 * SMOOTHED, 10.0) == 0.0
    # The mean over a window is too high as long as the window has the slow mission, the 31st.
    assert _until_near([near] * 30 + [far] + [near] * 4 * SMOOTHED, 10.0) == 30 + SMOOTHED


def test_rivals_begin_to_merge_before_writes_are_slowed_down() -> None:
    driver = Driver(settings(), Setting())
    options = driver._shape_options("universal:20", None)
    assert options["cf"]["level0_file_num_compaction_trigger"] == "20"
    assert int(options["cf"]["level0_slowdown_writes_trigger"]) == 40
    assert int(options["cf"]["level0_stop_writes_trigger"]) == 60
    assert all(map(is_stock, RIVALS))
    assert not any(map(is_stock, ("static:5", "leveled", "lerp")))


def test_an_unknown_granularity_is_refused() -> None:
    assert setting_of(settings()).granularity == "files"
    with pytest.raises(UserError, match="unknown granularity 'file': did you mean 'files'"):
        setting_of(settings(granularity="file"))


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ({"by": "cost", "costs": "none"}, "--by cost: no prices; give --costs"),
        ({"by": "price"}, "unknown --by 'price'"),
    ],
)
def test_pricing_without_prices_is_refused(flags: dict[str, str], message: str) -> None:
    with pytest.raises(UserError, match=message), driver_of(settings(None, **flags), Setting()):
        pass
