"""When to halve: once the baseline's throughput has become steady (Dremel, section 4.5.2)."""

from collections.abc import Sequence

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

# The paper's 60, 80 and 100 s as multiples of the first.
_MULTIPLES = (1.0, 4 / 3, 5 / 3)


def steady_from_s(
    operations: Sequence[int], interval_s: float, window_s: float, deviation: float
) -> float | None:
    """Returns the first age at which throughput over the last `window_s` varies by less than `deviation`.

    "Windowed variance" is read as the standard deviation over the mean.

    Args:
        operations: per interval since age 0.
        interval_s: length of an interval, seconds.
        window_s: seconds looked back, at least two intervals' worth is taken.
        deviation: the threshold, a share of the mean.

    Returns:
        Seconds; None if it never happens.
    """
    length = max(2, round(window_s / interval_s))
    if len(operations) < length:
        return None
    windows = sliding_window_view(np.asarray(operations, dtype=np.float64), length)
    steady = np.flatnonzero(windows.std(axis=1) < deviation * windows.mean(axis=1))
    return float((steady[0] + length) * interval_s) if steady.size else None


def time_points_from_s(steady_s: float | None, max_s: float) -> tuple[float, ...]:
    """Returns the ages at which to halve.

    Args:
        steady_s: from `steady_from_s`.
        max_s: the last age's limit; it is reached when throughput has not become steady well before.

    Returns:
        Three ages in the proportions of the paper's, of which the first is `steady_s` where that is possible.
    """
    latest_s = max_s / _MULTIPLES[-1]
    first_s = latest_s if steady_s is None else min(steady_s, latest_s)
    return tuple(first_s * multiple for multiple in _MULTIPLES)
