"""The skew that is fitted to hits of caches."""

from collections import OrderedDict

import numpy as np
import pytest

from rocktune.analysis.profile.cache_skew import CacheFacts, fitted_skew

KEYS = 20_000
PER_BLOCK = 10
CACHE_BLOCKS = 200
MEMTABLE_ENTRIES = 1_000


def draws(skew: float, number: int, seed: int) -> np.ndarray:
    """Returns keys of a scattered Zipf law, whose hot keys are the same with each seed."""
    weights = np.arange(1, KEYS + 1) ** -skew
    places = np.random.default_rng(7).permutation(KEYS)
    random = np.random.default_rng(seed)
    return places[random.choice(KEYS, number, p=weights / weights.sum())]


def memtable_share(skew: float) -> float:
    """Returns the share of lookups that a memtable of the last writes answers, by simulation."""
    written = draws(skew, 20 * MEMTABLE_ENTRIES, 1).reshape(20, MEMTABLE_ENTRIES)
    read = draws(skew, 20 * MEMTABLE_ENTRIES, 2).reshape(20, MEMTABLE_ENTRIES)
    return float(
        np.mean([np.isin(reads, writes).mean() for reads, writes in zip(read, written, strict=True)])
    )


def cache_share(skew: float) -> float:
    """Returns the share of block accesses that an LRU cache answers, by simulation."""
    cache: OrderedDict[int, None] = OrderedDict()
    hits = 0
    accesses = [int(key) // PER_BLOCK for key in draws(skew, 60_000, 3)]
    for number, block in enumerate(accesses):
        hits += block in cache and number >= len(accesses) // 2
        cache[block] = None
        cache.move_to_end(block)
        if len(cache) > CACHE_BLOCKS:
            cache.popitem(last=False)
    return hits / (len(accesses) / 2)


def facts(cache: float | None, memtable: float | None) -> CacheFacts:
    return CacheFacts(
        keys=KEYS,
        entry_bytes=400,
        block_bytes=400 * PER_BLOCK,
        cache_bytes=400 * PER_BLOCK * CACHE_BLOCKS,
        cache_hit_share=cache,
        memtable_entries=MEMTABLE_ENTRIES,
        memtable_hit_share=memtable,
    )


@pytest.mark.parametrize("skew", [0.0, 0.5, 0.8, 0.99])
def test_simulated_memtables_give_their_skew_back(skew: float) -> None:
    fitted = fitted_skew(facts(None, memtable_share(skew)))
    assert fitted is not None
    assert fitted.min_skew <= skew <= fitted.max_skew
    assert fitted.skew == pytest.approx(skew, abs=0.03 if skew >= 0.5 else 0.3)


@pytest.mark.parametrize("skew", [0.5, 0.8, 0.99])
def test_a_simulated_lru_cache_gives_its_skew_back(skew: float) -> None:
    fitted = fitted_skew(facts(cache_share(skew), None))
    assert fitted is not None
    assert fitted.skew == pytest.approx(skew, abs=0.05)


def test_the_second_figure_checks_the_fit() -> None:
    both = fitted_skew(facts(cache_share(0.8), memtable_share(0.8)))
    assert both is not None
    assert both.error < 0.05
    contradicted = fitted_skew(facts(0.02, memtable_share(0.8)))
    assert contradicted is not None
    assert contradicted.skew == both.skew
    assert contradicted.error > 0.2


def test_without_hits_nothing_is_fitted() -> None:
    assert fitted_skew(facts(None, None)) is None


def test_a_cache_for_all_blocks_answers_all() -> None:
    fitted = fitted_skew(CacheFacts(10, 400, 4000, 1 << 30, 1.0, None, None))
    assert fitted is not None
    assert (fitted.error, fitted.min_skew, fitted.max_skew) == (0.0, 0.0, 0.99)
