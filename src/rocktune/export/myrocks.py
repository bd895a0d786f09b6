"""Exports to MyRocks' part of my.cnf, for Facebook's MySQL, Percona Server and MariaDB."""

from rocktune.export.rules import (
    THREADS,
    Rule,
    Settings,
    background_threads,
    flat,
    named,
    translated,
    with_background_jobs,
)
from rocktune.export.target import Found, Target, head
from rocktune.export.typed_options import ENUMERATIONS
from rocktune.export.values import (
    INT_MAX,
    LONG_MAX,
    Writer,
    choice,
    decimal,
    filter_in,
    switch,
    whole,
)

_COUNT = whole(0, LONG_MAX)
_ON_OFF = switch("ON", "OFF")


def _same(*names: str, writer: Writer) -> dict[str, Rule]:
    """Returns rules for variables whose name is the option's with the prefix rocksdb_."""
    return {name: named(f"rocksdb_{name}", writer) for name in names}


_VARIABLES: dict[str, Rule] = {
    "block_cache": named("rocksdb_block_cache_size", whole(1024, LONG_MAX)),
    **_same("max_background_jobs", writer=whole(1, 64)),
    **_same("max_subcompactions", writer=whole(1, 64)),
    **_same("max_open_files", writer=whole(-1, INT_MAX)),
    **_same(
        "block_size",
        "db_write_buffer_size",
        "max_total_wal_size",
        "compaction_readahead_size",
        "bytes_per_sync",
        "wal_bytes_per_sync",
        "delayed_write_rate",
        "block_restart_interval",
        writer=_COUNT,
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
        writer=_ON_OFF,
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


def _in_family(*names: str, writer: Writer) -> dict[str, Rule]:
    """Returns rules for column-family options, which keep RocksDB's names."""
    return {name: named(name, writer) for name in names}


_FAMILY: dict[str, Rule] = {
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
        writer=_COUNT,
    ),
    **_in_family(
        "max_bytes_for_level_multiplier",
        "memtable_prefix_bloom_size_ratio",
        writer=decimal,
    ),
    **_in_family("level_compaction_dynamic_level_bytes", "optimize_filters_for_hits", writer=switch()),
    **_in_family(
        "compression",
        "bottommost_compression",
        writer=choice({n: n for n in ENUMERATIONS["CompressionType"]}),
    ),
    "compaction_style": named("compaction_style", choice({n: n for n in ENUMERATIONS["CompactionStyle"]})),
    "compaction_pri": named("compaction_pri", choice({n: n for n in ENUMERATIONS["CompactionPriority"]})),
}
_TABLE: dict[str, Rule] = {"filter_policy": _filter_policy}
_NOTES = (
    "rocksdb_default_cf_options and most variables are read-only: changing them needs a restart."
    " rocksdb_override_cf_options overrides it for the column families that it names",
    "It applies to each column family. Each has its own memtables; all share the block cache",
    "Variables with loose_ exist in Facebook's MySQL and in Percona Server; MariaDB skips them",
    "Column-family options that are left out may be added to rocksdb_default_cf_options if the"
    " server's RocksDB knows them",
)


def _threads(found: Found) -> Settings:
    """Returns the numbers of compactions and flushes, if they were set."""
    threads = background_threads(found.options)
    return {} if threads is None else dict(zip(THREADS, map(str, threads), strict=True))


def _write(found: Found) -> str:
    """Returns the [mysqld] section of my.cnf."""
    jobs, thread_notes = with_background_jobs(found.options)
    options = flat(jobs)
    done = translated(options, {**_VARIABLES, **_FAMILY, **_TABLE})
    variables = translated(options, _VARIABLES).settings
    # MariaDB lacks these variables; mysqld ignores unknown ones with the prefix loose_.
    variables |= {f"loose_rocksdb_{name}": count for name, count in _threads(found).items()}
    family = [f"{name}={value}" for name, value in translated(options, _FAMILY).settings.items()]
    table = [f"{name}={value}" for name, value in translated(options, _TABLE).settings.items()]
    if table:
        # Table options are nested in one option, in RocksDB's own notation.
        family.append(f"block_based_table_factory={{{';'.join(table)}}}")
    lines = [
        *head(
            found,
            "#",
            "MyRocks, my.cnf (Facebook's MySQL 8.0, Percona Server 8.0, MariaDB 10.11)",
            [*_NOTES, *thread_notes],
            done.unmapped,
        ),
        "",
        "[mysqld]",
        *(f"{name}={value}" for name, value in variables.items()),
        *([f'rocksdb_default_cf_options="{";".join(family)}"'] if family else []),
    ]
    return "\n".join(lines) + "\n"


TARGET = Target("myrocks", "MyRocks' variables for my.cnf (MySQL, Percona Server, MariaDB)", _write)
