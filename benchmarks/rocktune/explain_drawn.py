"""Stores for `explain` that nobody chose: variants of those in `explain_stores.py`, drawn by rule.

The rule, which is fixed before anything is measured:

- Each store appears once, with a RocksDB, a factor of its value sizes and one of its rates that a hash of the
  draw's number and the store's name decides. Entries shrink in number as values grow, so that the data stays
  as large. Rates of load and device have one factor, so that the planted cause stays the same.
- Of each cause's two stores the hash decides which one is held out; of the healthy ones it holds out half.

Thresholds may be changed after looking at the chosen half alone. Once the figures of a held-out half are
known, it is used up, and later thresholds need another draw.
"""

import hashlib
import random
from collections.abc import Sequence
from dataclasses import replace

from benchmarks.rocktune.explain_stores import GOOD, HEALTHY, PLANTED, Flags, Store

VERSIONS = ("7.8.3", "8.6.7", "9.9.3", "11.8.1")
VALUE_FACTORS = (0.5, 0.75, 1.0, 1.5, 2.0)
RATE_FACTORS = (0.7, 0.85, 1.0, 1.2, 1.4)
_RATES = ("rate_limiter_bytes_per_sec", "benchmark_write_rate_limit")
_COUNTS = ("num", "deletes")


def drawn_stores(draw: int) -> tuple[Store, ...]:
    """Returns the stores of a draw.

    Args:
        draw: number of the draw; equal numbers give equal stores.
    """
    causes = dict.fromkeys(store.cause for store in PLANTED)
    pairs = [[store for store in PLANTED if store.cause == cause] for cause in causes]
    return tuple(store for group in (*pairs, list(HEALTHY)) for store in _split(group, draw))


def _split(stores: Sequence[Store], draw: int) -> list[Store]:
    """Returns variants of stores; the half with the smaller hashes is held out."""
    by_hash = sorted(stores, key=lambda store: _hash(draw, store.name))
    held_out = {store.name for store in by_hash[: len(by_hash) // 2]}
    return [_variant(store, draw, store.name in held_out) for store in stores]


def _hash(draw: int, name: str) -> int:
    """Returns a number that the draw and a store's name decide."""
    return int.from_bytes(hashlib.sha256(f"{draw} {name}".encode()).digest()[:8], "big")


def _variant(store: Store, draw: int, held_out: bool) -> Store:
    """Returns a store with a drawn version, value size and rate."""
    rng = random.Random(_hash(draw, f"variant of {store.name}"))
    version, values, rates = rng.choice(VERSIONS), rng.choice(VALUE_FACTORS), rng.choice(RATE_FACTORS)
    name = f"draw-{draw}-{store.name}"
    varied = replace(store, name=name, version=version, held_out=held_out)
    if store.workload:
        return replace(varied, rate_ops_s=store.rate_ops_s * rates)
    return replace(varied, flags=_scaled(store.flags, values, rates))


def _scaled(flags: Flags, values: float, rates: float) -> Flags:
    """Returns db_bench's flags with other value sizes and rates; a rate of 0 stays without limit."""
    all_flags = GOOD | flags
    scaled: Flags = {"value_size": round(int(all_flags["value_size"]) * values)}
    scaled |= {name: round(int(all_flags[name]) / values) for name in _COUNTS if name in all_flags}
    scaled |= {name: round(int(all_flags[name]) * rates) for name in _RATES if name in all_flags}
    return flags | scaled
