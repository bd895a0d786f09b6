"""Exports to TiKV's tikv.toml."""

from rocktune.export.rules import (
    UNCHANGED,
    Rule,
    Settings,
    background_threads,
    flat,
    named,
    translated,
    with_background_jobs,
)
from rocktune.export.target import Found, Target, head
from rocktune.export.values import (
    INT_MAX,
    NotExpressibleError,
    Writer,
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
_COMPRESSIONS = {
    "kNoCompression": "no",
    "kSnappyCompression": "snappy",
    "kZlibCompression": "zlib",
    "kBZip2Compression": "bzip2",
    "kLZ4Compression": "lz4",
    "kLZ4HCCompression": "lz4hc",
    "kZSTD": "zstd",
    "kDisableCompressionOption": "disable",
}


def _kebab(*names: str, writer: Writer) -> dict[str, Rule]:
    """Returns rules for options whose TiKV name is RocksDB's with hyphens."""
    return {name: named(name.replace("_", "-"), writer) for name in names}


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
    name = quoted(choice(_COMPRESSIONS))(text)
    # TiKV's list must have one entry for each of its seven levels.
    levels = ", ".join([name] * _MAX_LEVELS)
    return {"compression-per-level": f"[{levels}]", "bottommost-level-compression": name}


_CACHE: dict[str, Rule] = {"block_cache": named("capacity", _SIZE)}
_DATABASE: dict[str, Rule] = {
    **_kebab("max_background_jobs", "max_background_flushes", writer=whole(1, INT_MAX)),
    "max_subcompactions": named("max-sub-compactions", whole(1, INT_MAX)),
    **_kebab("max_open_files", writer=whole(-1, INT_MAX)),
    **_kebab(
        "max_total_wal_size",
        "compaction_readahead_size",
        "bytes_per_sync",
        "wal_bytes_per_sync",
        "writable_file_max_buffer_size",
        "max_manifest_file_size",
        writer=_SIZE,
    ),
    "db_write_buffer_size": named("write-buffer-limit", _SIZE),
    **_kebab(
        "use_direct_io_for_flush_and_compaction",
        "enable_pipelined_write",
        "allow_concurrent_memtable_write",
        writer=switch(),
    ),
    "unordered_write": named("enable-unordered-write", switch()),
}
_FAMILY: dict[str, Rule] = {
    **_kebab(
        "write_buffer_size",
        "max_bytes_for_level_base",
        "target_file_size_base",
        "max_compaction_bytes",
        "soft_pending_compaction_bytes_limit",
        "hard_pending_compaction_bytes_limit",
        "block_size",
        writer=_SIZE,
    ),
    **_kebab(
        "max_write_buffer_number",
        "min_write_buffer_number_to_merge",
        "level0_file_num_compaction_trigger",
        "level0_slowdown_writes_trigger",
        "level0_stop_writes_trigger",
        "max_bytes_for_level_multiplier",
        writer=_COUNT,
    ),
    **_kebab("num_levels", writer=whole(1, _MAX_LEVELS)),
    "level_compaction_dynamic_level_bytes": named("dynamic-level-bytes", switch()),
    **_kebab(
        "disable_auto_compactions",
        "optimize_filters_for_hits",
        "cache_index_and_filter_blocks",
        "whole_key_filtering",
        writer=switch(),
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
_FIXED = UNCHANGED | {"memtable_prefix_bloom_size_ratio": "0.1", "use_direct_reads": "false"}
"""Options that TiKV sets to these values, with no setting for them."""

_FLOW_CONTROL = {
    "level0_slowdown_writes_trigger": ("l0-files-threshold", "20"),
    "soft_pending_compaction_bytes_limit": ("soft-pending-compaction-bytes-limit", '"192GB"'),
    "hard_pending_compaction_bytes_limit": ("hard-pending-compaction-bytes-limit", '"1TB"'),
    "max_write_buffer_number": ("memtables-threshold", "5"),
}
"""By RocksDB option: the setting of TiKV's flow control that replaces it, and its default."""


def _flow_control_notes(family: Settings) -> list[str]:
    """Returns a note with the flow-control settings nearest to the measured triggers."""
    pairs = [
        f"{key} = {family[name.replace('_', '-')]} (by default {default})"
        for name, (key, default) in _FLOW_CONTROL.items()
        if name.replace("_", "-") in family
    ]
    note = (
        "Flow control (storage.flow-control.enable, on by default) replaces RocksDB's write stalls"
        " and lowers level0 triggers and pending limits to its own"
    )
    return [f"{note}; nearest to the measured values: {', '.join(pairs)}" if pairs else note]


def _notes(found: Found, family: Settings) -> list[str]:
    """Returns what to know before using the file."""
    return [
        *_flow_control_notes(family),
        "storage.block-cache.capacity is for all column families. Index and filter blocks count in it, unless"
        " cache-index-and-filter-blocks is false: then they take further memory",
        "The compaction guard, on by default, uses compaction-guard-max-output-file-size instead of"
        " target-file-size-base",
        "Values of up to 255 bytes are stored in writecf, larger ones in defaultcf; yours have"
        f" {found.workload.value.mean:.0f} on average. The same settings work under [rocksdb.writecf], whose"
        " memtables come on top",
        "RocksDB is only one of TiKV's layers: Raft's log and the scheduler have their own limits",
    ]


def _write(found: Found) -> str:
    """Returns the tables of tikv.toml."""
    options = flat(with_background_jobs(found.options)[0])
    threads = background_threads(found.options)
    if threads is not None:
        # TiKV has max-background-flushes besides the jobs, but no number of compactions.
        options["max_background_flushes"] = str(threads[1])
    # One pass over all tables gives the list of options left out; the passes below only sort settings by
    # table.
    done = translated(options, {**_CACHE, **_DATABASE, **_FAMILY}, _FIXED)
    tables = {
        "storage.block-cache": translated(options, _CACHE).settings,
        "rocksdb": translated(options, _DATABASE).settings,
        "rocksdb.defaultcf": translated(options, _FAMILY).settings,
    }
    lines = head(found, "#", "TiKV 8.5, tikv.toml", _notes(found, tables["rocksdb.defaultcf"]), done.unmapped)
    for table, settings in tables.items():
        if settings:
            lines += ["", f"[{table}]", *(f"{name} = {value}" for name, value in settings.items())]
    return "\n".join(lines) + "\n"


TARGET = Target("tikv", "TiKV's tikv.toml", _write)
