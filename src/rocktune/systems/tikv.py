"""TiKV's names, units and constants of RocksDB options, from its src/config/mod.rs."""

from rocktune.systems.rules import UNCHANGED, Rule, Settings, named
from rocktune.systems.values import (
    INT_MAX,
    Codec,
    NotExpressibleError,
    choice,
    decimal,
    filter_in,
    quoted,
    size,
    switch,
    whole,
)

# TiKV's GB and MB are powers of two, like RocksDB's.
_SIZE = quoted(size((("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10), ("B", 1))))
_COUNT = whole(0, INT_MAX)
_MAX_LEVELS = 7
COMPRESSIONS = {
    "kNoCompression": "no",
    "kSnappyCompression": "snappy",
    "kZlibCompression": "zlib",
    "kBZip2Compression": "bzip2",
    "kLZ4Compression": "lz4",
    "kLZ4HCCompression": "lz4hc",
    "kZSTD": "zstd",
    "kDisableCompressionOption": "disable",
}


def _kebab(*names: str, codec: Codec) -> dict[str, Rule]:
    """Returns rules for options whose TiKV name is RocksDB's with hyphens."""
    return {name: named(name.replace("_", "-"), codec) for name in names}


def _filter_policy(text: str) -> Settings:
    """Returns the keys that switch Bloom filters on, with their bits per key, or off.

    Raises:
        NotExpressibleError: it is a Ribbon filter, or its bits per key are not a whole number.
    """
    kind, bits = filter_in(text)
    if kind == "ribbon":
        raise NotExpressibleError("TiKV needs format-version 5 and ribbon-filter-above-level for it")
    if kind == "none":
        return {"use-bloom-filter": "false"}
    return {"use-bloom-filter": "true", "bloom-filter-bits-per-key": _COUNT(decimal(str(bits)))}


def _compression(text: str) -> Settings:
    """Returns the compression of all levels, and of the last one, which has its own setting."""
    name = quoted(choice(COMPRESSIONS))(text)
    # TiKV's list must have one entry for each of its seven levels.
    levels = ", ".join([name] * _MAX_LEVELS)
    return {"compression-per-level": f"[{levels}]", "bottommost-level-compression": name}


FAMILIES = {"default": "defaultcf", "write": "writecf", "lock": "lockcf", "raft": "raftcf"}
"""TiKV's tables in [rocksdb] by column family."""
CACHE: dict[str, Rule] = {"block_cache": named("capacity", _SIZE)}
DATABASE: dict[str, Rule] = {
    **_kebab("max_background_jobs", "max_background_flushes", codec=whole(1, INT_MAX)),
    "max_subcompactions": named("max-sub-compactions", whole(1, INT_MAX)),
    **_kebab("max_open_files", codec=whole(-1, INT_MAX)),
    **_kebab(
        "max_total_wal_size",
        "compaction_readahead_size",
        "bytes_per_sync",
        "wal_bytes_per_sync",
        "writable_file_max_buffer_size",
        "max_manifest_file_size",
        codec=_SIZE,
    ),
    "db_write_buffer_size": named("write-buffer-limit", _SIZE),
    **_kebab(
        "use_direct_io_for_flush_and_compaction",
        "enable_pipelined_write",
        "allow_concurrent_memtable_write",
        codec=switch(),
    ),
    "unordered_write": named("enable-unordered-write", switch()),
}
FAMILY: dict[str, Rule] = {
    **_kebab(
        "write_buffer_size",
        "max_bytes_for_level_base",
        "target_file_size_base",
        "max_compaction_bytes",
        "soft_pending_compaction_bytes_limit",
        "hard_pending_compaction_bytes_limit",
        "block_size",
        codec=_SIZE,
    ),
    **_kebab(
        "max_write_buffer_number",
        "min_write_buffer_number_to_merge",
        "level0_file_num_compaction_trigger",
        "level0_slowdown_writes_trigger",
        "level0_stop_writes_trigger",
        "max_bytes_for_level_multiplier",
        codec=_COUNT,
    ),
    **_kebab("num_levels", codec=whole(1, _MAX_LEVELS)),
    "level_compaction_dynamic_level_bytes": named("dynamic-level-bytes", switch()),
    **_kebab(
        "disable_auto_compactions",
        "optimize_filters_for_hits",
        "cache_index_and_filter_blocks",
        "whole_key_filtering",
        codec=switch(),
    ),
    "pin_l0_filter_and_index_blocks_in_cache": named("pin-l0-filter-and-index-blocks", switch()),
    "compaction_style": named(
        "compaction-style",
        choice(
            {
                "kCompactionStyleLevel": "0",
                "kCompactionStyleUniversal": "1",
                "kCompactionStyleFIFO": "2",
                "kCompactionStyleNone": "3",
            }
        ),
    ),
    "compaction_pri": named(
        "compaction-pri",
        choice(
            {
                "kByCompensatedSize": "0",
                "kOldestLargestSeqFirst": "1",
                "kOldestSmallestSeqFirst": "2",
                "kMinOverlappingRatio": "3",
            }
        ),
    ),
    "compression": _compression,
    "filter_policy": _filter_policy,
}
FIXED = UNCHANGED | {"memtable_prefix_bloom_size_ratio": "0.1", "use_direct_reads": "false"}
"""Options that TiKV sets to these values, with no setting for them."""
