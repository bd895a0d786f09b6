"""Kvrocks' names, units and constants of RocksDB options, from its config.cc and storage.cc."""

from rocktune.systems.rules import UNCHANGED, Rule, Settings, named
from rocktune.systems.values import LONG_MAX, UNSIGNED_LONG_MAX, Codec, choice, switch, whole, whole_mebibytes
from rocktune.units import MIB

PREFIX = "rocksdb."
LEVELS = 7
DEFAULT_START_LEVEL = 2
"""The first level that Kvrocks compresses unless its file says otherwise."""
LEVELED = "kCompactionStyleLevel"

COMPRESSIONS = {
    "kNoCompression": "no",
    "kSnappyCompression": "snappy",
    "kZlibCompression": "zlib",
    "kLZ4Compression": "lz4",
    "kZSTD": "zstd",
}


def _compression(text: str) -> Settings:
    """Returns the compression of all levels. By default Kvrocks would leave the first two uncompressed."""
    return {
        PREFIX + "compression": choice(COMPRESSIONS)(text),
        PREFIX + "compression_start_level": "0",
    }


def _same(*names: str, codec: Codec) -> dict[str, Rule]:
    """Returns rules for options whose Kvrocks name is RocksDB's with the prefix `rocksdb.`."""
    return {name: named(PREFIX + name, codec) for name in names}


RULES: dict[str, Rule] = {
    "block_cache": named(PREFIX + "block_cache_size", whole_mebibytes()),
    # The bounds are those that Kvrocks checks when it reads the file; it does not start with others.
    **_same("write_buffer_size", codec=whole_mebibytes(1, 4096)),
    **_same("target_file_size_base", codec=whole_mebibytes(1, 1024)),
    **_same("max_total_wal_size", codec=whole_mebibytes()),
    **_same("max_write_buffer_number", "min_write_buffer_number_to_merge", codec=whole(1, 256)),
    **_same("max_open_files", codec=whole(-1)),
    **_same("max_background_jobs", codec=whole(1, 32)),
    **_same("max_background_compactions", "max_background_flushes", codec=whole(-1, 32)),
    **_same("max_subcompactions", codec=whole(0, 16)),
    **_same(
        "level0_file_num_compaction_trigger",
        "level0_slowdown_writes_trigger",
        "level0_stop_writes_trigger",
        codec=whole(1, 1024),
    ),
    **_same("max_bytes_for_level_base", codec=whole(1, LONG_MAX)),
    **_same("max_bytes_for_level_multiplier", codec=whole(1, 100)),
    **_same("max_compaction_bytes", "delayed_write_rate", codec=whole(0, LONG_MAX)),
    **_same("periodic_compaction_seconds", "ttl", codec=whole(0, UNSIGNED_LONG_MAX)),
    **_same("compaction_readahead_size", codec=whole(0, 64 * MIB)),
    **_same("block_size", codec=whole(1)),
    **_same("min_blob_size", "blob_file_size", codec=whole(0)),
    **_same(
        "cache_index_and_filter_blocks",
        "partition_filters",
        "enable_pipelined_write",
        "level_compaction_dynamic_level_bytes",
        "disable_auto_compactions",
        "enable_blob_files",
        "enable_blob_garbage_collection",
        codec=switch("yes", "no"),
    ),
    "compression": _compression,
}
"""Rules with Kvrocks' names, units and ranges, from its src/config/config.cc."""

FIXED = UNCHANGED | {
    "compaction_style": LEVELED,
    "filter_policy": "bloomfilter:10:false",
    "format_version": "5",
    "metadata_block_size": "4096",
    "num_levels": str(LEVELS),
}
"""Options that Kvrocks sets itself, from its src/storage/storage.cc."""
