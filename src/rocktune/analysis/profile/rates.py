"""The period of a load: a sine fitted to the rates of a LOG."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rocktune.analysis.profile.facts import RatePoint

_MIN_POINTS = 24
_MIN_PERIODS = 2.0
_MIN_EXPLAINED = 0.5
"""Share of the variance that a sine must explain; below it the load has no period that a sine describes."""
_FREQUENCIES = 2000
_FINER_FREQUENCIES = 101


@dataclass(frozen=True)
class FittedRate:
    """A sine fitted to rates.

    Attributes:
        mean: mean rate, per second.
        amplitude: amplitude of the sine, per second; 0 if no period was found.
        period_s: its period in seconds; 0 if no period was found.
        explained: share of the variance that the sine explains, from 0 to 1.
        spread: standard deviation over the mean.
    """

    mean: float
    amplitude: float
    period_s: float
    explained: float
    spread: float


def fitted_rate(points: Sequence[RatePoint]) -> FittedRate | None:
    """Returns the sine that fits rates best, by least squares over all periods that occur twice.

    Args:
        points: rates in the order of their times.

    Returns:
        None without a rate. The amplitude is 0 with fewer than 24 points, or if no sine explains half of the
        variance.
    """
    if not points:
        return None
    times = np.array([point.at_s for point in points])
    rates = np.array([point.keys_s for point in points])
    mean = float(np.average(rates, weights=[point.seconds for point in points]))
    spread = float(rates.std() / mean) if mean > 0 else 0.0
    length = float(times[-1] - times[0])
    min_period = 2.5 * float(np.median(np.diff(times))) if len(points) > 1 else 0.0
    if len(points) < _MIN_POINTS or rates.std() == 0 or length < _MIN_PERIODS * min_period or min_period <= 0:
        return FittedRate(mean, 0.0, 0.0, 0.0, spread)
    low, high = _MIN_PERIODS / length, 1 / min_period
    step = (high - low) / (_FREQUENCIES - 1)
    rough, *_ = _best(times, rates, np.linspace(low, high, _FREQUENCIES))
    # A daily period takes few steps of all these frequencies, so that one of them is some percent off.
    finer = np.linspace(max(low, rough - step), min(high, rough + step), _FINER_FREQUENCIES)
    frequency, amplitude, explained = _best(times, rates, finer)
    if explained < _MIN_EXPLAINED:
        return FittedRate(mean, 0.0, 0.0, explained, spread)
    return FittedRate(mean, amplitude, 1 / frequency, explained, spread)


def _best(
    times: NDArray[np.float64], rates: NDArray[np.float64], frequencies: NDArray[np.float64]
) -> tuple[float, float, float]:
    """Returns the frequency that explains most, the amplitude of its sine, and the share that it explains."""
    fits = [_fit(times, rates, float(frequency)) for frequency in frequencies]
    at = int(np.argmax([explained for _, explained in fits]))
    return float(frequencies[at]), *fits[at]


def _fit(times: NDArray[np.float64], rates: NDArray[np.float64], frequency: float) -> tuple[float, float]:
    """Returns the amplitude of the best sine of a frequency, and the share of the variance it explains."""
    angle = 2 * np.pi * frequency * times
    terms = np.column_stack([np.ones_like(times), np.sin(angle), np.cos(angle)])
    found, *_ = np.linalg.lstsq(terms, rates, rcond=None)
    left = rates - terms @ found
    return float(np.hypot(found[1], found[2])), float(1 - left.var() / rates.var())
