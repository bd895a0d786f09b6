"""Shared code of the benchmarks of the FLSM store: RusKey's options, and the layout of one store."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.common.claims import Claim, Measured, decided, reported
from rocktune.online import FlsmLevel, flsm_shape_of
from rocktune.trial import Measurement, OptionMaps
from rocktune.units import MIB

SIZE_RATIO = 10
BUFFER_BYTES = 2 * MIB
ENTRY_BYTES = 1024

RUSKEY: OptionMaps = {
    "db": {
        "max_background_flushes": "2",
        "max_background_compactions": "4",
        "compaction_readahead_size": str(2 * MIB),
    },
    "cf": {
        "write_buffer_size": str(BUFFER_BYTES),
        "target_file_size_base": str(64 * MIB),
        "compression": "kNoCompression",
    },
    "table": {"block_cache": str(8 * MIB), "cache_index_and_filter_blocks": "false"},
}
"""RusKey's set-up (section 7) as far as the paper states it; the cache is ours.

Its direct I/O has RocksDB's compactions read 2 MiB ahead. Without, each block that they read counts as an
operation of its own, of which a volume of 3,000 a second has no more than 12 MB/s of merging.
"""


MIN_BUFFER_BYTES = 64 << 10
"""RocksDB takes no less."""


@dataclass(frozen=True)
class Where:
    """The workload, device and scale of a measurement."""

    engine: str
    device: str


def layout(policies: Sequence[int], **further: Any) -> OptionMaps:
    """Returns the section of an FLSM store: K of each level, by default that of the level above."""
    named = {f"policy_{level}": str(policy) for level, policy in enumerate(policies, 1)}
    return {
        "flsm": {"size_ratio": str(SIZE_RATIO)}
        | named
        | {name: str(value) for name, value in further.items()}
    }


def buffer_at(scale: int) -> OptionMaps:
    """Returns RusKey's write buffer, or the smallest larger one that a model of 1/scale allows."""
    return {"cf": {"write_buffer_size": str(max(BUFFER_BYTES, MIN_BUFFER_BYTES * scale))}}


def level_of(measurement: Measurement, number: int) -> FlsmLevel:
    """Returns a logical level at the end of a window."""
    return flsm_shape_of(measurement.raw["flsm"]).levels[number - 1]


def compaction_written_bytes(measurement: Measurement) -> int:
    """Returns what compactions wrote within a window."""
    return int(measurement.raw["device_bytes"]["compaction_write"])


def false_positives(measurement: Measurement) -> int:
    """Returns the share of filter checks in a window that let an absent key pass."""
    tickers: Mapping[str, int] = measurement.raw["tickers"]
    passed = tickers.get("rocksdb.bloom.filter.full.positive", 0)
    return passed - tickers.get("rocksdb.bloom.filter.full.true.positive", 0)


def latency_us(window: Measurement, kind: str) -> float:
    """Returns the mean latency of one kind of operation in a window; NaN if none ended in it."""
    operation = window.raw["operations"].get(kind)
    return math.nan if operation is None else float(operation["latency_sum_ns"] / operation["count"] / 1e3)


def sorted_runs(window: Measurement) -> int:
    """Returns the number of sorted runs at the end of a window, in any kind of store."""
    if "flsm" in window.raw:
        return flsm_shape_of(window.raw["flsm"]).runs
    files = window.raw["level_files"]
    return int(files[0]) + sum(int(count > 0) for count in files[1:])


def decided_at(
    name: str,
    source: str,
    unit: str,
    measured: Measured,
    *,
    low: float = -math.inf,
    high: float = math.inf,
    paper: float | str | None = None,
    where: Where,
) -> Claim:
    """Returns a claim that holds where the whole interval lies from `low` to `high`."""
    return decided(reported(name, source, unit, measured, paper, **asdict(where)), low, high)
