"""The memory budget that memtables, filters and the block cache share."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocktune.lsm.arrays import Numbers, Reals, real
from rocktune.space.block_cache import BlockCache

# Dremel's table 1 lets the cache have 384 to 1024 MB of a budget of 1000 MB. The upper end is never reached.
MIN_CACHE_SHARE = 0.384


@dataclass(frozen=True)
class MemoryShares:
    """The memory that a configuration may use, in bytes at full size.

    Attributes:
        memtable_bytes: all memtables together.
        filter_bytes: the filters of all expected keys.
        block_cache: the block cache; None if the store has none.
    """

    memtable_bytes: int
    filter_bytes: int
    block_cache: BlockCache | None

    @property
    def total_bytes(self) -> int:
        """The sum of memtables, filters and block cache."""
        cache_bytes = 0 if self.block_cache is None else self.block_cache.capacity_bytes
        return self.memtable_bytes + self.filter_bytes + cache_bytes

    def to_json(self) -> dict[str, Any]:
        """Returns the shares and their sum as a JSON object, the form of `rocktune.outcome.Memory`."""
        return {
            "memtable_bytes": self.memtable_bytes,
            "filter_bytes": self.filter_bytes,
            "block_cache": None if self.block_cache is None else self.block_cache.to_json(),
            "total_bytes": self.total_bytes,
        }


@dataclass(frozen=True)
class FamilyEntries:
    """A column family whose options are knobs of their own.

    Attributes:
        name: name of the family.
        expected_entries: distinct keys in the family by the end of a full-length run, at full size.
    """

    name: str
    expected_entries: float

    def own(self, knob: str) -> str:
        """Returns the name of the family's own knob."""
        return f"{self.name}.{knob}"


@dataclass(frozen=True)
class MemoryBudget:
    """A memory budget: memtables and filters take what they need, the block cache gets the rest.

    This is Dremel's rule 4 (section 4.2) without the cache size as a knob: of 1000 MiB, six write buffers of
    64 MiB leave 616 MiB for filters and cache.

    Attributes:
        memory_bytes: the budget in bytes at full size.
        expected_entries: keys with filter bits by the end of a full-length run, at full size.
        filter_bits: name of the knob that holds the filters' bits per key; FLSM stores have another one.
        min_cache_share: smallest share of the budget, from 0 to 1, that a valid configuration leaves for the
            block cache.
        families: the column families that share the budget, each with knobs of its own; empty for one family.
        filters_in_cache: whether filters lie in the block cache, which then is larger by their size. A valid
            configuration's cache holds them and `min_cache_bytes` of other blocks.
    """

    memory_bytes: int
    expected_entries: float
    filter_bits: str = "bloom_bits"
    min_cache_share: float = MIN_CACHE_SHARE
    families: tuple[FamilyEntries, ...] = ()
    filters_in_cache: bool = False

    @property
    def min_cache_bytes(self) -> int:
        """The smallest block cache in bytes that a valid configuration leaves."""
        # Rounded down: a share calculated from a cache's size must not demand a fraction more than that size.
        return math.floor(self.min_cache_share * self.memory_bytes)

    def filter_bytes(self, bits_per_key: Numbers) -> Reals:
        """Returns the bytes of the filters of all expected keys."""
        return np.ceil(real(bits_per_key) * self.expected_entries / 8)

    def parts(self) -> tuple[tuple[str, "MemoryBudget"], ...]:
        """Returns what precedes the names of each family's knobs, with a budget for its entries."""
        if not self.families:
            return (("", self),)
        return tuple(
            (family.own(""), replace(self, expected_entries=family.expected_entries, families=()))
            for family in self.families
        )

    def memtable_bytes(self, values: Mapping[str, Numbers]) -> Reals:
        """Returns the bytes of all memtables; see `block_cache_bytes`."""
        return sum(
            (
                real(values[f"{prefix}max_write_buffer_number"]) * values[f"{prefix}write_buffer_size"]
                for prefix, _ in self.parts()
            ),
            start=real(0),
        )

    def all_filter_bytes(self, values: Mapping[str, Numbers]) -> Reals:
        """Returns the bytes of the filters of all families; see `block_cache_bytes`."""
        return sum(
            (part.filter_bytes(values.get(prefix + self.filter_bits, 0.0)) for prefix, part in self.parts()),
            start=real(0),
        )

    def block_cache_bytes(self, values: Mapping[str, Numbers]) -> Reals:
        """Returns the bytes left for the block cache; negative if what else there is exceeds the budget.

        Args:
            values: by knob name; must hold `max_write_buffer_number`, `write_buffer_size` in bytes, and the
                knob that `filter_bits` names, of each family.
        """
        return self.memory_bytes - self.memtable_bytes(values) - self.filter_bytes_outside(values)

    def filter_bytes_outside(self, values: Mapping[str, Numbers]) -> Reals:
        """Returns the bytes of the filters that do not lie in the block cache; see `block_cache_bytes`."""
        return real(0) if self.filters_in_cache else self.all_filter_bytes(values)

    def suffices(self, values: Mapping[str, Numbers]) -> NDArray[np.bool_]:
        """Returns whether each configuration leaves at least `min_cache_bytes` for data blocks."""
        taken = self.memtable_bytes(values) + self.all_filter_bytes(values)
        return self.memory_bytes - taken >= self.min_cache_bytes

    def min_sufficient_bytes(self, values: Mapping[str, Numbers]) -> int:
        """Returns the smallest budget in bytes that holds the memtables and filters and a valid cache.

        Args:
            values: one configuration's; see `block_cache_bytes`.
        """
        # The cache's minimum is a share of the budget, which therefore is the rest divided by what remains.
        needed = float(self.memtable_bytes(values)) + float(self.all_filter_bytes(values))
        return int(np.ceil(needed / (1 - self.min_cache_share)))
