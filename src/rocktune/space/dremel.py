"""Dremel's space (table 1): fourteen active knobs, the tuning guide's values as defaults."""

from rocktune.space.catalogue import CATALOGUE
from rocktune.space.configuration import OptionMaps
from rocktune.space.knob import Knob
from rocktune.space.memory import MemoryBudget
from rocktune.space.rules import dremel_rules
from rocktune.space.space import Space
from rocktune.units import MIB

DREMEL_MEMORY_BYTES = 1000 * MIB
"""The paper's budget: 616 MiB of cache and six write buffers of 64 MiB."""

FIXED_OPTIONS: OptionMaps = {
    "db": {
        # The device cannot see, and so cannot throttle, what is read through a mapping.
        "allow_mmap_reads": "false",
        # An evicted table reader would be loaded again by user reads, with no knob to answer for it.
        "max_open_files": "-1",
    },
    "cf": {
        # The level knobs mean nothing, or something else, under the other styles.
        "compaction_style": "kCompactionStyleLevel",
        # True since RocksDB 8.4, which would take max_bytes_for_level_base away from the tuner.
        "level_compaction_dynamic_level_bytes": "false",
        # LZ4 since RocksDB 11.5.
        "compression": "kSnappyCompression",
    },
    "table": {
        # Table 1 holds bloom_bits at 10.
        "filter_policy": "bloomfilter:10:false",
        # The budget counts filters beside the block cache, not in it.
        "cache_index_and_filter_blocks": "false",
    },
}
"""What must be equal in every run for figures to compare, also between RocksDB versions.

`compaction_readahead_size` keeps each version's default, 0 on 7.8 and 2 MiB on 11 (docs/design/device.md).
`max_background_jobs` is left out because RocksDB ignores it once flush and compaction threads are given,
which are deprecated but honoured.
"""


def _knobs() -> tuple[Knob, ...]:
    """Returns table 1's knobs with its ranges and defaults; sizes are sampled on whole MiB.

    `block_size` has the powers of two in its range: RocksDB takes any, but pages and sectors are such.
    """
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
    """Returns Dremel's space for a memory budget, which its default may exceed (`with_fitting_default`).

    Args:
        memory_bytes: the budget at full size; the paper's is `DREMEL_MEMORY_BYTES`.
        expected_entries: distinct keys by the end of a full-length run.
        level0_tolerance: rule 8's, at least 2.

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
