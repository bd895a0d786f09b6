import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from rocktune.study.proving.tail import Tail, offer, share_below
from rocktune.study.specs.spec import VerificationSettings
from rocktune.testing.synthetic import synthetic_window
from rocktune.trial import Batch, Configuration, Measurement, Result, Status, Trial

WINNER, BASELINE = Configuration({"a": 1}), Configuration({"a": 2})
SETTINGS = VerificationSettings()


def result(configuration: Configuration, pair: int, latencies_us: list[int]) -> Result:
    """Returns a run with one read of each latency."""
    counted = [[latency * 1000, 1] for latency in sorted(latencies_us)]
    raw = synthetic_window(0.0, 1.0).raw | {
        "operations": {"get": {"count": len(counted), "found": 0, "latency_ns": counted}}
    }
    return Result(Trial(configuration, 1.0, pair), Status.OK, Measurement(raw))


def tail(winner: list[list[int]], baseline: list[list[int]]) -> Tail:
    sides = {WINNER: winner, BASELINE: baseline}
    runs = {
        side: [result(side, pair, latencies) for pair, latencies in enumerate(given)]
        for side, given in sides.items()
    }
    return Tail(WINNER, BASELINE, 1000.0, runs, settles=False)


def test_figures_by_hand() -> None:
    # 100 reads of 1 to 100 us: the 99th is 99 us, the longest 100 us, the median 50 us.
    found = tail([list(range(1, 101))] * 2, [list(range(1, 101))] * 2)
    assert found.figure(WINNER, "latency_us_p99").value == pytest.approx(99)
    assert found.figure(WINNER, "longest_wait_us").value == pytest.approx(100)
    assert found.figure(BASELINE, "latency_us_p50").value == pytest.approx(50)
    assert found.ratio("latency_us_p99").value == pytest.approx(1)


@pytest.mark.parametrize(
    ("winner", "verdict"),
    [
        ([[100], [101], [99]], "kept"),
        ([[200], [201], [199]], "worse"),
        ([[50], [300], [100]], "undecided"),
        # A single window has no interval.
        ([[100]], "undecided"),
    ],
)
def test_verdict(winner: list[list[int]], verdict: str) -> None:
    assert tail(winner, [[100]] * len(winner)).verdict(SETTINGS) == verdict


@pytest.mark.parametrize(
    ("slowest_us", "verdict"),
    [
        # All windows have a worse p99.9: it is shown.
        ([130, 131, 132], "worse"),
        # One of three is better, so that the interval contains 1.25.
        ([100, 131, 400], "kept"),
        ([124, 124, 124], "kept"),
    ],
)
def test_p999_refuses_only_what_it_shows(slowest_us: list[int], verdict: str) -> None:
    # Of 500 reads the slowest is p99.9, and p99 is 100 us on both sides.
    settings = VerificationSettings(max_longest_wait_ratio=9.0)
    windows = [[100] * 499 + [slowest] for slowest in slowest_us]
    assert tail(windows, [[100] * 500] * 3).verdict(settings) == verdict


def test_a_failed_run_of_the_baseline_is_left_out() -> None:
    found = tail([[100], [100], [100]], [[100], [100], [100]])
    found.runs[BASELINE][1] = Result(Trial(BASELINE, 1.0, 1), Status.CRASHED, None, "gone")
    assert found.ratio("latency_us_p99").repeats == 2
    assert found.verdict(SETTINGS) == "kept"


def test_a_winner_that_fails_at_the_rate_is_worse() -> None:
    found = tail([[100], [100], [100]], [[100], [100], [100]])
    found.runs[WINNER][1] = Result(Trial(WINNER, 1.0, 1), Status.CRASHED, None, "gone")
    assert found.verdict(SETTINGS) == "worse"


def test_the_first_of_several_windows_does_not_count() -> None:
    """An aged store begins with the backlog of its closed loop, on either side."""
    trials: dict[Configuration, list[list[int]]] = {
        WINNER: [[9000], [9000, 10], [9000, 10, 12]],
        BASELINE: [[10], [10, 10], [10, 10, 10]],
    }
    runs = {
        # Results hold all operations since age 0.
        side: [replace(result(side, 0, list(all_us)), trial=Trial(side, age, 0)) for age, all_us in aged]
        for side, aged in ((side, enumerate(given, 1)) for side, given in trials.items())
    }
    found = Tail(WINNER, BASELINE, None, runs)
    assert found.figure(WINNER, "latency_us_p99").value == pytest.approx(12)
    assert found.figure(WINNER, "longest_wait_us").value == pytest.approx(11)
    assert found.ratio("longest_wait_us").value == pytest.approx(1.1)
    assert found.ratio("longest_wait_us").repeats == 2


def window(counts: list[int], interval_s: float = 0.1) -> Measurement:
    raw: dict[str, Any] = synthetic_window(0.0, 1.0).raw
    return Measurement(raw | {"series": {"interval_s": interval_s, "operations": counts}})


def test_time_below_the_rate_by_hand() -> None:
    # 1,000 a second are 100 in each interval; 89 is below nine tenths of that. The last one is cut off.
    assert share_below(window([100, 89, 90, 0, 3]), 1000.0) == 0.5
    assert share_below(window([0, 0, 100, 89, 3]), 1000.0, settled_s=0.2) == 0.5
    assert math.isnan(share_below(window([100, 3]), None))
    assert math.isnan(share_below(window([3]), 1000.0))


def looks(latency_us: Callable[[Configuration, int], int | None]) -> tuple[Tail, list[Batch]]:
    """Returns the tail and the batches of a phase at the offered rate.

    Args:
        latency_us: the latency of the read in a window, by side and number of the window from 0; None for a
            run that fails there.
    """
    settings = VerificationSettings(offered_windows=2, max_offered_windows=4)
    stage = offer(WINNER, BASELINE, 100.0, settings, (5, 6), (1.0, 2.0, 3.0, 4.0, 5.0))
    batches = [next(stage)]
    while True:
        results = []
        for trial in batches[-1].trials:
            found = [latency_us(trial.configuration, window) for window in range(int(trial.until_s))]
            known = [each for each in found if each is not None]
            failed = Result(trial, Status.CRASHED, None, "gone")
            is_whole = len(known) == len(found)
            results.append(
                replace(result(trial.configuration, 0, known), trial=trial) if is_whole else failed
            )
        try:
            batches.append(stage.send(results))
        except StopIteration as end:
            return end.value, batches


def test_the_windows_are_measured_one_after_the_other_and_the_sides_take_turns() -> None:
    _, (batch,) = looks(lambda side, window: 100)
    assert [(each.configuration, each.until_s, each.replicate) for each in batch.trials] == [
        (side, age_s, replicate)
        for side, replicate in ((WINNER, 5), (BASELINE, 5), (BASELINE, 6), (WINNER, 6))
        for age_s in (1.0, 2.0, 3.0)
    ]


def test_an_undecided_tail_gets_further_windows_of_the_same_runs() -> None:
    # The winner's windows differ by more than the limits allow, and the later ones do not.
    wide = {1: 50, 2: 200, 3: 100, 4: 100}
    found, batches = looks(lambda side, window: wide.get(window, 9) if side == WINNER else 100)
    assert [sorted({trial.until_s for trial in batch.trials}) for batch in batches] == [
        [1.0, 2.0, 3.0],
        [4.0, 5.0],
    ]
    assert {trial.run for trial in batches[0].trials} == {trial.run for trial in batches[1].trials}
    assert found.ratio("latency_us_p99").repeats == 8


def test_a_tail_that_is_shown_to_be_worse_or_fails_gets_no_further_windows() -> None:
    found, batches = looks(lambda side, window: 300 if side == WINNER else 100)
    assert (found.verdict(SETTINGS), len(batches)) == ("worse", 1)
    found, batches = looks(lambda side, window: None if side == WINNER and window == 2 else 100)
    assert (found.verdict(SETTINGS), len(batches)) == ("worse", 1)


def test_the_intervals_of_both_looks_hold_together() -> None:
    # Bonferroni: the two looks have half of the error each.
    found, _ = looks(lambda side, window: 100)
    assert found.confidence == pytest.approx(0.975)
    alone = offer(
        WINNER, BASELINE, None, VerificationSettings(max_offered_windows=3), (5,), (1.0, 2.0, 3.0, 4.0)
    )
    batch = next(alone)
    with pytest.raises(StopIteration) as end:
        alone.send([replace(result(each.configuration, 0, [9]), trial=each) for each in batch.trials])
    assert end.value.value.confidence == pytest.approx(0.95)


def test_fewer_windows_at_the_last_look_than_at_the_first_are_refused() -> None:
    with pytest.raises(ValueError, match="max_offered_windows: 2 is less than offered_windows, 3"):
        VerificationSettings(max_offered_windows=2)
