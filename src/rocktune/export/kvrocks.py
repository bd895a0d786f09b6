"""Exports to Kvrocks' kvrocks.conf."""

from rocktune.errors import UserError
from rocktune.export.rules import UNCHANGED, Rule, Settings, flat, named, translated
from rocktune.export.target import Found, Target, head
from rocktune.export.values import (
    LONG_MAX,
    UNSIGNED_LONG_MAX,
    Writer,
    choice,
    switch,
    whole,
    whole_mebibytes,
)
from rocktune.units import MIB

_PREFIX = "rocksdb."
_LEVELED = "kCompactionStyleLevel"

_COMPRESSIONS = {
    "kNoCompression": "no",
    "kSnappyCompression": "snappy",
    "kZlibCompression": "zlib",
    "kLZ4Compression": "lz4",
    "kZSTD": "zstd",
}


def _compression(text: str) -> Settings:
    """Returns the compression of all levels. By default Kvrocks would leave the first two uncompressed."""
    return {
        _PREFIX + "compression": choice(_COMPRESSIONS)(text),
        _PREFIX + "compression_start_level": "0",
    }


def _same(*names: str, writer: Writer) -> dict[str, Rule]:
    """Returns rules for options whose Kvrocks name is RocksDB's with the prefix `rocksdb.`."""
    return {name: named(_PREFIX + name, writer) for name in names}


_RULES: dict[str, Rule] = {
    "block_cache": named(_PREFIX + "block_cache_size", whole_mebibytes()),
    # The bounds are those that Kvrocks checks when it reads the file; it does not start with others.
    **_same("write_buffer_size", writer=whole_mebibytes(1, 4096)),
    **_same("target_file_size_base", writer=whole_mebibytes(1, 1024)),
    **_same("max_total_wal_size", writer=whole_mebibytes()),
    **_same("max_write_buffer_number", "min_write_buffer_number_to_merge", writer=whole(1, 256)),
    **_same("max_open_files", writer=whole(-1)),
    **_same("max_background_jobs", writer=whole(1, 32)),
    **_same("max_background_compactions", "max_background_flushes", writer=whole(-1, 32)),
    **_same("max_subcompactions", writer=whole(0, 16)),
    **_same(
        "level0_file_num_compaction_trigger",
        "level0_slowdown_writes_trigger",
        "level0_stop_writes_trigger",
        writer=whole(1, 1024),
    ),
    **_same("max_bytes_for_level_base", writer=whole(1, LONG_MAX)),
    **_same("max_bytes_for_level_multiplier", writer=whole(1, 100)),
    **_same("max_compaction_bytes", "delayed_write_rate", writer=whole(0, LONG_MAX)),
    **_same("periodic_compaction_seconds", "ttl", writer=whole(0, UNSIGNED_LONG_MAX)),
    **_same("compaction_readahead_size", writer=whole(0, 64 * MIB)),
    **_same("block_size", writer=whole(1)),
    **_same("min_blob_size", "blob_file_size", writer=whole(0)),
    **_same(
        "cache_index_and_filter_blocks",
        "partition_filters",
        "enable_pipelined_write",
        "level_compaction_dynamic_level_bytes",
        "disable_auto_compactions",
        "enable_blob_files",
        "enable_blob_garbage_collection",
        writer=switch("yes", "no"),
    ),
    "compression": _compression,
}
"""Rules with Kvrocks' names, units and ranges, from its src/config/config.cc."""

_FIXED = UNCHANGED | {
    "compaction_style": _LEVELED,
    "filter_policy": "bloomfilter:10:false",
    "format_version": "5",
    "metadata_block_size": "4096",
    "num_levels": "7",
}
"""Options that Kvrocks sets itself, from its src/storage/storage.cc."""

_NOTES = (
    "block_cache_size, write_buffer_size, target_file_size_base and max_total_wal_size are in MB, rounded"
    " down; the other sizes are in bytes",
    "Kvrocks has several column families, each with its own memtables (strings are in metadata, elements of"
    " other types in the default one), and one block cache for all",
    "max_background_compactions and max_background_flushes are deprecated; unless they are -1, they"
    " override max_background_jobs",
    "Older releases skip unknown keys with a warning: 2.10 merges 2 memtables, compresses only"
    " level 2 and below, and refuses a max_bytes_for_level_base above 2147483647",
    "max-io-mb limits the rate of flushes and compactions; 0 is no limit",
)


def _write(found: Found) -> str:
    """Returns the lines of kvrocks.conf.

    Raises:
        UserError: the configuration does not use leveled compaction.
    """
    style = found.options.get("cf", {}).get("compaction_style", _LEVELED)
    if style != _LEVELED:
        raise UserError(f"kvrocks: Kvrocks has only leveled compaction, and the study's is {style}")
    done = translated(flat(found.options), _RULES, _FIXED)
    lines = [
        *head(found, "#", "Kvrocks, kvrocks.conf (names of 2025)", _NOTES, done.unmapped),
        "",
        *(f"{name} {value}" for name, value in done.settings.items()),
    ]
    return "\n".join(lines) + "\n"


TARGET = Target("kvrocks", "Kvrocks' kvrocks.conf", _write)
