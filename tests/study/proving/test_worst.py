"""The ratio on the worst of several workloads."""

import math

import numpy as np
import pytest

from rocktune.study.proving.sequential import Stop, design_of, next_step
from rocktune.study.proving.statistics import geometric_interval, worst_ratio
from rocktune.study.specs.spec import VerificationSettings

GOOD, BAD = [0.30, 0.31, 0.29, 0.30, 0.31, 0.29], [0.05, 0.02, 0.08, 0.04, 0.06, 0.05]


def test_one_workload_has_its_own_interval() -> None:
    assert worst_ratio([GOOD]) == geometric_interval(GOOD)


def test_the_worst_workload_decides_by_hand() -> None:
    found, plain = worst_ratio([GOOD, BAD]), geometric_interval(BAD)
    assert (found.value, found.low, found.repeats) == (plain.value, plain.low, 6)
    # The upper end is that of an interval with half the error.
    assert found.high == geometric_interval(BAD, 0.975).high > plain.high


def test_an_unmeasured_workload_leaves_nothing() -> None:
    found = worst_ratio([GOOD, [math.nan] * 6])
    assert math.isnan(found.value)
    assert found.repeats == 0


@pytest.mark.parametrize(
    "means", [(0.0, 0.0, 0.0, 0.0, 0.0), (0.0, 0.5, 0.5, 0.5, 0.5), (0.0, 0.02, 0.04, 0, 0)]
)
def test_the_interval_contains_the_worst_mean_as_often_as_stated(means: tuple[float, ...]) -> None:
    rng, missed, samples = np.random.default_rng(1), {"low": 0, "high": 0}, 2000
    for _ in range(samples):
        # Pairs share noise: their runs have equal random numbers on all workloads.
        logarithms = rng.normal(0, 0.03, 6) + rng.normal(0, 0.03, (len(means), 6)) + np.array(means)[:, None]
        found = worst_ratio([list(row) for row in logarithms])
        missed["low"] += found.low > 1
        missed["high"] += found.high < 1
    assert missed["low"] / samples < 0.035
    assert missed["high"] / samples < 0.035


def test_a_proof_is_better_only_if_it_is_on_every_workload() -> None:
    design = design_of(VerificationSettings(max_pairs=12, indifference=0.02))
    mixed = [-0.001, 0.002, 0.001, -0.002]
    both = next_step(design, [GOOD[:4], GOOD[:4]])
    assert isinstance(both, Stop)
    assert both.reason == "better"
    one = next_step(design, [GOOD[:4], mixed])
    assert isinstance(one, Stop)
    # Equal on the worst workload: the whole interval of the smallest ratio lies about 1.
    assert one.reason == "equal"
    worse = next_step(design, [GOOD[:4], [-each for each in GOOD[:4]]])
    assert isinstance(worse, Stop)
    assert worse.reason == "worse"
