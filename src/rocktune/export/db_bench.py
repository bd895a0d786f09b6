"""The db_bench 7.8 commands that come as close as db_bench can to a configuration and a workload."""

import shlex
from collections.abc import Mapping

from rocktune.engine.db_bench.flags import Flags, plan_of, preload_flags
from rocktune.export.target import Found, Target, commented
from rocktune.export.values import NotExpressibleError, filter_in
from rocktune.space import OptionMaps
from rocktune.workload import WorkloadSpec

SECONDS = 120
"""How long the measured benchmark runs: Dremel's final run (section 5.2.1)."""

_SAME_NAME = frozenset(
    [
        "allow_concurrent_memtable_write",
        "arena_block_size",
        "block_restart_interval",
        "block_size",
        "bytes_per_sync",
        "cache_index_and_filter_blocks",
        "compaction_readahead_size",
        "db_write_buffer_size",
        "delayed_write_rate",
        "disable_auto_compactions",
        "enable_blob_files",
        "enable_pipelined_write",
        "format_version",
        "hard_pending_compaction_bytes_limit",
        "index_block_restart_interval",
        "level0_file_num_compaction_trigger",
        "level0_slowdown_writes_trigger",
        "level0_stop_writes_trigger",
        "level_compaction_dynamic_level_bytes",
        "manual_wal_flush",
        "max_background_compactions",
        "max_background_flushes",
        "max_background_jobs",
        "max_bytes_for_level_base",
        "max_bytes_for_level_multiplier",
        "max_compaction_bytes",
        "max_total_wal_size",
        "max_write_buffer_number",
        "min_blob_size",
        "min_write_buffer_number_to_merge",
        "num_levels",
        "optimize_filters_for_hits",
        "periodic_compaction_seconds",
        "pin_l0_filter_and_index_blocks_in_cache",
        "soft_pending_compaction_bytes_limit",
        "target_file_size_base",
        "target_file_size_multiplier",
        "unordered_write",
        "use_direct_io_for_flush_and_compaction",
        "use_direct_reads",
        "wal_bytes_per_sync",
        "whole_key_filtering",
        "writable_file_max_buffer_size",
        "write_buffer_size",
        "blob_file_size",
    ]
)
_OTHER_NAME = {
    "block_cache": "cache_size",
    "max_subcompactions": "subcompactions",
    "max_open_files": "open_files",
    "allow_mmap_reads": "mmap_read",
    "compression": "compression_type",
    "compaction_style": "compaction_style",
    "compaction_pri": "compaction_pri",
    "memtable_prefix_bloom_size_ratio": "memtable_bloom_size_ratio",
}
_ENUMERATIONS = {
    "compression": {
        "kNoCompression": "none",
        "kSnappyCompression": "snappy",
        "kZlibCompression": "zlib",
        "kBZip2Compression": "bzip2",
        "kLZ4Compression": "lz4",
        "kLZ4HCCompression": "lz4hc",
        "kZSTD": "zstd",
    },
    "compaction_style": {
        "kCompactionStyleLevel": "0",
        "kCompactionStyleUniversal": "1",
        "kCompactionStyleFIFO": "2",
        "kCompactionStyleNone": "3",
    },
    "compaction_pri": {
        "kByCompensatedSize": "0",
        "kOldestLargestSeqFirst": "1",
        "kOldestSmallestSeqFirst": "2",
        "kMinOverlappingRatio": "3",
        "kRoundRobin": "4",
    },
}


_DIRECTORY = (
    "set -e",
    "# The store is made in the directory $DB and overwrites what is there; without it, in a temporary one.",
    'db="${DB:-$(mktemp -d)}"',
    """[ -n "$DB" ] || { trap 'rm -rf "$db"' EXIT; trap 'exit 1' HUP INT TERM; }""",
)


def db_bench_script(options: OptionMaps, workload: WorkloadSpec, seed: int, header: str) -> str:
    """Returns a shell script: a db_bench command that loads, where there is a preload, and one that measures.

    Args:
        options: of the configuration, full size.
        workload: full size.
        seed: of db_bench's random numbers.
        header: comment lines to begin with, each with its "#".
    """
    plan, missing = plan_of(workload), list[str]()
    common = _option_flags(options, missing) | {"seed": str(seed)}
    missing += [f"{gap.feature}: {gap.instead}" for gap in plan.gaps]
    missing.append("the simulated device: it runs on the real one, without limits")
    lines = ["#!/bin/sh", header.rstrip("\n"), "#"]
    lines += [
        "# What db_bench cannot express, and what it does instead:",
        *commented((f"- {line}" for line in missing), "#"),
    ]
    lines += [*_DIRECTORY, ""]
    measured = {"benchmarks": plan.benchmark, "duration": str(SECONDS)} | plan.flags
    if workload.preload.keys:
        lines += [_command(preload_flags(workload) | common), ""]
        measured["use_existing_db"] = "true"
    lines.append(_command(measured | common | {"histogram": "true", "statistics": "true"}))
    return "\n".join(lines) + "\n"


def _command(flags: Mapping[str, str]) -> str:
    given = [f"--{name}={shlex.quote(value)}" for name, value in flags.items()]
    return " \\\n    ".join(['db_bench --db="$db"', *given])


def _option_flags(options: OptionMaps, missing: list[str]) -> Flags:
    flags: Flags = {}
    for section in ("db", "cf", "table"):
        for name, value in sorted(options.get(section, {}).items()):
            if name == "filter_policy":
                flags |= _filter_flags(value, missing)
            elif name in _SAME_NAME:
                flags[name] = value
            elif name in _OTHER_NAME and (name not in _ENUMERATIONS or value in _ENUMERATIONS[name]):
                flags[_OTHER_NAME[name]] = _ENUMERATIONS.get(name, {}).get(value, value)
            else:
                missing.append(f"option {name}={value}: db_bench's own default")
    return flags


def _filter_flags(policy: str, missing: list[str]) -> Flags:
    """Returns the flags for a filter policy as RocksDB writes it, such as `bloomfilter:10:false`."""
    try:
        kind, bits = filter_in(policy)
    except NotExpressibleError:
        missing.append(f"option filter_policy={policy}: no filter")
        return {"bloom_bits": "0"}
    if bits != round(bits):
        missing.append(f"a filter of {bits} bits per key: rounded to whole bits")
    flags = {"bloom_bits": str(round(bits))}
    return flags | {"use_ribbon_filter": "true"} if kind == "ribbon" else flags


def _write(found: Found) -> str:
    header = "\n".join(commented(found.comment, "#"))
    return db_bench_script(found.options, found.workload, int(found.study.spec["seed"]), header)


TARGET = Target(
    "db_bench", "a shell script that runs db_bench 7.8 with the configuration and workload", _write
)
