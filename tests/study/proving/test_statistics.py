import math

import numpy as np
import pytest
from scipy import stats

from rocktune.study.proving.statistics import Interval, mean_interval, ratio_interval, spearman_interval


def test_mean_interval_by_hand() -> None:
    # Mean 3; squared deviations 4, 1, 0, 1, 4 sum to 10; variance 10/4 = 2.5; standard error sqrt(2.5/5) =
    # 0.7071068. The 97.5% quantile of t with 4 degrees of freedom is 2.7764451: half width 1.9632432.
    interval = mean_interval([1, 2, 3, 4, 5])
    assert interval.value == 3
    assert interval.low == pytest.approx(1.0367568, abs=1e-6)
    assert interval.high == pytest.approx(4.9632432, abs=1e-6)
    assert interval.repeats == 5


def test_ratio_interval_by_hand() -> None:
    # Ratios 1, 2, 4: logarithms 0, ln 2, 2 ln 2; mean ln 2, standard deviation ln 2, standard error
    # ln 2/sqrt(3) = 0.4001887. t with 2 degrees of freedom: 4.3026527; half width 1.7218729.
    # exp(0.6931472 -/+ 1.7218729) = 0.3574627 and 11.1900, and 0.3574627 * 11.1900 = 4 = 2 squared.
    interval = ratio_interval([10, 20, 40], [10, 10, 10])
    assert interval.value == pytest.approx(2)
    assert interval.low == pytest.approx(0.35746, abs=1e-4)
    assert interval.high == pytest.approx(11.190, abs=1e-3)
    assert interval.low * interval.high == pytest.approx(4)


def test_one_pair_says_nothing_about_spread() -> None:
    interval = ratio_interval([3], [2])
    assert interval.value == pytest.approx(1.5)
    assert (interval.low, interval.high) == (0, math.inf)
    assert not interval.excludes(1)
    assert interval.to_json() == {"value": pytest.approx(1.5), "low": 0, "high": None, "repeats": 1}


def test_undefined_values_are_left_out() -> None:
    assert mean_interval([math.nan, 2, 2]) == Interval(2, 2, 2, 2)
    assert ratio_interval([math.nan, 4, 0], [1, 2, 1]).repeats == 1


def test_nothing_measured_excludes_nothing() -> None:
    interval = mean_interval([])
    assert math.isnan(interval.value)
    assert not interval.excludes(1)
    assert interval.to_json() == {"value": None, "low": None, "high": None, "repeats": 0}


def test_excludes_is_about_both_ends() -> None:
    assert Interval(1.2, 1.1, 1.3, 6).excludes(1)
    assert Interval(0.8, 0.7, 0.9, 6).excludes(1)
    assert not Interval(1.1, 0.9, 1.3, 6).excludes(1)


def test_spearman_is_scipys_with_the_interval_of_bonett_and_wright() -> None:
    rng = np.random.default_rng(1)
    for count in (5, 20, 40):
        first = rng.integers(0, 10, count).astype(float)
        second = first + rng.normal(0, 3, count)
        found = spearman_interval(list(first), list(second))
        assert found.value == pytest.approx(stats.spearmanr(first, second).statistic, abs=1e-9)
        assert found.repeats == count
    half = 1.959964 * math.sqrt((1 + found.value**2 / 2) / (count - 3))
    assert found.low == pytest.approx(math.tanh(math.atanh(found.value) - half), abs=1e-6)
    assert found.high == pytest.approx(math.tanh(math.atanh(found.value) + half), abs=1e-6)


def test_a_correlation_without_spread_or_interval() -> None:
    assert spearman_interval([1.0, 2.0, 3.0], [1.0, 3.0, 2.0]) == Interval(0.5, 0.5, 0.5, 3)
    assert spearman_interval([1.0, 2.0, 3.0, 9.0], [9.0, 8.0, 7.0, 1.0]) == Interval(-1.0, -1.0, -1.0, 4)
    for first, second in (([1.0, 1.0], [1.0, 2.0]), ([], []), ([1.0], [2.0])):
        assert math.isnan(spearman_interval(first, second).value)
