"""Pure functions behind Dremel's figures: curves over the age of runs, rankings, and fronts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

Reals = NDArray[np.float64]

_POINTS = 20
_FITTED_FROM = 0.1


@dataclass(frozen=True)
class Curve:
    """The operations of a run until each age.

    Attributes:
        ages_s: ends of the series' intervals in seconds, ascending, shape (n,).
        operations: operations completed since age 0, shape (n,).
    """

    ages_s: Reals
    operations: Reals

    @classmethod
    def of(cls, series: Mapping[str, Any], until_s: float) -> "Curve":
        """Returns the curve of a measurement's `series`; its last interval may be cut short at `until_s`."""
        operations = np.cumsum(np.asarray(series["operations"], dtype=np.float64))
        ages_s = (np.arange(operations.size) + 1) * float(series["interval_s"])
        return cls(np.minimum(ages_s, until_s), operations)

    def mean_until(self, ages_s: float | Reals) -> Reals:
        """Returns operations per second from age 0 to each of `ages_s`, interpolated between intervals."""
        ages = np.asarray(ages_s, dtype=np.float64)
        counted = np.interp(ages, np.append(0.0, self.ages_s), np.append(0.0, self.operations))
        return np.asarray(counted / ages)

    def throughput_after(self, age_s: float) -> Reals:
        """Returns operations per second of each interval that begins at or after an age."""
        ages_s, operations = np.append(0.0, self.ages_s), np.append(0.0, self.operations)
        later = ages_s[:-1] >= age_s * (1 - 1e-9)
        lengths = np.diff(ages_s)
        whole = lengths > lengths.max() / 2
        return np.asarray((np.diff(operations)[later & whole]) / lengths[later & whole])


def extrapolated(curve: Curve, known_s: float, at_s: float) -> float:
    """Returns the mean throughput until `at_s`, predicted from the run's first `known_s` seconds.

    A power law, y(t) = c + a * t^-b, is fitted by least squares to the means until ages from a tenth of
    `known_s` on. The method is ours; the paper used a probabilistic mixture of learning curves.

    Returns:
        Operations per second, at least 0.
    """
    ages = np.linspace(_FITTED_FROM, 1.0, _POINTS)
    means = curve.mean_until(ages * known_s)
    unit = float(means[-1]) or 1.0

    def misses(parameters: Reals) -> Reals:
        limit, gain, exponent = parameters
        return np.asarray(limit + gain * ages**-exponent - means / unit)

    bounds = ([0.0, -10.0, 0.05], [10.0, 10.0, 4.0])
    limit, gain, exponent = optimize.least_squares(misses, (0.9, 0.1, 0.5), bounds=bounds).x
    return max(0.0, float(limit + gain * (at_s / known_s) ** -exponent) * unit)


def pareto_front(points: Reals) -> NDArray[np.bool_]:
    """Returns which points no other point beats in one coordinate without losing in another.

    Args:
        points: points of shape (n, d); larger is better.

    Returns:
        Booleans of shape (n,).
    """
    at_least = (points[:, None, :] >= points[None, :, :]).all(axis=2)
    better = (points[:, None, :] > points[None, :, :]).any(axis=2)
    return np.asarray(~(at_least & better).any(axis=0))


def largest_first(values: Sequence[float]) -> list[int]:
    """Returns the positions of values from the largest to the smallest; equal ones keep their order."""
    return [int(position) for position in np.argsort(np.negative(values), kind="stable")]


def kept_at_top(earlier: Sequence[float], later: Sequence[float], count: int) -> int:
    """Returns how many of the `count` largest of `later` were among the `count` largest of `earlier`."""
    return len(set(largest_first(earlier)[:count]) & set(largest_first(later)[:count]))


def price_of_one_for_all(table: Reals) -> float:
    """Returns the result of the best single choice in its worst setting, as a share of that setting's best.

    Args:
        table: throughput above 0, shape (settings, choices).

    Returns:
        A share in (0, 1]; 1 if one choice is best in all settings.
    """
    shares = table / table.max(axis=1, keepdims=True)
    return float(shares.min(axis=0).max())
