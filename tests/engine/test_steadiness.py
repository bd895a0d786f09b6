"""Steady state on recorded runs of 4,800 s (full size) at 1/64, and on series made by hand."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from rocktune.engine.steadiness import MIN_STEPS, Steadiness, Step

RECORDED = Path(__file__).parent / "data" / "recorded_steps.jsonl.gz"


def step_of(recorded: list[Any]) -> Step:
    from_s, until_s, operations, written, flushed, compacted, levels, size = recorded
    return Step(from_s, until_s, operations, written, flushed, compacted, tuple(levels), size)


def recorded(setting: str, configuration: str) -> list[Step]:
    """Returns the recorded steps of a run."""
    with gzip.open(RECORDED, "rt") as file:
        for line in file:
            run = json.loads(line)
            if (run["setting"], run["configuration"]) == (setting, configuration):
                return [step_of(each) for each in run["steps"]]
    raise KeyError(setting, configuration)


def followed(steps: list[Step]) -> tuple[Steadiness, float | None]:
    """Returns the steadiness after the steps, and the age in seconds at which it was first steady."""
    steadiness, first = Steadiness(), None
    for step in steps:
        if steadiness.add(step) and first is None:
            first = step.until_s
    return steadiness, first


@pytest.mark.parametrize(
    ("setting", "configuration", "at_full_size_s", "throughput_ops_s"),
    [
        # Leveled: the levels fill for more than half an hour. The last column is the mean from 1,600 s on.
        ("dremel-write-heavy", "guide", 3840, 16274),
        # Universal: whole cycles of 740 to 1,240 s.
        ("dremel-write-heavy", "universal-8", 3160, 21655),
        ("dremel-preloaded", "winner", 1460, 32918),
    ],
)
def test_recorded_runs_become_steady(
    setting: str, configuration: str, at_full_size_s: float, throughput_ops_s: float
) -> None:
    steps = recorded(setting, configuration)
    _, first = followed(steps)
    assert first is not None
    assert first * 64 == pytest.approx(at_full_size_s, abs=1)
    steadiness, _ = followed([step for step in steps if step.until_s <= first])
    assert steadiness.steady is not None
    assert steadiness.steady.throughput_ops_s == pytest.approx(throughput_ops_s, rel=0.03)


def test_a_store_that_grows_is_not_steady() -> None:
    steadiness, first = followed(recorded("dremel-preloaded", "guide"))
    assert first is None
    assert {change.what for change in steadiness.changes} == {"level fill", "space"}
    assert "space +" in steadiness.describe()


def test_windows_of_universal_compaction_span_cycles() -> None:
    steadiness, _ = followed(recorded("dremel-write-heavy", "universal-8"))
    for window in steadiness.windows[1:]:
        upper = [step.upper_bytes for step in window.steps]
        assert upper[-1] <= max(upper) / 2


def made(throughput: list[float], upper: list[float], flushed: float = 10.0) -> list[Step]:
    """Returns steps of one second with these figures, above a last level of 1,000 bytes."""
    return [
        Step(float(i), i + 1.0, round(rate), rate, flushed, 2 * flushed, (level, 1000.0), 1000.0 + level)
        for i, (rate, level) in enumerate(zip(throughput, upper, strict=True))
    ]


def test_equal_windows_are_steady() -> None:
    # 10 bytes flushed a step and 50 above the last level: a window is MIN_STEPS = 5 steps.
    _, first = followed(made([100.0] * 10, [50.0] * 10))
    assert first == 2 * MIN_STEPS


def test_a_change_of_throughput_is_named() -> None:
    steadiness, first = followed(made([100.0] * 5 + [90.0] * 5, [50.0] * 10))
    assert first is None
    assert steadiness.describe() == "throughput -10.0%"


def test_one_window_decides_nothing() -> None:
    steadiness, first = followed(made([100.0] * 9, [50.0] * 9))
    assert first is None
    assert steadiness.describe() == "no two windows yet; the store holds 1.025KiB"


def test_a_window_waits_for_the_turnover() -> None:
    steadiness, _ = followed(made([100.0] * 12, [100.0] * 12))
    assert [len(window.steps) for window in steadiness.windows] == [10]


def test_a_level_that_only_grows_does_not_wait_for_ever() -> None:
    steadiness, _ = followed(made([100.0] * 40, [float(i) for i in range(1, 41)]))
    assert steadiness.windows


def test_no_load_is_steady_at_once() -> None:
    _, first = followed(made([100.0] * 10, [0.0] * 10, flushed=0.0))
    assert first == 10
