"""Stores that `explain` is tested on: broken ones with a planted cause, and healthy ones.

Each is made by db_bench or by the worker. Half of them, `held_out`, decide nothing about thresholds; they
differ from the others in version, device and workload.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

Flags = dict[str, str | int]
DUMPS: Flags = {"statistics": 1, "stats_level": 3, "stats_dump_period_sec": 4, "seed": 1}
GOOD: Flags = {
    "key_size": 16,
    "value_size": 400,
    "compression_type": "none",
    "write_buffer_size": 4 << 20,
    "max_write_buffer_number": 4,
    "target_file_size_base": 4 << 20,
    "max_bytes_for_level_base": 16 << 20,
    "max_background_jobs": 6,
    "subcompactions": 2,
    "bloom_bits": 10,
    "cache_size": 64 << 20,
    "rate_limiter_bytes_per_sec": 80_000_000,
}
"""A 1/16 model of a sensible store on a device of 80 MB/s."""
WRITES: Flags = {"benchmarks": "fillrandom", "num": 400_000, "duration": 12}
SMALL_BUFFERS: Flags = {
    "write_buffer_size": 1 << 20,
    "max_write_buffer_number": 16,
    "target_file_size_base": 1 << 20,
    "max_bytes_for_level_base": 4 << 20,
}
BURSTS: Flags = WRITES | SMALL_BUFFERS | {"threads": 2, "rate_limiter_bytes_per_sec": 0}
"""Writes as fast as the store takes them, to a 1/64 model, so that a limit is reached within seconds."""
CALM: Flags = WRITES | {"benchmark_write_rate_limit": 3_000_000}
LOADED = "filluniquerandom,waitforcompaction,"
READS: Flags = {
    "benchmarks": LOADED + "readrandom",
    "num": 150_000,
    "duration": 8,
    "benchmark_write_rate_limit": 6_000_000,
}
"""Loads data at a rate that the store can keep up with, then reads."""


@dataclass(frozen=True)
class Store:
    """A store whose LOG is explained.

    Attributes:
        name: unique; the LOG's file is named after it.
        cause: rule that has to come first; "" for a healthy store.
        held_out: whether its LOG was kept out of the choice of thresholds.
        version: RocksDB's, such as "9.9.3".
        flags: db_bench's flags beyond `DUMPS` and `GOOD`; empty for a store of the worker.
        workload: preset of the worker's workload; "" for a store of db_bench.
        device: preset of the worker's device.
        rate_ops_s: operations per second that the worker offers.
        options: the worker's options by section, beyond `WORKER_OPTIONS`.
        families: column families of the worker's workload; empty for a preset.
    """

    name: str
    cause: str
    held_out: bool
    version: str
    flags: Flags = field(default_factory=dict)
    workload: str = ""
    device: str = ""
    rate_ops_s: float = 1_500.0
    options: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    families: tuple[str, ...] = ()


WORKER_OPTIONS: Mapping[str, Mapping[str, str]] = {
    "db": {"max_background_jobs": "6", "stats_dump_period_sec": "4"},
    "cf": {
        "write_buffer_size": str(4 << 20),
        "max_write_buffer_number": "4",
        "target_file_size_base": str(4 << 20),
        "max_bytes_for_level_base": str(16 << 20),
        "compression": "kNoCompression",
    },
    "table": {"block_cache": str(64 << 20), "filter_policy": "bloomfilter:10:false"},
}

_SMALL: Flags = {"value_size": 100, "num": 1_000_000}
_MEDIUM: Flags = {"value_size": 1500, "num": 120_000}
_LARGE: Flags = {"value_size": 4000, "num": 40_000}
_EARLY: Flags = {"level0_slowdown_writes_trigger": 12, "level0_stop_writes_trigger": 20}
_MANY_RUNS: Flags = {
    "level0_file_num_compaction_trigger": 20,
    "level0_slowdown_writes_trigger": 200,
    "level0_stop_writes_trigger": 300,
}
_ZSTD: Flags = {"compression_type": "zstd", "min_level_to_compress": 0}
_UNIVERSAL: Flags = {"compaction_style": 1, "num_levels": 7}
_NO_COMPACTION: Flags = {
    "level0_file_num_compaction_trigger": 200,
    "level0_slowdown_writes_trigger": 300,
    "level0_stop_writes_trigger": 400,
    "max_bytes_for_level_base": 4 << 30,
}


def _pair(cause: str, version: str, flags: Flags, other_version: str, other: Flags) -> tuple[Store, Store]:
    """Returns a cause's store for choosing thresholds and the one that is held out."""
    return (
        Store(f"{cause}-1", cause, held_out=False, version=version, flags=flags),
        Store(f"{cause}-2", cause, held_out=True, version=other_version, flags=other),
    )


def _family_store(number: int, version: str, device: str, held_out: bool) -> Store:
    tight = {
        "level0_file_num_compaction_trigger": "2",
        "level0_slowdown_writes_trigger": "2",
        "level0_stop_writes_trigger": "3",
        "write_buffer_size": str(256 << 10),
    }
    return Store(
        f"one-family-{number}",
        "one-family",
        held_out,
        version,
        workload="writes",
        rate_ops_s=30_000.0 if held_out else 12_000.0,
        device=device,
        options={"cf:tight": tight},
        families=("default", "orders", "tight") if held_out else ("default", "tight"),
    )


PLANTED: tuple[Store, ...] = (
    *_pair(
        "level0-triggers",
        "9.9.3",
        BURSTS | {"level0_slowdown_writes_trigger": 5, "level0_stop_writes_trigger": 8},
        "7.8.3",
        BURSTS | _LARGE | {"level0_file_num_compaction_trigger": 2, "level0_slowdown_writes_trigger": 3,
                           "level0_stop_writes_trigger": 5, "rate_limiter_bytes_per_sec": 200_000_000},
    ),
    *_pair(
        "pending-limits",
        "11.8.1",
        WRITES | {"soft_pending_compaction_bytes_limit": 6 << 20,
                  "hard_pending_compaction_bytes_limit": 64 << 20, "benchmark_write_rate_limit": 10_000_000},
        "8.6.7",
        WRITES | {"soft_pending_compaction_bytes_limit": 10 << 20, "value_size": 1000, "num": 200_000,
                  "hard_pending_compaction_bytes_limit": 30 << 20, "benchmark_write_rate_limit": 12_000_000,
                  "rate_limiter_bytes_per_sec": 150_000_000},
    ),
    *_pair(
        "few-memtables",
        "8.6.7",
        WRITES | _MANY_RUNS | {"max_write_buffer_number": 2, "write_buffer_size": 256 << 10,
                               "benchmark_write_rate_limit": 8_000_000},
        "11.8.1",
        WRITES | _MANY_RUNS | {"max_write_buffer_number": 2, "write_buffer_size": 128 << 10,
                               "value_size": 100, "num": 1_000_000, "benchmark_write_rate_limit": 5_000_000},
    ),
    *_pair(
        "flush-bound",
        "7.8.3",
        WRITES | _NO_COMPACTION | {"rate_limiter_bytes_per_sec": 4_000_000},
        "9.9.3",
        WRITES | _NO_COMPACTION | _ZSTD | {"compression_level": 19, "max_background_jobs": 4,
                                           "rate_limiter_bytes_per_sec": 0},
    ),
    *_pair(
        "device-bound",
        "9.9.3",
        BURSTS | _EARLY | {"rate_limiter_bytes_per_sec": 24_000_000, "benchmark_write_rate_limit": 9_000_000},
        "8.6.7",
        BURSTS | _EARLY | {"rate_limiter_bytes_per_sec": 32_000_000, "value_size": 1000, "num": 200_000,
                           "benchmark_write_rate_limit": 10_000_000},
    ),
    *_pair(
        "few-threads",
        "11.8.1",
        BURSTS | {"max_background_jobs": 2, "subcompactions": 1, "value_size": 1000, "num": 200_000},
        "7.8.3",
        BURSTS | _MEDIUM | {"max_background_jobs": 2, "subcompactions": 1,
                            "rate_limiter_bytes_per_sec": 500_000_000},
    ),
    *_pair(
        "cpu-bound",
        "8.6.7",
        BURSTS | _MEDIUM | _ZSTD | {"compression_level": 16, "min_level_to_compress": 1},
        "9.9.3",
        BURSTS | _LARGE | _EARLY | {"compression_type": "zlib", "compression_level": 9,
                                    "min_level_to_compress": 1},
    ),
    *_pair(
        "no-slowdown",
        "11.8.1",
        BURSTS | {"level0_slowdown_writes_trigger": 6, "level0_stop_writes_trigger": 6},
        "8.6.7",
        BURSTS | _MEDIUM | {"level0_file_num_compaction_trigger": 3, "level0_slowdown_writes_trigger": 7,
                            "level0_stop_writes_trigger": 7},
    ),
    _family_store(1, "9.9.3", "ssd-100mb", held_out=False),
    _family_store(2, "11.8.1", "sata", held_out=True),
    *_pair(
        "slow-delayed-rate",
        "7.8.3",
        BURSTS | _LARGE | {"delayed_write_rate": 64 << 10, "level0_slowdown_writes_trigger": 12},
        "11.8.1",
        BURSTS | _MEDIUM | {"delayed_write_rate": 200_000, "level0_slowdown_writes_trigger": 12,
                            "level0_stop_writes_trigger": 40, "subcompactions": 1},
    ),
    *_pair(
        "small-cache",
        "9.9.3",
        READS | {"cache_size": 256 << 10, "cache_index_and_filter_blocks": 1},
        "8.6.7",
        READS | {"cache_size": 512 << 10, "benchmarks": LOADED + "readwhilewriting", "value_size": 1000,
                 "num": 60_000},
    ),
    *_pair(
        "missing-filters",
        "8.6.7",
        READS | {"bloom_bits": -1, "benchmarks": LOADED + "readmissing"},
        "11.8.1",
        READS | _UNIVERSAL | {"bloom_bits": -1, "benchmarks": LOADED + "readwhilewriting",
                              "value_size": 300},
    ),
    *_pair(
        "tombstones",
        "9.9.3",
        READS | {"benchmarks": "fillseq,flush,deleteseq,flush,seekrandom", "num": 60_000, "deletes": 40_000,
                 "disable_auto_compactions": 1, "seek_nexts": 10},
        "7.8.3",
        READS | {"benchmarks": "fillseq,deleteseq,seekrandom", "num": 40_000, "deletes": 30_000,
                 "seek_nexts": 20, "value_size": 1000, "write_buffer_size": 16 << 20},
    ),
    *_pair(
        "many-files",
        "8.6.7",
        CALM | {"target_file_size_base": 32 << 10, "benchmark_write_rate_limit": 4_000_000},
        "11.8.1",
        READS | {"target_file_size_base": 16 << 10, "open_files": 100,
                 "benchmarks": LOADED + "readwhilewriting"},
    ),
    *_pair(
        "space-amplification",
        "11.8.1",
        CALM | _UNIVERSAL | _MANY_RUNS | {"universal_max_size_amplification_percent": 5000, "num": 30_000},
        "9.9.3",
        CALM | _UNIVERSAL | _MANY_RUNS | {"universal_max_size_amplification_percent": 3000,
                                          "value_size": 1000, "num": 10_000, "write_buffer_size": 2 << 20},
    ),
    *_pair(
        "contradictory-options",
        "7.8.3",
        CALM | {"soft_pending_compaction_bytes_limit": 200 << 30,
                "hard_pending_compaction_bytes_limit": 100 << 30},
        "9.9.3",
        CALM | {"level0_slowdown_writes_trigger": 2, "level0_stop_writes_trigger": 3,
                "level0_file_num_compaction_trigger": 8},
    ),
)  # fmt: skip

_MIXED: Flags = READS | {"benchmarks": LOADED + "readwhilewriting"}
_SCANS: Flags = _MIXED | {"benchmarks": LOADED + "seekrandomwhilewriting", "seek_nexts": 20}


def _healthy(name: str, held_out: bool, version: str, flags: Flags) -> Store:
    return Store(f"healthy-{name}", "", held_out, version, flags=flags)


def _worker(name: str, held_out: bool, version: str, workload: str, device: str) -> Store:
    return Store(f"healthy-{name}", "", held_out, version, workload=workload, device=device)


HEALTHY: tuple[Store, ...] = (
    _healthy("writes", False, "9.9.3", CALM),
    _healthy("small-values", False, "7.8.3", CALM | _SMALL),
    _healthy("overwrites", False, "11.8.1", CALM | {"benchmarks": "fillrandom,overwrite", "num": 60_000}),
    _healthy("universal", False, "8.6.7", CALM | _UNIVERSAL),
    _healthy("mixed", False, "9.9.3", _MIXED),
    _healthy("scans", False, "11.8.1", _SCANS),
    _healthy("reads", False, "7.8.3", READS),
    _worker("ycsb-b-nvme", False, "9.9.3", "ycsb-b", "nvme"),
    _worker("ycsb-e-sata", False, "11.8.1", "ycsb-e", "sata"),
    _worker("ycsb-d-gp3", False, "8.6.7", "ycsb-d", "cloud-gp3"),
    _healthy("sequential", True, "8.6.7", CALM | {"benchmarks": "fillseq", "num": 120_000}),
    _healthy("large-values", True, "11.8.1", CALM | _LARGE),
    _healthy("two-families", True, "9.9.3", CALM | {"num_column_families": 2}),
    _healthy("universal-mixed", True, "9.9.3", _MIXED | _UNIVERSAL),
    _healthy("compressed", True, "7.8.3", CALM | {"compression_type": "lz4", "num": 200_000}),
    _healthy("small-scans", True, "8.6.7", _SCANS | {"value_size": 200, "seek_nexts": 50}),
    _healthy("large-reads", True, "11.8.1", READS | {"value_size": 1000, "num": 60_000}),
    _worker("ycsb-c-ssd", True, "11.8.1", "ycsb-c", "ssd-200mb"),
    _worker("ycsb-f-nvme", True, "8.6.7", "ycsb-f", "nvme"),
    _worker("ycsb-b-sata", True, "7.8.3", "ycsb-b", "sata"),
)  # fmt: skip
STORES = PLANTED + HEALTHY
