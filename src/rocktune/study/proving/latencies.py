"""Percentiles over the latencies of several windows, with bootstrap intervals."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from rocktune.measurement import Measurement
from rocktune.study.proving.statistics import CONFIDENCE, Interval

RESAMPLES = 4000
_SEED = 1
"""The intervals of equal windows are equal, so that a resumed study repeats its verdict."""

Numbers = NDArray[np.float64]
Statistic = Callable[[Numbers], Numbers]
"""Returns a figure in nanoseconds of each row of weights. Array of shape (rows, windows) to shape (rows,)."""


def latencies_between(earlier: Measurement | None, later: Measurement) -> Mapping[int, int]:
    """Returns the operations between two ages of a run by their latency in nanoseconds.

    Args:
        earlier: the measurement of the run from age 0 to the earlier age; None for age 0.
        later: the same to the later age.
    """
    counted = _counted(later)
    if earlier is not None:
        counted.subtract(_counted(earlier))
    return +counted


def _counted(measured: Measurement) -> Counter[int]:
    """Returns the number of operations of all kinds by latency."""
    counted: Counter[int] = Counter()
    for kind in measured.raw.get("operations", {}).values():
        for bound_ns, count in kind.get("latency_ns", []):
            counted[bound_ns] += count
    return counted


class Latencies:
    """The latencies of the windows of several runs of a configuration.

    Intervals are those of the percentile bootstrap (Efron and Tibshirani, "An introduction to the bootstrap",
    1993, chapter 13), with windows as units: a stall meets all operations of its time, so operations are not
    independent, but windows that span a cycle of compactions nearly are.
    """

    def __init__(self, windows: Sequence[Mapping[int, int]], confidence: float = CONFIDENCE) -> None:
        """Takes the operations by nanoseconds of each window. Windows without operations do not count.

        Args:
            windows: operations by nanoseconds.
            confidence: confidence level of the intervals.
        """
        self._confidence = confidence
        known = [window for window in windows if window]
        self._bounds_ns = np.array(sorted({bound for window in known for bound in window}), dtype=np.float64)
        self._counts = np.array(
            [[window.get(int(bound), 0) for bound in self._bounds_ns] for window in known], dtype=np.float64
        ).reshape(len(known), self._bounds_ns.size)
        self._longest_ns = np.array([max(window) for window in known], dtype=np.float64)

    @property
    def windows(self) -> int:
        """Number of windows with operations."""
        return len(self._longest_ns)

    def percentile(self, percent: float) -> Interval:
        """Returns a percentile over the operations of all windows, microseconds."""
        return self._interval(self._percentile_of(percent))

    def percentile_ratio(self, other: "Latencies", percent: float) -> Interval:
        """Returns a percentile over that of other windows."""
        return self._ratio(other, self._percentile_of(percent), other._percentile_of(percent))

    def longest_wait(self) -> Interval:
        """Returns the mean of the windows' longest waits, microseconds."""
        return self._interval(self._longest_wait_of)

    def longest_wait_ratio(self, other: "Latencies") -> Interval:
        """Returns the mean longest wait over that of other windows."""
        return self._ratio(other, self._longest_wait_of, other._longest_wait_of)

    def _percentile_of(self, percent: float) -> Statistic:
        """Returns the statistic of a percentile."""

        def of(weights: Numbers) -> Numbers:
            cumulative = np.cumsum(weights @ self._counts, axis=1)
            # The factor keeps rounding up from skipping a bucket whose count is exactly the one wanted.
            wanted = percent / 100 * cumulative[:, -1] * (1 - 1e-12)
            places = (cumulative < wanted[:, None]).sum(axis=1)
            return np.asarray(self._bounds_ns[places])

        return of

    def _longest_wait_of(self, weights: Numbers) -> Numbers:
        """Returns the mean longest wait of weighted windows."""
        return np.asarray(weights @ self._longest_ns / weights.sum(axis=1))

    def _interval(self, statistic: Statistic) -> Interval:
        """Returns a figure in microseconds with its interval."""
        if not self.windows:
            return Interval(np.nan, np.nan, np.nan, 0)
        value = float(statistic(np.ones((1, self.windows)))[0]) / 1e3
        low, high = (end / 1e3 for end in self._ends(self._resampled(statistic, 0), self.windows))
        return Interval(value, low, high, self.windows)

    def _ratio(self, other: "Latencies", ours: Statistic, theirs: Statistic) -> Interval:
        """Returns the ratio of two figures with its interval; both are resampled independently."""
        windows = min(self.windows, other.windows)
        if not windows:
            return Interval(np.nan, np.nan, np.nan, 0)
        value = float(ours(np.ones((1, self.windows)))[0] / theirs(np.ones((1, other.windows)))[0])
        low, high = self._ends(self._resampled(ours, 0) / other._resampled(theirs, 1), windows)
        return Interval(value, low, high, windows)

    def _resampled(self, statistic: Statistic, stream: int) -> Numbers:
        """Returns the statistic of `RESAMPLES` samples of windows, drawn with replacement."""
        rng = np.random.default_rng([_SEED, stream])
        share = np.full(self.windows, 1 / self.windows)
        return statistic(rng.multinomial(self.windows, share, RESAMPLES).astype(np.float64))

    def _ends(self, resampled: Numbers, windows: int) -> tuple[float, float]:
        """Returns the ends of the percentile interval; 0 and infinity for a single window."""
        if windows < 2:
            return 0.0, float("inf")
        tail = 100 * (1 - self._confidence) / 2
        low, high = np.percentile(resampled, [tail, 100 - tail])
        return float(low), float(high)
