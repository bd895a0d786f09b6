"""MyRocks' names and units of RocksDB options, from the system variables of its storage/rocksdb."""

from rocktune.systems.rules import Rule, Settings, named
from rocktune.systems.typed_options import ENUMERATIONS
from rocktune.systems.values import INT_MAX, LONG_MAX, Codec, choice, decimal, filter_in, switch, whole

_COUNT = whole(0, LONG_MAX)
_ON_OFF = switch("ON", "OFF")


def _same(*names: str, codec: Codec) -> dict[str, Rule]:
    """Returns rules for variables whose name is the option's with the prefix rocksdb_."""
    return {name: named(f"rocksdb_{name}", codec) for name in names}


VARIABLES: dict[str, Rule] = {
    "block_cache": named("rocksdb_block_cache_size", whole(1024, LONG_MAX)),
    **_same("max_background_jobs", codec=whole(1, 64)),
    **_same("max_subcompactions", codec=whole(1, 64)),
    **_same("max_open_files", codec=whole(-1, INT_MAX)),
    **_same(
        "block_size",
        "db_write_buffer_size",
        "max_total_wal_size",
        "compaction_readahead_size",
        "bytes_per_sync",
        "wal_bytes_per_sync",
        "delayed_write_rate",
        "block_restart_interval",
        codec=_COUNT,
    ),
    **_same(
        "allow_mmap_reads",
        "allow_mmap_writes",
        "use_direct_reads",
        "use_direct_io_for_flush_and_compaction",
        "allow_concurrent_memtable_write",
        "cache_index_and_filter_blocks",
        "pin_l0_filter_and_index_blocks_in_cache",
        "whole_key_filtering",
        codec=_ON_OFF,
    ),
    "cache_index_and_filter_blocks_with_high_priority": named(
        "rocksdb_cache_index_and_filter_with_high_priority", _ON_OFF
    ),
}
"""Rules for system variables, most of which need a restart to change."""


def _filter_policy(text: str) -> Settings:
    """Returns the filter policy in RocksDB's own notation, "nullptr" for none.

    Raises:
        NotExpressibleError: it is neither a Bloom nor a Ribbon filter.
    """
    return {"filter_policy": "nullptr" if filter_in(text).kind == "none" else text}


def _in_family(*names: str, codec: Codec) -> dict[str, Rule]:
    """Returns rules for column-family options, which keep RocksDB's names."""
    return {name: named(name, codec) for name in names}


FAMILY: dict[str, Rule] = {
    **_in_family(
        "write_buffer_size",
        "max_write_buffer_number",
        "min_write_buffer_number_to_merge",
        "arena_block_size",
        "level0_file_num_compaction_trigger",
        "level0_slowdown_writes_trigger",
        "level0_stop_writes_trigger",
        "num_levels",
        "max_bytes_for_level_base",
        "target_file_size_base",
        "target_file_size_multiplier",
        "max_compaction_bytes",
        "soft_pending_compaction_bytes_limit",
        "hard_pending_compaction_bytes_limit",
        codec=_COUNT,
    ),
    **_in_family(
        "max_bytes_for_level_multiplier",
        "memtable_prefix_bloom_size_ratio",
        codec=decimal,
    ),
    **_in_family("level_compaction_dynamic_level_bytes", "optimize_filters_for_hits", codec=switch()),
    **_in_family(
        "compression",
        "bottommost_compression",
        codec=choice({n: n for n in ENUMERATIONS["CompressionType"]}),
    ),
    "compaction_style": named("compaction_style", choice({n: n for n in ENUMERATIONS["CompactionStyle"]})),
    "compaction_pri": named("compaction_pri", choice({n: n for n in ENUMERATIONS["CompactionPriority"]})),
}
TABLE: dict[str, Rule] = {"filter_policy": _filter_policy}
