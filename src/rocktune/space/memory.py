"""The memory budget: what memtables, filters and the block cache may use together."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rocktune.lsm.arrays import Numbers, Reals, real

# Table 1's range of the cache is 384 to 1024 MB of the paper's 1000 MB. The upper end is never reached.
_SMALLEST_CACHE_SHARE = 0.384


@dataclass(frozen=True)
class MemoryBudget:
    """Shares a budget out: memtables and filters take what they need, the block cache gets the rest.

    Dremel's rule 4 (section 4.2), with the block cache left out of the search: 616 = 1000 - 6 * 64 MiB, less
    the filters.

    Attributes:
        memory_bytes: the budget.
        expected_entries: keys that have filter bits by the end of a full-length run.
        filter_bits: which value is the filters' bits per key; an FLSM store has its own.
    """

    memory_bytes: int
    expected_entries: float
    filter_bits: str = "bloom_bits"

    @property
    def smallest_cache_bytes(self) -> float:
        """The least that must be left for the block cache, in proportion to table 1's 384 of 1000 MiB."""
        return _SMALLEST_CACHE_SHARE * self.memory_bytes

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
        return self.block_cache_bytes(values) >= self.smallest_cache_bytes

    def smallest_sufficient_bytes(self, memtable_bytes: float, bits_per_key: float) -> int:
        """Returns the smallest budget that holds these memtables and filters."""
        needed = memtable_bytes + float(self.filter_bytes(bits_per_key))
        return int(np.ceil(needed / (1 - _SMALLEST_CACHE_SHARE)))
