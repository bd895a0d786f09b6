"""Dremel's space (table 1): fourteen knobs with the values of RocksDB's tuning guide as defaults."""

from rocktune.space.catalogue import CATALOGUE
from rocktune.space.configuration import OptionMaps
from rocktune.space.knob import Knob
from rocktune.space.memory import MemoryBudget
from rocktune.space.rules import dremel_rules
from rocktune.space.space import Space
from rocktune.units import MIB

DREMEL_MEMORY_BYTES = 1000 * MIB
"""The paper's budget: 616 MiB for the block cache and six write buffers of 64 MiB."""

FIXED_OPTIONS: OptionMaps = {
    "db": {
        # The throttled file system does not see reads through a memory mapping.
        "allow_mmap_reads": "false",
        # With a limit, user reads would load evicted table readers again, a cost that no knob explains.
        "max_open_files": "-1",
    },
    "cf": {
        # The level knobs have no meaning, or another one, under other compaction styles.
        "compaction_style": "kCompactionStyleLevel",
        # True by default since RocksDB 8.4; max_bytes_for_level_base would then have almost no effect.
        "level_compaction_dynamic_level_bytes": "false",
        # The default is LZ4 since RocksDB 11.5.
        "compression": "kSnappyCompression",
    },
    "table": {
        # Table 1 fixes bloom_bits at 10.
        "filter_policy": "bloomfilter:10:false",
        # The memory budget counts filters separately from the block cache.
        "cache_index_and_filter_blocks": "false",
    },
}
"""Options that all runs share, so that their figures compare, also between RocksDB versions.

`compaction_readahead_size` keeps each version's default, 0 on 7.8 and 2 MiB on 11 (docs/design/device.md).
`max_background_jobs` is absent because RocksDB ignores it if the numbers of flush and compaction threads are
set. These options are deprecated, but RocksDB still honours them.
"""


def _knobs() -> tuple[Knob, ...]:
    """Returns table 1's knobs with the paper's ranges and defaults. Sizes are sampled in whole MiB.

    `block_size` takes only powers of two, like the pages and sectors that blocks are read from.
    """
    # Name, minimum, maximum, default.
    ranges: tuple[tuple[str, int, int, int], ...] = (
        ("level0_file_num_compaction_trigger", 2, 16, 4),
        ("level0_slowdown_writes_trigger", 6, 20, 8),
        ("level0_stop_writes_trigger", 10, 24, 16),
        ("max_bytes_for_level_multiplier", 4, 16, 10),
        ("max_bytes_for_level_base", 64 * MIB, 2048 * MIB, 256 * MIB),
        ("target_file_size_multiplier", 1, 8, 1),
        ("target_file_size_base", 32 * MIB, 128 * MIB, 64 * MIB),
        ("num_levels", 2, 10, 10),
        ("max_write_buffer_number", 2, 8, 6),
        ("write_buffer_size", 32 * MIB, 80 * MIB, 64 * MIB),
        ("min_write_buffer_number_to_merge", 1, 4, 2),
        ("max_background_compactions", 1, 8, 1),
        ("max_background_flushes", 1, 4, 1),
    )
    numbers = (
        CATALOGUE[name].narrowed(low=low, high=high, default=default) for name, low, high, default in ranges
    )
    blocks = CATALOGUE["block_size"].narrowed(choices=(2048, 4096, 8192, 16384), default=4096)
    return (*numbers, blocks)


def dremel_space(memory_bytes: int, expected_entries: float, level0_tolerance: float = 2.0) -> Space:
    """Returns Dremel's space for a memory budget.

    The default configuration may exceed the budget; `with_fitting_default` adapts it.

    Args:
        memory_bytes: the memory budget in bytes at full size; the paper's is `DREMEL_MEMORY_BYTES`.
        expected_entries: distinct keys in the store by the end of a full-length run, at full size.
        level0_tolerance: tolerance of rule 8, at least 2.

    Raises:
        UserError: the tolerance is too small.
    """
    return Space(
        name="dremel",
        summary="Dremel's table 1: levels, memtables, block size, background threads (14 knobs)",
        knobs=_knobs(),
        memory_bytes=memory_bytes,
        fixed_options=FIXED_OPTIONS,
        expected_entries=expected_entries,
        rules=dremel_rules(MemoryBudget(memory_bytes, expected_entries), level0_tolerance),
        default_source="tuning_guide",
    )
