"""The db_bench 7.8 commands that come as close as db_bench can to a configuration and a workload."""

import shlex
from collections.abc import Iterator, Mapping

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

Flags = dict[str, str]


def db_bench_script(options: OptionMaps, workload: WorkloadSpec, seed: int, header: str) -> str:
    """Returns a shell script: a db_bench command that loads, where there is a preload, and one that measures.

    Args:
        options: of the configuration, full size.
        workload: full size.
        seed: of db_bench's random numbers.
        header: comment lines to begin with, each with its "#".
    """
    missing: list[str] = []
    common = _option_flags(options, missing) | _data_flags(workload, missing) | {"seed": str(seed)}
    measured = _benchmark_flags(workload, missing)
    lines = ["#!/bin/sh", header.rstrip("\n"), "#"]
    if missing:
        lines += [
            "# What db_bench cannot express, and what it does instead:",
            *commented((f"- {line}" for line in missing), "#"),
        ]
    lines += ["set -e", 'db="${DB:-/tmp/db_bench-rocktune}"   # is overwritten', ""]
    if workload.preload.keys:
        benchmark = "filluniquerandom" if workload.preload.random_order else "fillseq"
        load = {
            "benchmarks": f"{benchmark},waitforcompaction",
            "num": str(workload.preload.keys),
            "threads": "1",
        }
        lines += [_command(load | common), ""]
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


def _data_flags(workload: WorkloadSpec, missing: list[str]) -> Flags:
    flags = {
        "key_size": str(workload.key_bytes),
        "compression_ratio": f"{workload.value_compressed_fraction:g}",
        "disable_wal": "false" if workload.wal else "true",
        "sync": "true" if workload.sync else "false",
    }
    value = workload.value
    if value.kind == "uniform" and _is_mixgraph(workload):
        missing.append(f"uniform value sizes: all values have their mean, {value.mean:.0f} bytes")
    elif value.kind == "uniform":
        sizes = {"value_size_min": str(value.low), "value_size_max": str(value.high)}
        return flags | {"value_size_distribution_type": "uniform"} | sizes
    if value.kind == "pareto" and not _is_mixgraph(workload):
        missing.append(f"Pareto value sizes: all values have their mean, {value.mean:.0f} bytes")
    return flags | {"value_size": str(round(value.mean))}


def _mean_mix(workload: WorkloadSpec) -> dict[str, float]:
    """Returns each operation's share, averaged over the sessions by their seconds."""
    sessions = workload.sessions if workload.sessions[-1].seconds else workload.sessions[-1:]
    total = sum(session.seconds for session in sessions) or 1.0
    mix: dict[str, float] = {}
    for session in sessions:
        for kind, share in session.mix.model_dump().items():
            mix[kind] = mix.get(kind, 0.0) + share * ((session.seconds or 1.0) / total)
    return mix


def _is_mixgraph(workload: WorkloadSpec) -> bool:
    """Says whether only the benchmark "mixgraph" has what the workload does: scans, or its own key law."""
    return _mean_mix(workload)["scan"] > 0 or workload.key_chooser.kind == "two_term_exponential"


def _benchmark_flags(workload: WorkloadSpec, missing: list[str]) -> Flags:
    missing += _unsupported(workload)
    mix = _mean_mix(workload)
    reads = mix["get"] + mix["get_absent"] + mix["read_modify_write"] / 2
    scans = mix["scan"]
    writes = 1 - reads - scans
    flags = {"num": str(workload.keys), "threads": str(workload.threads), "duration": str(SECONDS)}
    if _is_mixgraph(workload):
        shares = {
            "mix_get_ratio": f"{reads:.4g}",
            "mix_put_ratio": f"{writes:.4g}",
            "mix_seek_ratio": f"{scans:.4g}",
        }
        return {"benchmarks": "mixgraph"} | flags | shares | _mixgraph_flags(workload)
    if writes == 0:
        return {"benchmarks": "readrandom"} | flags
    if reads == 0:
        return {"benchmarks": "overwrite" if workload.preload.keys else "fillrandom"} | flags
    return {"benchmarks": "readrandomwriterandom"} | flags | {"readwritepercent": f"{100 * reads:.0f}"}


def _mixgraph_flags(workload: WorkloadSpec) -> Flags:
    chooser, value, scan, flags = workload.key_chooser, workload.value, workload.scan_length, {}
    if chooser.kind == "two_term_exponential":
        names = {f"keyrange_dist_{letter}": f"range_{letter}" for letter in "abcd"}
        names |= {"keyrange_num": "ranges", "key_dist_a": "key_a", "key_dist_b": "key_b"}
        flags = {flag: f"{getattr(chooser, field):.17g}" for flag, field in names.items()}
    for prefix, law in (("value", value), ("iter", scan)):
        # A Pareto law without a scale is its location: a fixed size.
        k, sigma, theta = (law.k, law.sigma, law.theta) if law.kind == "pareto" else (1.0, 0.0, law.mean)
        flags |= {f"{prefix}_k": f"{k:g}", f"{prefix}_sigma": f"{sigma:g}", f"{prefix}_theta": f"{theta:g}"}
    return flags | {"mix_max_value_size": str(value.largest), "mix_max_scan_len": str(scan.largest + 1)}


def _unsupported(workload: WorkloadSpec) -> Iterator[str]:
    mix, chooser = _mean_mix(workload), workload.key_chooser
    if chooser.kind not in ("uniform", "two_term_exponential"):
        skew = f" with skew {chooser.skew:g}" if chooser.skew else ""
        yield f"{chooser.kind} keys{skew}: keys are drawn uniformly, so caches work less well"
    for kind, instead in (
        ("get_absent", "gets are of any key"),
        ("insert", "puts are of any key"),
        ("delete", "they are puts"),
        ("read_modify_write", "they are half gets, half puts"),
    ):
        if mix[kind]:
            yield f"{100 * mix[kind]:.3g}% {kind.replace('_', ' ')}: {instead}"
    if len(workload.sessions) > 1:
        yield f"{len(workload.sessions)} sessions: their mean mix throughout"
    if any(session.arrival.kind != "closed" for session in workload.sessions):
        yield "arrival at given times: each thread's next operation starts when its last has ended"
    if _is_mixgraph(workload) and mix["scan"] and workload.scan_length.kind == "uniform":
        yield f"scan lengths: all {workload.scan_length.mean:g} entries"
    yield "the simulated device: it runs on the real one, without limits"


def _write(found: Found) -> str:
    header = "\n".join(commented(found.comment, "#"))
    return db_bench_script(found.options, found.workload, int(found.study.spec["seed"]), header)


TARGET = Target(
    "db_bench", "a shell script that runs db_bench 7.8 with the configuration and workload", _write
)
