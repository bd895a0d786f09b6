"""The error rates here are simulated with the code itself, thousands of proofs each."""

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from scipy.stats import norm, t

from rocktune.outcome import StopReason
from rocktune.study.proving.sequential import (
    Continue,
    Design,
    Stop,
    chance_of_better,
    design_of,
    next_step,
    spent_error,
)
from rocktune.study.proving.statistics import geometric_interval
from rocktune.study.specs.spec import VerificationSettings


def sequential(max_pairs: int, indifference: float) -> Design:
    """Returns the design of a proof that stops when it is decided."""
    return design_of(VerificationSettings(max_pairs=max_pairs, indifference=indifference))


DESIGN = sequential(12, 0.02)
STUDIES = 4000
WRONG: tuple[StopReason, ...] = ("better", "worse")


def step_of(design: Design, logarithms: Sequence[float], winner_failed: bool = False) -> Continue | Stop:
    """The next step of a proof on one workload."""
    return next_step(design, [logarithms], winner_failed)


def _proof(design: Design, logarithms: list[float]) -> Stop:
    """Runs a proof to its end on pairs that are known beforehand."""
    step = step_of(design, [])
    while isinstance(step, Continue):
        step = step_of(design, logarithms[: step.pairs])
    return step


def _proofs(design: Design, mean: float, deviation: float = 0.05, seed: int = 7) -> list[Stop]:
    logarithms = np.random.default_rng(seed).normal(mean, deviation, (STUDIES, design.looks[-1]))
    return [_proof(design, study) for study in logarithms.tolist()]


def _share(count: int) -> tuple[float, float]:
    """The share of studies, and its Monte-Carlo error of four standard errors."""
    share = count / STUDIES
    return share, 4 * math.sqrt(max(share, 1 / STUDIES) * (1 - share) / STUDIES)


# Looks and levels


@pytest.mark.parametrize(
    ("max_pairs", "looks"),
    [(12, (4, 6, 8, 12)), (6, (4, 6)), (8, (4, 8)), (9, (4, 6, 9)), (20, (6, 10, 12, 20))],
)
def test_looks_follow_from_the_maximum(max_pairs: int, looks: tuple[int, ...]) -> None:
    assert sequential(max_pairs, 0.02).looks == looks


def test_levels_by_hand() -> None:
    # z = 1.959964. Shares 1/3, 1/2, 2/3, 1: z/sqrt(f) = 3.394757, 2.771808, 2.400456, 1.959964, whose
    # two-sided tails are 0.000687, 0.005575, 0.016374 and 0.05; levels are their differences.
    assert DESIGN.levels == pytest.approx((0.000687, 0.004888, 0.010799, 0.033626), abs=2e-6)
    assert spent_error(1) == pytest.approx(0.05)


@pytest.mark.parametrize("max_pairs", [*range(6, 41), 100, 500])
def test_levels_add_up_and_bonferroni_costs_less_than_13_percent_of_width(max_pairs: int) -> None:
    design = sequential(max_pairs, 0.02)
    assert sum(design.levels) == pytest.approx(0.05)
    for look, level in zip(design.looks, design.levels, strict=True):
        # No level of a look can exceed the error spent up to it, however the levels are computed.
        narrowest = t.isf(spent_error(look / max_pairs) / 2, look - 1)
        assert t.isf(level / 2, look - 1) / narrowest < 1.13


# Decisions


def test_one_look_is_the_plain_t_interval() -> None:
    logarithms = [0.1, 0.3, -0.2, 0.4, 0.1, 0.0]
    assert step_of(Design((6,)), []) == Continue(6)
    assert step_of(Design((6,)), logarithms) == Stop(geometric_interval(logarithms, 0.95), "fixed")


def _spread(mean: float, deviation: float, pairs: int) -> list[float]:
    """Pairs with the given mean and standard deviation, half above and half below."""
    half = deviation * math.sqrt((pairs - 1) / pairs)
    return [mean + half, mean - half] * (pairs // 2)


def test_a_large_difference_ends_at_the_first_look() -> None:
    # t of 3 degrees of freedom at 0.000687 two-sided is 14.67: half width 7.34 standard deviations.
    assert step_of(DESIGN, []) == Continue(4)
    assert step_of(DESIGN, _spread(0.1, 0.0136, 4)).reason == "better"  # type: ignore[union-attr]
    assert step_of(DESIGN, _spread(-0.1, 0.0136, 4)).reason == "worse"  # type: ignore[union-attr]
    assert step_of(DESIGN, _spread(0.1, 0.0137, 4)) == Continue(6)


def test_a_narrow_interval_around_1_ends_as_equal() -> None:
    # ln 1.02 = 0.0198; half width 7.34 standard deviations: 0.0191 or 0.0206 about 0.0005.
    found = step_of(DESIGN, _spread(0.0005, 0.0026, 4))
    assert isinstance(found, Stop)
    assert found.reason == "equal"
    assert 1 / 1.02 <= found.interval.low < 1 < found.interval.high <= 1.02
    assert step_of(DESIGN, _spread(0.0005, 0.0028, 4)) == Continue(6)
    assert step_of(sequential(12, 0.01), _spread(0.0005, 0.0026, 4)) == Continue(6)


def test_pairs_without_spread_are_decided_at_once() -> None:
    assert [_proof(DESIGN, [mean] * 12).reason for mean in (0.0, 0.001, -0.001)] == [
        "equal",
        "better",
        "worse",
    ]


def test_what_cannot_become_better_is_futile() -> None:
    # After 8 of 12 pairs with standard deviation 1: half width 3.4425/sqrt(8) = 1.2171, critical value 2.4264
    # of 11 degrees of freedom. With mean 0: (4 * 1.2171 - 2.4264 * sqrt(12)) / sqrt(4) = -1.7684.
    logarithms = _spread(0, 1, 8)
    interval = geometric_interval(logarithms, 1 - DESIGN.levels[2])
    assert chance_of_better(DESIGN, logarithms, interval) == pytest.approx(norm.cdf(-1.7684), abs=1e-5)
    assert _proof(DESIGN, [*logarithms, 0, 0, 0, 0]).reason == "futile"
    assert step_of(DESIGN, _spread(0.1, 1, 8)) == Continue(12)


def test_the_maximum_ends_what_is_undecided() -> None:
    found = step_of(DESIGN, _spread(0.3, 1, 12))
    assert isinstance(found, Stop)
    assert found.reason == "maximum"
    assert found.interval.low < 1 < found.interval.high


def test_a_failed_run_of_the_winner_decides() -> None:
    logarithms = [0.1, math.nan, 0.1, 0.2]
    assert isinstance(step_of(DESIGN, logarithms), Continue)
    found = step_of(DESIGN, logarithms, winner_failed=True)
    assert isinstance(found, Stop)
    assert (found.reason, found.interval.repeats) == ("failed", 3)


@pytest.mark.parametrize("known", [0, 1, 2])
def test_lost_pairs_widen_the_interval_and_count_as_run(known: int) -> None:
    logarithms = [0.1 + 0.5 * pair for pair in range(known)] + [math.nan] * (4 - known)
    assert step_of(DESIGN, logarithms) == Continue(6)
    last = step_of(DESIGN, logarithms + [math.nan] * 8)
    assert isinstance(last, Stop)
    assert (last.reason, last.interval.repeats) == ("maximum", known)


# Error rates


@pytest.mark.parametrize(
    "design",
    [
        DESIGN,
        sequential(6, 0.02),
        sequential(20, 0.05),
    ],
)
def test_equal_sides_give_false_wins_of_at_most_2_5_percent(design: Design) -> None:
    reasons = Counter(stop.reason for stop in _proofs(design, 0.0))
    for wrong in WRONG:
        share, error = _share(reasons[wrong])
        assert share - error <= 0.025
    assert reasons["futile"] > STUDIES / 4


@pytest.mark.parametrize("ratio", [1.0, 1.02, 1.1, 0.95])
def test_the_interval_shown_covers_with_at_least_95_percent(ratio: float) -> None:
    stops = _proofs(DESIGN, math.log(ratio))
    share, error = _share(sum(stop.interval.low <= ratio <= stop.interval.high for stop in stops))
    assert share + error >= 0.95


def test_a_clear_difference_takes_fewer_pairs_than_a_small_one() -> None:
    for deviation, ratio, most in ((0.02, 1.3, 4.5), (0.02, 1.1, 6.5), (0.04, 1.1, 8)):
        stops = _proofs(DESIGN, math.log(ratio), deviation)
        assert np.mean([stop.interval.repeats for stop in stops]) < most
        assert sum(stop.reason == "better" for stop in stops) > 0.99 * STUDIES


def test_a_difference_of_one_deviation_is_found() -> None:
    """Futility costs next to no power: 12 pairs alone find this difference in 92% of the studies."""
    stops = _proofs(DESIGN, 0.05, 0.05)
    assert sum(stop.reason == "better" for stop in stops) > 0.8 * STUDIES
