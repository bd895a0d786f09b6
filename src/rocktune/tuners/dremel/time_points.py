"""The time points of halving, derived from the age at which throughput is steady (Dremel, section 4.5.2)."""

from collections.abc import Sequence

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

# The paper's 60, 80 and 100 s as multiples of the first.
_MULTIPLES = (1.0, 4 / 3, 5 / 3)


def steady_from_s(
    operations: Sequence[int], interval_s: float, window_s: float, deviation: float
) -> float | None:
    """Returns the first age in seconds at which throughput is steady; None if there is none.

    Throughput is steady if its standard deviation over the last `window_s` seconds is less than `deviation`
    times its mean. This is our reading of the paper's "windowed variance".

    Args:
        operations: number of operations in each interval since age 0.
        interval_s: length of an interval in seconds.
        window_s: length of the window in seconds; at least two intervals are used.
        deviation: the threshold, as a share of the mean.
    """
    # A single interval has no deviation, so any run would count as steady.
    length = max(2, round(window_s / interval_s))
    if len(operations) < length:
        return None
    windows = sliding_window_view(np.asarray(operations, dtype=np.float64), length)
    steady = np.flatnonzero(windows.std(axis=1) < deviation * windows.mean(axis=1))
    return float((steady[0] + length) * interval_s) if steady.size else None


def time_points_from_s(steady_s: float | None, max_s: float) -> tuple[float, ...]:
    """Returns three ages in seconds at which to halve, in the proportions of the paper's.

    The first is `steady_s`, or a smaller age if the last one would exceed `max_s`.

    Args:
        steady_s: the age from which throughput is steady, as `steady_from_s` returns it; None if unknown.
        max_s: maximum of the last age in seconds, which is used if `steady_s` is None.
    """
    max_first_s = max_s / _MULTIPLES[-1]
    first_s = max_first_s if steady_s is None else min(steady_s, max_first_s)
    return tuple(first_s * multiple for multiple in _MULTIPLES)
