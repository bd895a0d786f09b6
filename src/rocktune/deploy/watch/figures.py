"""Live figures of a store, each normalised by its load, and their prediction intervals."""

import math
from collections.abc import Sequence

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
        before: its prediction for the window, a geometric mean of intervals before the change.
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

    The mean of a figure's logarithm over the window is compared with the upper end of its prediction interval
    from the intervals before. Latencies of intervals in which flushes or compactions wrote are predicted from
    such intervals, and the others from the others, where there are any: a store may do nothing for hours
    between two compactions. A figure that fewer than half of the intervals of either side have is left out.

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
        is_latency = "latency" in name
        known, seen = (
            [(moves and is_latency, math.log(row[name])) for moves, row in side if name in row]
            for side in (old, new)
        )
        predicted = _predicted(known, [moves for moves, _ in seen], ERROR / (_WINDOWS * len(names)))
        if predicted is None:
            continue
        mean, spread = predicted
        limit = mean + max(spread, math.log(MIN_WORSE if is_latency else _MIN_WORSE_OTHERS))
        mean_seen = math.fsum(value for _, value in seen) / len(seen)
        if mean_seen > limit:
            values = (math.exp(each) for each in (mean, mean_seen, limit))
            found.append(Worse(**dict(zip(("before", "after", "limit"), values, strict=True)), name=name))
    return tuple(found)


def _rows_of(intervals: Sequence[Interval]) -> list[tuple[bool, dict[str, float]]]:
    """Returns for each interval whether it moved data, and its figures."""
    return [(each.moves_data, figures_of(each)) for each in intervals]


def _predicted(
    known: Sequence[tuple[bool, float]], window: Sequence[bool], error: float
) -> tuple[float, float] | None:
    """Returns the prediction of a window's mean, and how far above it the mean may be.

    The values of each group are normally distributed around the group's mean, with one variance for all
    groups. A value of the window belongs to the other group if its own has no known value.

    Args:
        known: values by group.
        window: the groups of the window's values.
        error: probability that the mean of such a window is higher.

    Returns:
        None if too few values are known.
    """
    groups = {group: np.array([value for each, value in known if each == group]) for group, _ in known}
    freedom = len(known) - len(groups)
    if freedom < 2:
        return None
    chosen = [group if group in groups else not group for group in window]
    residuals = np.concatenate([values - values.mean() for values in groups.values()])
    deviation = math.sqrt(float(residuals @ residuals) / freedom)
    variance = 1 / len(window) + sum(
        (chosen.count(group) / len(window)) ** 2 / values.size for group, values in groups.items()
    )
    mean = math.fsum(float(groups[group].mean()) for group in chosen) / len(window)
    return mean, float(stats.t.ppf(1 - error, freedom)) * deviation * math.sqrt(variance)
