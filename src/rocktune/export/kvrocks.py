"""Kvrocks' kvrocks.conf."""

from rocktune.errors import UserError
from rocktune.export.rules import UNCHANGED, Rule, flat, named, translated
from rocktune.export.target import Found, Target, head
from rocktune.export.values import LONG_MAX, choice, switch, whole, whole_mebibytes

_PREFIX = "rocksdb."
_LEVELED = "kCompactionStyleLevel"
_YES_NO = switch("yes", "no")

_RULES: dict[str, Rule] = {
    name: named(_PREFIX + key, writer)
    for name, key, writer in (
        ("block_cache", "block_cache_size", whole_mebibytes()),
        ("max_open_files", "max_open_files", whole(-1)),
        ("write_buffer_size", "write_buffer_size", whole_mebibytes(1, 4096)),
        ("max_write_buffer_number", "max_write_buffer_number", whole(1, 256)),
        ("target_file_size_base", "target_file_size_base", whole_mebibytes(1, 1024)),
        ("max_background_jobs", "max_background_jobs", whole(1, 32)),
        ("max_background_compactions", "max_background_compactions", whole(-1, 32)),
        ("max_background_flushes", "max_background_flushes", whole(-1, 32)),
        ("max_subcompactions", "max_subcompactions", whole(0, 16)),
        ("max_total_wal_size", "max_total_wal_size", whole_mebibytes(1)),
        ("block_size", "block_size", whole(1)),
        ("cache_index_and_filter_blocks", "cache_index_and_filter_blocks", _YES_NO),
        ("compaction_readahead_size", "compaction_readahead_size", whole(0, 64 << 20)),
        ("delayed_write_rate", "delayed_write_rate", whole(0, LONG_MAX)),
        ("enable_pipelined_write", "enable_pipelined_write", _YES_NO),
        ("level0_slowdown_writes_trigger", "level0_slowdown_writes_trigger", whole(1, 1024)),
        ("level0_stop_writes_trigger", "level0_stop_writes_trigger", whole(1, 1024)),
        ("level0_file_num_compaction_trigger", "level0_file_num_compaction_trigger", whole(1, 1024)),
        ("level_compaction_dynamic_level_bytes", "level_compaction_dynamic_level_bytes", _YES_NO),
        ("max_bytes_for_level_base", "max_bytes_for_level_base", whole(1)),
        ("max_bytes_for_level_multiplier", "max_bytes_for_level_multiplier", whole(1, 100)),
        ("disable_auto_compactions", "disable_auto_compactions", _YES_NO),
        ("enable_blob_files", "enable_blob_files", _YES_NO),
        ("min_blob_size", "min_blob_size", whole(0)),
        ("blob_file_size", "blob_file_size", whole(0)),
        ("enable_blob_garbage_collection", "enable_blob_garbage_collection", _YES_NO),
        (
            "compression",
            "compression",
            choice(
                {
                    "kNoCompression": "no",
                    "kSnappyCompression": "snappy",
                    "kZlibCompression": "zlib",
                    "kLZ4Compression": "lz4",
                    "kZSTD": "zstd",
                }
            ),
        ),
    )
}
"""Kvrocks' names, units and ranges (src/config/config.cc)."""

_FIXED = UNCHANGED | {
    "compaction_style": _LEVELED,
    "filter_policy": "bloomfilter:10:false",
    "format_version": "5",
    "metadata_block_size": "4096",
    "min_write_buffer_number_to_merge": "2",
    "num_levels": "7",
    "partition_filters": "true",
}
"""What Kvrocks itself sets (src/storage/storage.cc)."""

_NOTES = (
    "block_cache_size, write_buffer_size, target_file_size_base and max_total_wal_size are in MB, rounded"
    " down; the other sizes are in bytes",
    "Kvrocks has several column families with memtables of their own (strings lie in metadata, elements of"
    " other types in the default one), and one block cache for all",
    "max_background_compactions and max_background_flushes are marked deprecated; where they are not -1, they"
    " come before max_background_jobs",
    "Kvrocks compresses level 2 and below alone, and holds flushes and compactions to max-io-mb",
)


def _write(found: Found) -> str:
    style = found.options.get("cf", {}).get("compaction_style", _LEVELED)
    if style != _LEVELED:
        raise UserError(f"kvrocks: Kvrocks has leveled compaction alone, and the study's is {style}")
    done = translated(flat(found.options), _RULES, _FIXED)
    lines = [
        *head(found, "#", "Kvrocks 2.10, kvrocks.conf", _NOTES, done.unmapped),
        "",
        *(f"{name} {value}" for name, value in done.settings.items()),
    ]
    return "\n".join(lines) + "\n"


TARGET = Target("kvrocks", "Kvrocks' kvrocks.conf", _write)
