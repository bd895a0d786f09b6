"""Live figures of a store, each normalised by its load, and their prediction intervals."""

import math
from collections.abc import Callable, Sequence

import numpy as np
from scipy import stats

from rocktune.deploy.watch.interval import Interval
from rocktune.spec_file import Spec

WINDOW_INTERVALS = 4
"""Intervals of one window of observation."""
ERROR = 0.01
"""Probability that a figure which has not changed is judged worse, over all figures of both windows."""
MIN_WORSE = 1.1
"""A latency is never worse unless it is larger by this factor: smaller differences do not matter."""
_MIN_WORSE_OTHERS = 1.25
"""The same for the other figures, which are equal for hours and then change with a single flush."""
_STALLED = 0.05
"""Share of stalled time added to the share before and after, so that its ratio is defined."""
_MOVED_BYTES = 256 << 20
"""Bytes added to those written, so that one flush of a store that is seldom written does not count."""
_WINDOWS = 2
_STALLED_NAME = "stalled share (5% added)"


class Worse(Spec):
    """A figure above its prediction interval.

    Attributes:
        name: the figure.
        before: its prediction for the window from intervals before the change, a geometric mean.
        after: its geometric mean in the window.
        limit: upper end of the prediction interval for a window.
    """

    name: str
    before: float
    after: float
    limit: float

    @property
    def is_stall(self) -> bool:
        """True if writes were delayed or stopped for longer."""
        return self.name == _STALLED_NAME

    @property
    def sentence(self) -> str:
        """The finding in words."""
        return (
            f"{self.name}: {self.after:.3g}, at most {self.limit:.3g} were predicted from {self.before:.3g}"
        )


def figures_of(interval: Interval) -> dict[str, float]:
    """Returns the figures of an interval; lower ones are better.

    Latencies are means, which have every wait in them: RocksDB's percentiles are those since the opening, so
    that an interval has no percentile of its own.
    """
    found = {
        f"mean {kind} latency, us": 1e6 * total / count
        for kind, (count, total) in interval.waited_s.items()
        if count and total > 0
    }
    found[_STALLED_NAME] = interval.stalled_share + _STALLED
    found["bytes moved per byte written"] = 1 + interval.moved_bytes / (interval.written_bytes + _MOVED_BYTES)
    return found


def moves_more(before: Sequence[Interval], after: Sequence[Interval]) -> bool:
    """Returns whether flushes and compactions wrote more in a window than in any interval before the change.

    Rates of bytes are compared. New options can move much of a store's data, and that ends.

    Args:
        before: as in `worse_figures`.
        after: as in `worse_figures`.
    """
    usual = max(each.moved_bytes / each.seconds for each in before)
    return sum(each.moved_bytes for each in after) > usual * sum(each.seconds for each in after)


def worse_figures(before: Sequence[Interval], after: Sequence[Interval]) -> tuple[Worse, ...]:
    """Returns the figures that a window shows to be worse than predicted.

    A latency is predicted from the bytes that flushes and compactions wrote in the same interval, because a
    store may do nothing for hours between two compactions, and everything waits during one. Other figures are
    predicted to stay. The mean logarithm of observed over predicted is compared with the upper end of its
    prediction interval from the intervals before. A figure that fewer than half of the intervals of either
    side have is left out.

    Args:
        before: at least 3 intervals of the same workload, before the change.
        after: the intervals of one window.
    """
    old, new = _rows_of(before), _rows_of(after)
    names = [
        name
        for name in sorted({name for _, row in old for name in row})
        if all(2 * sum(name in row for _, row in side) > len(side) for side in (old, new))
    ]
    found = []
    for name in names:
        known, seen = ([(rate, row[name]) for rate, row in side if name in row] for side in (old, new))
        if len(known) < 3:
            continue
        is_latency = "latency" in name
        expected = _expected_latency(known) if is_latency else _constant(known)
        past = np.array([math.log(value / expected(rate)) for rate, value in known])
        present = np.array([math.log(value / expected(rate)) for rate, value in seen])
        quantile = float(stats.t.ppf(1 - ERROR / (_WINDOWS * len(names)), past.size - 1))
        spread = quantile * float(past.std(ddof=1)) * math.sqrt(1 / present.size + 1 / past.size)
        factor = MIN_WORSE if is_latency else _MIN_WORSE_OTHERS
        limit = float(past.mean()) + max(spread, math.log(factor))
        if present.mean() > limit:
            predicted = math.fsum(math.log(expected(rate)) for rate, _ in seen) / len(seen)
            logs = (predicted + float(past.mean()), predicted + float(present.mean()), predicted + limit)
            values = zip(("before", "after", "limit"), map(math.exp, logs), strict=True)
            found.append(Worse(**dict(values), name=name))
    return tuple(found)


def _rows_of(intervals: Sequence[Interval]) -> list[tuple[float, dict[str, float]]]:
    """Returns for each interval the bytes moved per second, and its figures."""
    return [(each.moved_bytes / each.seconds, figures_of(each)) for each in intervals]


def _constant(known: Sequence[tuple[float, float]]) -> Callable[[float], float]:
    """Returns the geometric mean of figures, whatever is moved."""
    mean = math.exp(math.fsum(math.log(value) for _, value in known) / len(known))
    return lambda _: mean


def _expected_latency(known: Sequence[tuple[float, float]]) -> Callable[[float], float]:
    """Returns the mean latency of an interval, by the bytes per second that were moved in it.

    Moving a byte takes the device for some time, in which operations wait. So the mean latency is that of
    intervals in which nothing is moved, and a constant times the bytes; more bytes are judged as a figure of
    their own. If nothing is moved in any interval, or something in all, it is their geometric mean.

    Args:
        known: bytes moved per second, and mean latencies.
    """
    quiet = [each for each in known if each[0] == 0]
    moving = [each for each in known if each[0] > 0]
    if not quiet or not moving:
        return _constant(known)
    at_rest = _constant(quiet)(0.0)
    waited = math.fsum(latency - at_rest for _, latency in moving) / math.fsum(rate for rate, _ in moving)
    return lambda rate: at_rest + max(0.0, waited) * rate
