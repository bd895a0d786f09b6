"""The skew of reads, fitted to what caches answered."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import brentq

from rocktune.workload import SKEWS, FittedSkew, zipf_popularity

_TOLERANCE = 0.1
_MAX_AGES = 1e15


@dataclass(frozen=True)
class CacheFacts:
    """What the skew is fitted to.

    Attributes:
        keys: number of keys of the store.
        entry_bytes: mean bytes of key and value.
        block_bytes: bytes of a data block before compression.
        cache_bytes: capacity of the block cache; None if unknown.
        cache_hit_share: share of the accesses to data blocks that it answered; None if unknown.
        memtable_entries: mean number of entries in memtables; None if unknown.
        memtable_hit_share: share of the lookups of present keys that memtables answered; None if unknown.
    """

    keys: int
    entry_bytes: float
    block_bytes: int
    cache_bytes: int | None
    cache_hit_share: float | None
    memtable_entries: float | None
    memtable_hit_share: float | None


def fitted_skew(facts: CacheFacts) -> FittedSkew | None:
    """Returns the skew at which caches of an independent reference model answer as much as the store's do.

    Reads and writes have the same law. Memtables are fitted if their hits are known, because what a block
    cache answers depends on filters, levels and scans, too. The block cache is the LRU cache of Che's
    approximation with data blocks alone.

    Args:
        facts: what to fit to.

    Returns:
        None if no share is known.
    """
    candidates = [_modelled(facts, float(skew)) for skew in SKEWS]
    if not candidates[0].figures:
        return None
    best = min(candidates, key=_misfit)
    alike = [each.skew for each in candidates if _misfit(each) <= _TOLERANCE * each.figures[0][2]]
    return replace(best, min_skew=min([*alike, best.skew]), max_skew=max([*alike, best.skew]))


def _misfit(fitted: FittedSkew) -> float:
    """Returns the difference between the fitted share and the store's."""
    _, model, found = fitted.figures[0]
    return abs(model - found)


def _modelled(facts: CacheFacts, skew: float) -> FittedSkew:
    """Returns the model's shares at a skew."""
    figures = []
    if facts.memtable_hit_share is not None and facts.memtable_entries is not None:
        model = _memtable_share(facts, skew, facts.memtable_entries)
        figures.append(("memtables", model, facts.memtable_hit_share))
    if facts.cache_hit_share is not None and facts.cache_bytes is not None:
        model = _cache_share(facts, skew, facts.cache_bytes)
        figures.append(("block cache", model, facts.cache_hit_share))
    error = max((abs(model - found) for _, model, found in figures), default=0.0)
    return FittedSkew(skew, skew, skew, error, tuple(figures))


def _memtable_share(facts: CacheFacts, skew: float, entries: float) -> float:
    """Returns the share of lookups whose key is among the last `entries` writes."""
    counts, probabilities = zipf_popularity(skew, facts.keys)
    return float(np.sum(counts * probabilities * -np.expm1(-probabilities * entries)))


def _cache_share(facts: CacheFacts, skew: float, cache_bytes: int) -> float:
    """Returns the share of block accesses that an LRU cache answers, by Che's approximation."""
    counts, probabilities = zipf_popularity(skew, facts.keys)
    per_block = max(1.0, facts.block_bytes / facts.entry_bytes)
    blocks = max(1.0, facts.keys / per_block)
    # Hot keys are scattered: each of the hottest lies in a block of its own, with others of mean popularity.
    held = np.minimum(counts, np.maximum(0, blocks - np.concatenate([[0], np.cumsum(counts)[:-1]])))
    hot = float(np.sum(held * probabilities))
    popularity = probabilities + max(0.0, 1 - hot) / blocks
    fits = cache_bytes / facts.block_bytes
    if fits >= blocks:
        return 1.0

    def cached(age: float) -> float:
        return float(np.sum(held * -np.expm1(-popularity * age))) - fits

    if cached(_MAX_AGES) <= 0:
        return 1.0
    age = brentq(cached, 0, _MAX_AGES, xtol=1e-6, rtol=1e-10)
    return float(np.sum(held * popularity * -np.expm1(-popularity * age)))
