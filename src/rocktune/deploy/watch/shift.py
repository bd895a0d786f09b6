"""A sequential test for a change of a store's workload.

The features of each interval are compared with those of a reference, the intervals before it. For normally
distributed, independent features the tail probability p of an interval's studentised deviation from the mean
of all intervals before it is uniform, and independent of earlier ones (Brown, Durbin and Evans, 1975:
recursive residuals). Then e(p) = c p^(c-1) has the mean 1 for each c in (0, 1), and so has the mean of e over
several features, however they depend on each other. The evidence M is the e-CUSUM of Shin, Ramdas and Rinaldo
(2022), M := e max(1, M). The probability that M reaches A within n intervals of an unchanged workload is at
most n / A.
"""

import math

from scipy import special

from rocktune.deploy.watch.interval import Interval
from rocktune.spec_file import Amount, Count, Number, Spec

REFERENCE_INTERVALS = 12
"""Intervals from which a new workload's reference is made, before it is compared with anything."""
ALARM_EVIDENCE = 1e6
"""A: M at which the workload has changed."""
SUSPECT_EVIDENCE = 10.0
"""M from which intervals are kept out of the reference."""
_MAX_EVIDENCE = 100.0
"""Maximum evidence of one interval, so that no two intervals alone are a change: backups and imports pass."""
_EXPONENT = 0.1
FLOORS = {
    "lookups": 0.02,
    "scans": 0.02,
    "absent lookups": 0.02,
    "writes times log of their bytes": 0.1,
    "scans times log of their steps": 0.1,
}
"""By feature, the standard deviation that is assumed at least. Intervals with millions of operations vary
less than a workload may before its best options change."""
SAME_DISTANCE = 5.0
"""Two workloads are the same if no feature of theirs differs by more than so many floors."""


class Reference(Spec):
    """Sums over the features of intervals of one workload.

    Attributes:
        count: number of intervals.
        means: their mean, by feature in the order of `FLOORS`.
        squares: sums of the squared deviations from the mean.
        evidence: M.
    """

    count: Count = 0
    means: tuple[Number, ...] = (0.0,) * len(FLOORS)
    squares: tuple[Amount, ...] = (0.0,) * len(FLOORS)
    evidence: Amount = 0.0

    @property
    def is_complete(self) -> bool:
        """True if intervals can be compared with it."""
        return self.count >= REFERENCE_INTERVALS

    @property
    def is_suspicious(self) -> bool:
        """True if the last intervals deviate."""
        return self.evidence >= SUSPECT_EVIDENCE

    @property
    def has_changed(self) -> bool:
        """True if the workload has changed."""
        return self.evidence >= ALARM_EVIDENCE


def features_of(interval: Interval) -> tuple[float, ...]:
    """Returns the features of an interval that is not idle, in the order of `FLOORS`.

    All are shares of the operations, or are weighted by one, so that a kind of operation that does not occur
    in an interval is no outlier. The rate is left out, because it follows the time of day; so is the share of
    the block cache's hits, which grows for hours after an opening and changes with the options.
    """
    total = interval.operations
    write_bytes = interval.written_bytes / max(1, interval.writes)
    return (
        interval.reads / total,
        interval.seeks / total,
        max(0, interval.reads - interval.found_reads) / total,
        interval.writes / total * math.log1p(write_bytes),
        interval.seeks / total * math.log1p(interval.steps / max(1, interval.seeks)),
    )


def compared(reference: Reference, interval: Interval) -> Reference:
    """Returns the reference after one more interval.

    The interval becomes part of the reference, unless it or those before it deviate from a complete one.

    Args:
        reference: the reference.
        interval: an interval that is not idle.
    """
    features = features_of(interval)
    if not reference.is_complete:
        return _with(reference, features)
    evidence = _evidence(reference, features) * max(1.0, reference.evidence)
    found = reference.model_copy(update={"evidence": min(evidence, 1e12)})
    return found if found.is_suspicious else _with(found, features)


def distance(first: Reference, second: Reference) -> float:
    """Returns the largest difference of two workloads' features, in floors."""
    return max(
        abs(one - other) / floor
        for one, other, floor in zip(first.means, second.means, FLOORS.values(), strict=True)
    )


def _evidence(reference: Reference, features: tuple[float, ...]) -> float:
    """Returns the mean over the features of e(p), at most `_MAX_EVIDENCE`."""
    count = reference.count
    found = []
    for feature, mean, square, floor in zip(
        features, reference.means, reference.squares, FLOORS.values(), strict=True
    ):
        deviation = max(floor, math.sqrt(square / (count - 1)))
        statistic = abs(feature - mean) / (deviation * math.sqrt(1 + 1 / count))
        p = max(1e-300, 2 * float(special.stdtr(count - 1, -statistic)))
        found.append(_EXPONENT * math.pow(p, _EXPONENT - 1))
    return min(_MAX_EVIDENCE, sum(found) / len(found))


def _with(reference: Reference, features: tuple[float, ...]) -> Reference:
    """Returns the reference with one more interval's features (Welford's algorithm)."""
    count = reference.count + 1
    steps = [feature - mean for feature, mean in zip(features, reference.means, strict=True)]
    means = tuple(mean + step / count for mean, step in zip(reference.means, steps, strict=True))
    squares = tuple(
        square + step * (feature - mean)
        for square, step, feature, mean in zip(reference.squares, steps, features, means, strict=True)
    )
    return reference.model_copy(update={"count": count, "means": means, "squares": squares})
