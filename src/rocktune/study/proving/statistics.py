"""Confidence intervals of means and of paired ratios, by Student's t distribution."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Interval:
    """An estimate with its two-sided 95% confidence interval.

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


def mean_interval(values: Sequence[float]) -> Interval:
    """Returns the mean of independent values with its t interval.

    Args:
        values: values in any unit; NaNs are left out.
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
    """Returns the geometric mean of paired ratios, with the t interval of their logarithms.

    Args:
        above: numerators.
        below: denominators in the same order. A pair with a value that is NaN or not above 0 is left out.
    """
    logarithms = [math.log(a / b) for a, b in zip(above, below, strict=True) if a > 0 and b > 0]
    of_logarithms = mean_interval(logarithms)
    low, value, high = (math.exp(end) for end in (of_logarithms.low, of_logarithms.value, of_logarithms.high))
    return Interval(value, low, high, of_logarithms.repeats)
