"""The memory budget: what memtables, filters and the block cache may use together."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocktune.lsm.arrays import Numbers, Reals, real
from rocktune.space.block_cache import BlockCache

# Table 1's range of the cache is 384 to 1024 MB of the paper's 1000 MB. The upper end is never reached.
MIN_CACHE_SHARE = 0.384


@dataclass(frozen=True)
class MemoryShares:
    """The memory that a configuration may take, at full size.

    Attributes:
        memtable_bytes: all memtables.
        filter_bytes: the filters of all expected keys.
        block_cache: None for a store without one.
    """

    memtable_bytes: int
    filter_bytes: int
    block_cache: BlockCache | None

    @property
    def total_bytes(self) -> int:
        """The sum of the three."""
        cache_bytes = 0 if self.block_cache is None else self.block_cache.capacity_bytes
        return self.memtable_bytes + self.filter_bytes + cache_bytes

    def to_json(self) -> dict[str, Any]:
        """Returns the fields and their sum as JSON data."""
        return {
            "memtable_bytes": self.memtable_bytes,
            "filter_bytes": self.filter_bytes,
            "block_cache": None if self.block_cache is None else self.block_cache.to_json(),
            "total_bytes": self.total_bytes,
        }


@dataclass(frozen=True)
class MemoryBudget:
    """Shares a budget out: memtables and filters take what they need, the block cache gets the rest.

    Dremel's rule 4 (section 4.2), with the block cache left out of the search: 616 = 1000 - 6 * 64 MiB, less
    the filters.

    Attributes:
        memory_bytes: the budget.
        expected_entries: keys that have filter bits by the end of a full-length run.
        filter_bits: which value is the filters' bits per key; an FLSM store has its own.
        min_cache_share: of the budget, which must be left for the block cache.
    """

    memory_bytes: int
    expected_entries: float
    filter_bits: str = "bloom_bits"
    min_cache_share: float = MIN_CACHE_SHARE

    @property
    def min_cache_bytes(self) -> int:
        """The least that must be left for the block cache, in proportion to table 1's 384 of 1000 MiB."""
        # Whole bytes: a share that was worked out of a cache's size must not come to a hair more than it.
        return math.floor(self.min_cache_share * self.memory_bytes)

    def filter_bytes(self, bits_per_key: Numbers) -> Reals:
        """Returns what the filters take: bits per key, for all expected keys."""
        return np.ceil(real(bits_per_key) * self.expected_entries / 8)

    def block_cache_bytes(self, values: Mapping[str, Numbers]) -> Reals:
        """Returns what is left for the block cache; negative where the budget does not suffice.

        Args:
            values: `max_write_buffer_number`, `write_buffer_size` in bytes and `filter_bits`.
        """
        memtables = real(values["max_write_buffer_number"]) * values["write_buffer_size"]
        return self.memory_bytes - memtables - self.filter_bytes(values[self.filter_bits])

    def suffices(self, values: Mapping[str, Numbers]) -> NDArray[np.bool_]:
        """Tells where enough is left for the block cache."""
        return self.block_cache_bytes(values) >= self.min_cache_bytes

    def min_sufficient_bytes(self, memtable_bytes: float, bits_per_key: float) -> int:
        """Returns the smallest budget that holds these memtables and filters."""
        needed = memtable_bytes + float(self.filter_bytes(bits_per_key))
        return int(np.ceil(needed / (1 - self.min_cache_share)))
