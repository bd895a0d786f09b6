"""Confidence intervals of means and paired ratios (Student's t), and of rank correlations."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Interval:
    """An estimate with its two-sided confidence interval, of 95% unless its maker says otherwise.

    Attributes:
        value: the estimate; NaN if nothing was measured.
        low: lower end; minus infinity, or 0 for a ratio, if there is only one value.
        high: upper end; infinity if there is only one value.
        repeats: number of values, or of pairs, that it is computed from.
    """

    value: float
    low: float
    high: float
    repeats: int

    def excludes(self, value: float) -> bool:
        """Returns whether `value` lies outside the interval; always false if nothing was measured."""
        return self.low > value or self.high < value

    def to_json(self) -> dict[str, float | int | None]:
        """Returns the attributes, with None for numbers that are not finite."""
        ends = {"value": self.value, "low": self.low, "high": self.high}
        return {
            **{name: end if math.isfinite(end) else None for name, end in ends.items()},
            "repeats": self.repeats,
        }


def known(values: Sequence[float]) -> NDArray[np.float64]:
    """Returns the values that are not NaN."""
    return np.array([value for value in values if not math.isnan(value)])


def mean_interval(values: Sequence[float], confidence: float = CONFIDENCE) -> Interval:
    """Returns the mean of independent values with its t interval.

    Args:
        values: values in any unit; NaNs are left out.
        confidence: chance that the interval contains the mean, above 0 and below 1.
    """
    measured = known(values)
    if measured.size == 0:
        return Interval(math.nan, math.nan, math.nan, 0)
    mean = float(measured.mean())
    if measured.size == 1:
        return Interval(mean, -math.inf, math.inf, 1)
    # scipy.stats has the same quantile, but importing it takes a second.
    quantile = float(stdtrit(measured.size - 1, (1 + confidence) / 2))
    half_width = quantile * float(measured.std(ddof=1)) / math.sqrt(measured.size)
    return Interval(mean, mean - half_width, mean + half_width, int(measured.size))


def geometric_interval(logarithms: Sequence[float], confidence: float = CONFIDENCE) -> Interval:
    """Returns the geometric mean of ratios, with the t interval of their logarithms.

    Args:
        logarithms: natural logarithms of the ratios; NaNs are left out.
        confidence: see `mean_interval`.
    """
    mean = mean_interval(logarithms, confidence)
    return Interval(math.exp(mean.value), math.exp(mean.low), math.exp(mean.high), mean.repeats)


def worst_ratio(by_workload: Sequence[Sequence[float]], confidence: float = CONFIDENCE) -> Interval:
    """Returns the smallest of several geometric means of ratios, with a confidence interval.

    The lower end is the smallest lower end of the t intervals. It needs no correction for their number: it
    can only exceed the smallest mean if the interval of that mean does (intersection-union test, Berger,
    Technometrics 24 (1982)). The upper end is the smallest upper end of intervals whose error is divided by
    their number (Bonferroni), because any of them can fall below the smallest mean. For one workload it is
    `geometric_interval`.

    Args:
        by_workload: natural logarithms of the ratios of the pairs on each workload; NaNs are left out.
        confidence: chance that the interval contains the smallest mean, above 0 and below 1.

    Returns:
        The interval; `repeats` is the smallest number of pairs. Undefined if a workload has no pairs.
    """
    plain = [geometric_interval(logarithms, confidence) for logarithms in by_workload]
    wide = [
        geometric_interval(logarithms, 1 - (1 - confidence) / len(by_workload)) for logarithms in by_workload
    ]
    if any(math.isnan(each.value) for each in plain):
        return Interval(math.nan, math.nan, math.nan, 0)
    return Interval(
        min(each.value for each in plain),
        min(each.low for each in plain),
        min(each.high for each in wide),
        min(each.repeats for each in plain),
    )


def ratio_logarithms(above: Sequence[float], below: Sequence[float]) -> list[float]:
    """Returns the natural logarithm of each ratio; NaN where a value is NaN or not above 0.

    Args:
        above: numerators.
        below: denominators in the same order.
    """
    return [math.log(a / b) if a > 0 and b > 0 else math.nan for a, b in zip(above, below, strict=True)]


def ratio_interval(above: Sequence[float], below: Sequence[float]) -> Interval:
    """Returns the geometric mean of paired ratios, with the t interval of their logarithms.

    Args:
        above: numerators.
        below: denominators in the same order. A pair with a value that is NaN or not above 0 is left out.
    """
    return geometric_interval(ratio_logarithms(above, below))


def spearman_interval(first: Sequence[float], second: Sequence[float]) -> Interval:
    """Returns Spearman's rank correlation with its 95% interval by Fisher's transformation.

    The variance is that of Bonett and Wright, Psychometrika 65 (2000). A correlation of 1 or -1, and one of
    fewer than 4 pairs, has no interval: both ends equal the value.

    Args:
        first: values in any unit, without NaN.
        second: as many values of the same things.

    Returns:
        The correlation, -1 to 1; NaN if all values of a side are equal, or if there are fewer than 2.
    """
    count = len(first)
    ranks = np.array([_ranks(first), _ranks(second)])
    if count < 2 or not ranks.std(axis=1).all():
        return Interval(math.nan, math.nan, math.nan, count)
    # Rounding must not take a perfect correlation for one below 1.
    correlation = float(np.clip(round(np.corrcoef(ranks)[0, 1], 12), -1, 1))
    if count < 4 or abs(correlation) == 1:
        return Interval(correlation, correlation, correlation, count)
    quantile = float(ndtri((1 + CONFIDENCE) / 2))
    half_width = quantile * math.sqrt((1 + correlation**2 / 2) / (count - 3))
    center = math.atanh(correlation)
    return Interval(correlation, math.tanh(center - half_width), math.tanh(center + half_width), count)


def _ranks(values: Sequence[float]) -> NDArray[np.float64]:
    """Returns the rank of each value from 1, smallest first; equal values share their mean rank."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    means: NDArray[np.float64] = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    return means
