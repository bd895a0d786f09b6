"""The number of keys and the skew, fitted to how often a trace names each key."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from rocktune.workload.skew import SKEWS, FittedSkew, zipf_popularity
from rocktune.workload.trace import TraceFamily

_MAX_KEYS = 10**12
_MAX_DISTINCT_SHARE = 0.9
"""Share of operations on keys of their own above which the number of keys cannot be told."""
_ALIKE = 0.05
"""Relative difference of the share of the hottest keys below which skews are alike."""
_ALIKE_DEVIATIONS = 3
"""Standard deviations of that share within which skews are alike, for traces too short for `_ALIKE`."""


@dataclass(frozen=True)
class KeyUse:
    """How a trace uses keys.

    Attributes:
        operations: operations on keys, at least 1.
        used_keys: distinct keys among them, from 1 to `operations`.
        hot_share: share of the operations on the hottest hundredth of the used keys, at least one key.
    """

    operations: int
    used_keys: int
    hot_share: float


@dataclass(frozen=True)
class FittedKeys:
    """The keys of a store, as a trace shows them.

    Attributes:
        keys: number of keys.
        skew: the fitted law.
        is_bound: True if the number of keys is only a lower bound, because most keys occur once.
    """

    keys: int
    skew: FittedSkew
    is_bound: bool = False


def key_use(families: Sequence[TraceFamily], hot_share: float) -> KeyUse | None:
    """Returns how the operations on some families use keys; None if a trace has none on a single key.

    Args:
        families: operations of a trace.
        hot_share: share of the trace's operations on the hottest hundredth of its keys.
    """
    # The ends of a deleted range are no keys.
    operations = sum(each.total - each.operations.get("delete_range", 0) for each in families)
    used = min(operations, sum(each.used_keys for each in families))
    return KeyUse(operations, used, hot_share) if used else None


def skew_among(keys: int, use: KeyUse) -> FittedSkew:
    """Returns the skew at which the hottest of a known number of keys have as large a share as in the trace.

    The number of distinct keys checks the fit.

    Args:
        keys: number of keys, at least 1.
        use: how the trace uses them.
    """
    candidates = [_modelled(keys, float(skew), use) for skew in SKEWS]
    return _fitted(candidates, use)


def fitted_keys(use: KeyUse) -> FittedKeys:
    """Returns the number of keys and the skew with which both figures of a trace are met.

    For each skew, the number of keys follows from the distinct ones. Then the share of the hottest hundredth
    decides between the skews.
    """
    if use.used_keys > _MAX_DISTINCT_SHARE * use.operations:
        return FittedKeys(use.used_keys, skew_among(use.used_keys, use), is_bound=True)
    keys = [_keys_with(float(skew), use) for skew in SKEWS]
    candidates = [_modelled(count, float(skew), use) for count, skew in zip(keys, SKEWS, strict=True)]
    best = _fitted(candidates, use)
    return FittedKeys(keys[int(np.argmin(np.abs(SKEWS - best.skew)))], best)


@dataclass(frozen=True)
class _Candidate:
    """A skew with the figures of its law.

    Attributes:
        fit: the skew, with its figures.
        hot_share_deviation: standard deviation of the share of the hottest keys among traces of as many
            operations.
    """

    fit: FittedSkew
    hot_share_deviation: float


def _fitted(candidates: list[_Candidate], use: KeyUse) -> FittedSkew:
    """Returns the candidate with the trace's share of the hottest keys, and the range of those alike.

    Uniform keys are taken if they are among those.
    """
    misfits = [abs(each.fit.figures[0][1] - use.hot_share) for each in candidates]
    alike = [
        each.fit.skew
        for each, misfit in zip(candidates, misfits, strict=True)
        if misfit <= max(_ALIKE * use.hot_share, _ALIKE_DEVIATIONS * each.hot_share_deviation)
    ]
    best = candidates[0 if 0 in alike else int(np.argmin(misfits))].fit
    return replace(best, min_skew=min([*alike, best.skew]), max_skew=max([*alike, best.skew]))


def _modelled(keys: int, skew: float, use: KeyUse) -> _Candidate:
    """Returns a skew with the figures of independent draws from its law."""
    counts, probabilities = zipf_popularity(skew, keys)
    distinct = _distinct(counts, probabilities, use.operations) / use.operations
    hot, deviation = _hot_share(counts, probabilities, use)
    figures = (
        ("hottest hundredth of the keys", hot, use.hot_share),
        ("distinct keys over operations", distinct, use.used_keys / use.operations),
    )
    error = max(abs(model - found) for _, model, found in figures)
    return _Candidate(FittedSkew(skew, skew, skew, error, figures), deviation)


def _distinct(counts: NDArray[np.float64], probabilities: NDArray[np.float64], operations: int) -> float:
    """Returns the expected distinct keys of independent draws."""
    return float(counts @ -np.expm1(-probabilities * operations))


def _hot_share(
    counts: NDArray[np.float64], probabilities: NDArray[np.float64], use: KeyUse
) -> tuple[float, float]:
    """Returns the mean and the standard deviation of the share of draws on the keys drawn most often.

    A key is drawn by a Poisson law. That matters for keys of nearly equal popularity, where the hottest keys
    of a trace are those that happened to be drawn more often.
    """
    hottest = max(1.0, math.ceil(use.used_keys / 100))
    rates = probabilities * use.operations

    def keys_from(times: int) -> float:
        """Returns the expected number of keys that are drawn at least so many times."""
        return float(counts @ stats.poisson.sf(times - 1, rates))

    low, high = 1, 2
    while keys_from(high) > hottest:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if keys_from(middle) > hottest else (low, middle)
    # Keys drawn `high` times or more, and of those drawn once less as many as are missing.
    draws = float(counts @ (rates * stats.poisson.sf(high - 2, rates)))
    draws += max(0.0, hottest - keys_from(high)) * (high - 1)
    variance = float(counts @ _excess_variance(rates, high - 1))
    return min(1.0, draws / use.operations), math.sqrt(variance) / use.operations


def _excess_variance(rates: NDArray[np.float64], threshold: int) -> NDArray[np.float64]:
    """Returns the variance of max(0, X - threshold) for draws X by Poisson laws of some rates.

    The draws on the m hottest keys are the minimum over t of m t + sum of max(0, X - t). At the minimum a
    change of t has no effect to first order, so their variance is that of the sum at the expected t.
    """
    above = stats.poisson.sf(threshold, rates)
    first = rates * stats.poisson.sf(threshold - 1, rates)
    second = rates**2 * stats.poisson.sf(threshold - 2, rates) + first
    mean = first - threshold * above
    return np.maximum(0.0, second - 2 * threshold * first + threshold**2 * above - mean**2)


def _keys_with(skew: float, use: KeyUse) -> int:
    """Returns the number of keys among which the operations meet as many distinct ones as the trace."""
    low, high = use.used_keys, _MAX_KEYS
    while high - low > max(1, low // 1000):
        middle = max(low + 1, math.isqrt(low * high))
        counts, probabilities = zipf_popularity(skew, middle)
        if _distinct(counts, probabilities, use.operations) < use.used_keys:
            low = middle
        else:
            high = middle
    return low
