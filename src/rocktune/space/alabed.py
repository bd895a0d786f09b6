"""Alabed and Yoneki's space (table 2): ten knobs with wide bounds, some beyond what RocksDB accepts."""

from rocktune.space.catalogue import CATALOGUE
from rocktune.space.configuration import OptionMaps
from rocktune.space.space import Space

ALABED_MEMORY_BYTES = 16 << 30
"""The memory of their machine (section 4.1.4); the paper states no budget for the store."""

FIXED_OPTIONS: OptionMaps = {
    "db": {"allow_mmap_reads": "false", "max_open_files": "-1"},
    "cf": {
        "compaction_style": "kCompactionStyleLevel",
        # RocksDB 6.17's defaults, which later versions changed.
        "level_compaction_dynamic_level_bytes": "false",
        "compression": "kSnappyCompression",
    },
    # Listing 1 sets the cache; db_bench keeps index blocks outside it, and has no filters.
    "table": {"block_cache": str(256 << 20), "cache_index_and_filter_blocks": "false"},
}

_RANGES = (
    ("max_background_compactions", 1, 256, 1),
    ("max_background_flushes", 1, 10, 1),
    ("write_buffer_size", 1, 150_000_000, 67_108_864),
    ("max_write_buffer_number", 1, 128, 2),
    ("min_write_buffer_number_to_merge", 1, 32, 1),
    ("max_bytes_for_level_multiplier", 5, 15, 10),
    ("block_size", 1, 500_000, 4096),
    ("level0_file_num_compaction_trigger", 1, 256, 4),
    # The table's default is 0, outside its own range; RocksDB's is 20.
    ("level0_slowdown_writes_trigger", 1, 1024, 20),
    ("level0_stop_writes_trigger", 1, 1024, 36),
)
"""Table 2: name, minimum, maximum, default. Each is a whole number and sampled in steps of 1."""


def alabed_space(memory_bytes: int, expected_entries: float) -> Space:
    """Returns Alabed and Yoneki's space.

    It has no rules. RocksDB changes or refuses values that contradict each other.

    Args:
        memory_bytes: the memory budget in bytes at full size. A run that exceeds it by far ends as
            `out_of_memory`.
        expected_entries: distinct keys in the store by the end of a full-length run, at full size.
    """
    return Space(
        name="alabed",
        summary="Alabed and Yoneki's table 2: memtables, level 0, threads, blocks (10 knobs, no rules)",
        knobs=tuple(
            CATALOGUE[name].narrowed(low=low, high=high, default=default, step=1)
            for name, low, high, default in _RANGES
        ),
        memory_bytes=memory_bytes,
        fixed_options=FIXED_OPTIONS,
        expected_entries=expected_entries,
    )
