"""The first candidate with a good tail is chosen, by hand-made results."""

import math
from collections.abc import Mapping

import pytest

from rocktune.study.proving.statistics import Interval
from rocktune.study.proving.tail_choice import TailChoice, TailRatios, choose_by_tail
from rocktune.study.specs.spec import VerificationSettings
from rocktune.testing.synthetic import synthetic_window
from rocktune.trial import Batch, Configuration, Measurement, Result, Status, Trial

FIRST, SECOND, THIRD, BASELINE = (Configuration({"a": value}) for value in range(4))
SETTINGS = VerificationSettings()


def result(trial: Trial, latency_us: float | None) -> Result:
    """Returns a run of nine reads a second, all equally long; a crash for None."""
    if latency_us is None:
        return Result(trial, Status.CRASHED, None, "gone")
    reads = round(9 * trial.until_s)
    counted = {"get": {"count": reads, "found": 0, "latency_ns": [[round(latency_us * 1000), reads]]}}
    window = synthetic_window(0.0, 1.0).raw | {"operations": counted}
    return Result(trial, Status.OK, Measurement(window))


def choose(latencies_us: Mapping[Configuration, float | None]) -> tuple[TailChoice, list[Batch]]:
    """Returns the choice among FIRST, SECOND and THIRD, and the batches that it asked for."""
    candidates = [each for each in (FIRST, SECOND, THIRD) if each in latencies_us]
    stage = choose_by_tail(candidates, BASELINE, 1000.0, SETTINGS, (7, 8), (1.0,))
    batches = [next(stage)]
    while True:
        results = [result(trial, latencies_us[trial.configuration]) for trial in batches[-1].trials]
        try:
            batches.append(stage.send(results))
        except StopIteration as end:
            return end.value, batches


def test_the_first_is_chosen_if_its_tail_is_good() -> None:
    choice, batches = choose({FIRST: 105, SECOND: 50, BASELINE: 100})
    assert (choice.chosen, choice.passed_over([FIRST, SECOND])) == (FIRST, [])
    assert choice.ratios[FIRST].p99_ratio == pytest.approx(1.05, rel=0.02)
    # SECOND was not measured, and the order alternates from pair to pair.
    (batch,) = batches
    assert [(each.configuration, each.replicate) for each in batch.trials] == [
        (FIRST, 7), (BASELINE, 7), (BASELINE, 8), (FIRST, 8)
    ]  # fmt: skip


def test_what_a_proof_could_not_decide_is_passed_over() -> None:
    # At most 1.25 is allowed. 1.2 may be more than that after all, and 1.05 may not.
    choice, _ = choose({FIRST: 120, SECOND: 105, BASELINE: 100})
    assert choice.chosen == SECOND
    assert choose({FIRST: 120, BASELINE: 100})[0].chosen == FIRST


def test_candidates_with_bad_tails_are_passed_over_one_by_one() -> None:
    choice, batches = choose({FIRST: 2500, SECOND: None, THIRD: 60, BASELINE: 100})
    assert choice.chosen == THIRD
    assert choice.passed_over([FIRST, SECOND, THIRD]) == [FIRST, SECOND]
    assert math.isnan(choice.ratios[SECOND].p99_ratio)
    # The baseline is measured once.
    assert [len(batch.trials) for batch in batches] == [4, 2, 2]


def test_all_windows_of_a_run_count() -> None:
    # Stores of a choice have no backlog that a first window would have to work off.
    stage = choose_by_tail((FIRST,), BASELINE, 1000.0, SETTINGS, (7,), (1.0, 2.0))
    assert [trial.until_s for trial in next(stage).trials] == [1.0, 2.0, 1.0, 2.0]
    with pytest.raises(StopIteration) as end:
        stage.send([result(Trial(each, age, 7), 100) for each in (FIRST, BASELINE) for age in (1.0, 2.0)])
    assert end.value.value.ratios[FIRST].p999_ratio.repeats == 2


def test_what_is_known_is_not_measured_again() -> None:
    known, _ = choose({FIRST: 110, BASELINE: 100})
    stage = choose_by_tail((SECOND, FIRST), BASELINE, 1000.0, SETTINGS, (9,), (1.0,), known.runs)
    assert [trial.configuration for trial in next(stage).trials] == [SECOND]
    with pytest.raises(StopIteration) as end:
        stage.send([result(Trial(SECOND, 1.0, 9), 900)])
    assert end.value.value.chosen == FIRST


@pytest.mark.parametrize(("pruned_us", "keeps_its_tail"), [(74, True), (80, False)])
def test_pruning_must_not_cost_the_tail(pruned_us: float, keeps_its_tail: bool) -> None:
    """The winner has 0.6 of the baseline's tail; 1.25 times that is allowed, though 1.06 could be proven."""
    known, _ = choose({FIRST: 60, BASELINE: 100})
    stage = choose_by_tail((SECOND, FIRST), BASELINE, 1000.0, SETTINGS, (9,), (1.0,), known.runs)
    next(stage)
    with pytest.raises(StopIteration) as end:
        stage.send([result(Trial(SECOND, 1.0, 9), pruned_us)])
    assert end.value.value.chosen == (SECOND if keeps_its_tail else FIRST)


def test_the_least_bad_is_chosen_if_none_is_good() -> None:
    choice, _ = choose({FIRST: 2500, SECOND: 300, THIRD: None, BASELINE: 100})
    assert choice.chosen == SECOND
    assert choice.passed_over([FIRST, SECOND, THIRD]) == [FIRST]


@pytest.mark.parametrize(
    ("p99_ratio", "longest_wait_ratio", "p999_low", "excess"),
    [
        (1.25, 1.5, 1.0, 1.0),
        (2.5, 1.5, 1.0, 2.0),
        (0.5, 4.5, 1.0, 3.0),
        (1.0, 1.0, 5.0, 4.0),
        (math.nan, 1.0, 1.0, math.inf),
    ],
)
def test_the_excess_by_hand(
    p99_ratio: float, longest_wait_ratio: float, p999_low: float, excess: float
) -> None:
    # At most 1.25, 1.5 and 1.25 are allowed. Of p99.9 only the lower end counts.
    p999 = Interval(9.0, p999_low, 99.0, 2)
    assert TailRatios(p99_ratio, longest_wait_ratio, p999).excess(SETTINGS) == pytest.approx(excess)
