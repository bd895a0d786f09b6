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


class Worse(Spec):
    """A figure above its prediction interval.

    Attributes:
        name: the figure.
        before: its geometric mean before the change.
        after: its geometric mean in the window.
        limit: upper end of the prediction interval for a window.
    """

    name: str
    before: float
    after: float
    limit: float

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
    found["stalled share (5% added)"] = interval.stalled_share + _STALLED
    found["bytes moved per byte written"] = 1 + interval.moved_bytes / (interval.written_bytes + _MOVED_BYTES)
    return found


def worse_figures(before: Sequence[Interval], after: Sequence[Interval]) -> tuple[Worse, ...]:
    """Returns the figures that a window shows to be worse than predicted.

    The mean of a figure's logarithm over the window is compared with the upper end of its prediction interval
    from the intervals before. A figure that fewer than half of the intervals of either side have is left out.

    Args:
        before: at least 3 intervals of the same workload, before the change.
        after: the intervals of one window.
    """
    old, new = [figures_of(each) for each in before], [figures_of(each) for each in after]
    names = [
        name
        for name in sorted({name for each in old for name in each})
        if all(2 * sum(name in each for each in side) > len(side) for side in (old, new))
    ]
    found = []
    for name in names:
        known = np.log([each[name] for each in old if name in each])
        seen = np.log([each[name] for each in new if name in each])
        if known.size < 3:
            continue
        quantile = float(stats.t.ppf(1 - ERROR / (_WINDOWS * len(names)), known.size - 1))
        spread = quantile * float(known.std(ddof=1)) * math.sqrt(1 / seen.size + 1 / known.size)
        factor = MIN_WORSE if "latency" in name else _MIN_WORSE_OTHERS
        limit = float(known.mean()) + max(spread, math.log(factor))
        if seen.mean() > limit:
            values = (float(np.exp(each)) for each in (known.mean(), seen.mean(), limit))
            found.append(Worse(**dict(zip(("before", "after", "limit"), values, strict=True)), name=name))
    return tuple(found)
