"""Popularity of keys: how many keys a key chooser picks with which probability."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rocktune.workload.distributions import KeyChooserSpec

_EXACT_RANKS = 100
"""Number of the hottest keys that are a group each."""
_RANK_GROUPS = 400


@dataclass(frozen=True)
class KeyPopularity:
    """Groups of keys that are picked with equal probability.

    Attributes:
        counts: number of keys in each group, shape (groups,). They sum to the number of keys.
        probabilities: probability of each key of a group, shape (groups,). Times `counts` they sum to 1.
    """

    counts: NDArray[np.float64]
    probabilities: NDArray[np.float64]


def key_popularity(chooser: KeyChooserSpec, keys: int) -> KeyPopularity:
    """Returns the popularity of the keys of a key chooser.

    Keys of similar rank form one group with their mean probability. Scrambling and recency move the hot keys
    and leave their popularity as it is.

    Args:
        chooser: the key chooser.
        keys: number of keys, at least 1.
    """
    if chooser.kind == "hotspot" and chooser.hot_key_share < 1:
        return _hotspot(chooser, keys)
    if chooser.kind == "two_term_exponential":
        return _two_term_exponential(chooser, keys)
    if chooser.skew > 0:
        edges = _rank_edges(keys)
        # The integral of x^-skew over a group stands for the sum over its ranks; the hottest are exact.
        weights = _power_sums(edges, 1 - chooser.skew)
        exact = min(_EXACT_RANKS, len(edges) - 1)
        weights[:exact] = np.arange(1, exact + 1) ** -chooser.skew
        return _normalised(np.diff(edges), weights)
    return KeyPopularity(np.array([float(keys)]), np.array([1 / keys]))


def _hotspot(chooser: KeyChooserSpec, keys: int) -> KeyPopularity:
    """Returns the popularity of hot and cold keys."""
    hot = min(max(1.0, round(chooser.hot_key_share * keys)), keys - 1.0) if keys > 1 else 1.0
    if keys == 1:
        return KeyPopularity(np.array([1.0]), np.array([1.0]))
    weights = np.array([chooser.hot_operation_share, 1 - chooser.hot_operation_share])
    return _normalised(np.array([hot, keys - hot]), weights)


def _two_term_exponential(chooser: KeyChooserSpec, keys: int) -> KeyPopularity:
    """Returns the popularity of mixgraph's keys: ranges of keys, and hot keys within each range."""
    number = np.arange(chooser.ranges)
    weights = chooser.range_a * np.exp(chooser.range_b * number)
    weights = weights + chooser.range_c * np.exp(chooser.range_d * number)
    per_range = max(1, keys // chooser.ranges)
    if chooser.key_b == 0:
        inner = KeyPopularity(np.array([float(per_range)]), np.array([1 / per_range]))
    else:
        edges = _rank_edges(per_range)
        inner = _normalised(np.diff(edges), np.diff((edges - 1) ** chooser.key_b))
    counts = np.tile(inner.counts, chooser.ranges)
    shares = np.outer(weights, inner.counts * inner.probabilities).ravel()
    return _normalised(counts * (keys / counts.sum()), np.maximum(shares, 0))


def _rank_edges(keys: int) -> NDArray[np.float64]:
    """Returns the first ranks of groups of ranks 1 .. keys, and keys + 1 at the end; hot groups are small."""
    exact = np.arange(1, min(_EXACT_RANKS, keys) + 2)
    spread = np.geomspace(exact[-1], keys + 1, _RANK_GROUPS).round()
    return np.unique(np.concatenate([exact, spread]).astype(np.float64))


def _power_sums(edges: NDArray[np.float64], power: float) -> NDArray[np.float64]:
    """Returns the integral of x^(power - 1) over each group of ranks, shifted by half a rank."""
    shifted = edges - 0.5
    return np.diff(np.log(shifted)) if power == 0 else np.diff(shifted**power) / power


def _normalised(counts: NDArray[np.float64], weights: NDArray[np.float64]) -> KeyPopularity:
    """Returns the popularity of groups of keys with relative shares of the operations."""
    return KeyPopularity(np.asarray(counts, dtype=np.float64), weights / weights.sum() / counts)
