"""Intervals of means and of paired ratios, by Student's t distribution."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Interval:
    """A figure with its two-sided 95% interval.

    Attributes:
        value: the estimate; NaN when nothing was measured.
        low: lower end; may be minus infinity (or 0 for a ratio) where one value says nothing about spread.
        high: upper end; may be infinity.
        repeats: how many values, or pairs, it rests on.
    """

    value: float
    low: float
    high: float
    repeats: int

    def excludes(self, value: float) -> bool:
        """Says whether `value` lies outside the interval; never so for an interval without figures."""
        return self.low > value or self.high < value

    def to_json(self) -> dict[str, float | int | None]:
        """Returns the fields, with None where a figure is not finite."""
        ends = {"value": self.value, "low": self.low, "high": self.high}
        return {
            **{name: end if math.isfinite(end) else None for name, end in ends.items()},
            "repeats": self.repeats,
        }


def mean_interval(values: Sequence[float]) -> Interval:
    """Returns the mean of independent values with its t interval.

    Args:
        values: in any unit; those that are NaN are left out.
    """
    known = np.array([value for value in values if not math.isnan(value)])
    if known.size == 0:
        return Interval(math.nan, math.nan, math.nan, 0)
    mean = float(known.mean())
    if known.size == 1:
        return Interval(mean, -math.inf, math.inf, 1)
    # scipy.stats has the same quantile, but importing it takes a second.
    quantile = float(stdtrit(known.size - 1, (1 + CONFIDENCE) / 2))
    half_width = quantile * float(known.std(ddof=1)) / math.sqrt(known.size)
    return Interval(mean, mean - half_width, mean + half_width, int(known.size))


def ratio_interval(above: Sequence[float], below: Sequence[float]) -> Interval:
    """Returns the geometric mean of paired ratios with its interval: a t interval on their logarithms.

    Args:
        above: numerators, above 0.
        below: denominators in the same order, above 0. A pair of which either is NaN or 0 is left out.
    """
    logarithms = [math.log(a / b) for a, b in zip(above, below, strict=True) if a > 0 and b > 0]
    of_logarithms = mean_interval(logarithms)
    low, value, high = (math.exp(end) for end in (of_logarithms.low, of_logarithms.value, of_logarithms.high))
    return Interval(value, low, high, of_logarithms.repeats)
