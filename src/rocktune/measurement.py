"""What was measured of a run in a window of its age: raw figures, and what follows from them."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

READ_KINDS = ("get", "get_absent")
WRITE_KINDS = ("put", "insert", "delete")
LATENCY_KINDS = {"read": READ_KINDS, "write": WRITE_KINDS, "scan": ("scan",)}
HISTOGRAM_FIGURES = ("average", "p50", "p95", "p99")
LATENCY_TAILS = {"p50": 50.0, "p95": 95.0, "p99": 99.0, "p999": 99.9}

FIGURES = (
    "throughput_ops_s",
    *(f"{name}_latency_us_{tail}" for name in LATENCY_KINDS for tail in LATENCY_TAILS),
    "write_amplification",
    "read_amplification",
    "space_amplification",
    "stalled_share",
    "max_write_stop_s",
    "db_bytes",
    "memtable_bytes",
    "block_cache_bytes",
    "table_reader_bytes",
    "resident_bytes",
    "cpu_s_per_million_ops",
    "others_cpu_share",
    "read_block_get_us_p99",
    "level0_to_level1_us_p99",
)
"""The names of `Measurement.figures`."""


@dataclass(frozen=True)
class Measurement:
    """What a run did in the window (from_s, until_s], as the worker reports it, and what follows from it.

    The raw figures are in `raw`, whose form docs/design/measurement.md states. `raw` counts of a window
    add up; its states are those at the window's end. What another program than the worker measured may lack
    any of them; what it says of `figures` itself is in `raw["figures"]`.
    """

    raw: dict[str, Any] = field(repr=False)

    @property
    def from_s(self) -> float:
        """Age at which the window begins, seconds."""
        return float(self.raw["from_s"])

    @property
    def until_s(self) -> float:
        """Age at which the window ends, seconds."""
        return float(self.raw["until_s"])

    @property
    def seconds(self) -> float:
        """Length of the window."""
        return self.until_s - self.from_s

    def merged(self, later: "Measurement") -> "Measurement":
        """Returns this window and the one that follows it as one window.

        Raises:
            ValueError: `later` does not begin where this one ends.
        """
        if not math.isclose(self.until_s, later.from_s, abs_tol=1e-6):
            raise ValueError(
                f"the window from {later.from_s} s does not follow the one until {self.until_s} s"
            )
        return Measurement(_merged(self.raw, later.raw))

    @property
    def device_bytes(self) -> float:
        """Bytes read from and written to the device, whatever the cause; NaN where they were not counted."""
        counted = self.raw.get("device_bytes")
        return math.nan if counted is None else float(sum(counted.values()))

    def operations(self, kinds: Iterable[str] | None = None) -> int:
        """Returns the number of operations completed, of some kinds or of all."""
        counted = self.raw.get("operations", {})
        return sum(
            int(counted[kind]["count"]) for kind in (counted if kinds is None else kinds) if kind in counted
        )

    def latency_us(self, kinds: Iterable[str], percentile: float) -> float:
        """Returns a latency percentile over some kinds of operations; smaller is better.

        Args:
            kinds: operation kinds (`READ_KINDS`, `WRITE_KINDS`, or any of the worker's).
            percentile: in (0, 100].

        Returns:
            Microseconds (relative error under 2%, the histogram's), NaN when there were no such operations.
        """
        return self._latencies_us(kinds, [percentile])[0]

    def _latencies_us(self, kinds: Iterable[str], percentiles: Sequence[float]) -> list[float]:
        counted = self.raw.get("operations", {})
        pairs = [pair for kind in kinds for pair in counted.get(kind, {}).get("latency_ns", [])]
        return _percentiles_us({"latency_ns": pairs}, percentiles)

    @cached_property
    def figures(self) -> dict[str, float]:
        """The measurement's fields that objectives, constraints and tables name; NaN where not defined.

        `throughput_ops_s` (larger is better); `{read,write,scan}_latency_us_{p50,p95,p99,p999}`,
        `write_amplification` (bytes written to the device, WAL included, per byte the user wrote),
        `read_amplification` (device reads by user reads per read), `space_amplification` (bytes of the store
        per live byte), `stalled_share`, `db_bytes`, `cpu_s_per_million_ops`,
        `max_write_stop_s` (smaller is better); `memtable_bytes`, `block_cache_bytes` and
        `table_reader_bytes` (filters and indexes outside the cache) of the store at the window's end, and
        `resident_bytes` of the process (smaller is better); `others_cpu_share` (of all processors' time,
        what went to other programs, the kernel or the host: how far the measurement was disturbed);
        `read_block_get_us_p99` (to read a block from the device, since the run began) and
        `level0_to_level1_us_p99` (wall time of a compaction of level 0), the adjacent tasks of Alabed and
        Yoneki (smaller is better).
        """
        counted = self._counted_figures() if "operations" in self.raw else {}
        reported: dict[str, float] = self.raw.get("figures", {})
        return dict.fromkeys(FIGURES, math.nan) | counted | reported

    def metric(self, name: str) -> float:
        """Returns a figure, or what RocksDB itself counted; NaN where not measured.

        Args:
            name: one of `FIGURES`, a ticker (given per operation), or a histogram and one of its figures,
                such as `rocksdb.db.get.micros.p99` (since the run began, RocksDB's unit).
        """
        if name in FIGURES:
            return self.figures[name]
        histogram, _, figure = name.rpartition(".")
        if figure in self.raw.get("histograms", {}).get(histogram, {}):
            return float(self.raw["histograms"][histogram][figure])
        ticked = self.raw.get("tickers")
        return math.nan if ticked is None else _ratio(float(ticked.get(name, 0)), self.operations())

    @property
    def metric_names(self) -> list[str]:
        """The names of all that `metric` knows of this window."""
        histograms = self.raw.get("histograms", {})
        return [
            *FIGURES,
            *self.raw.get("tickers", {}),
            *(f"{name}.{figure}" for name in histograms for figure in HISTOGRAM_FIGURES),
        ]

    def _counted_figures(self) -> dict[str, float]:
        operations = self.operations()
        written = sum(self._amount("device_bytes", cause) for cause in ("wal", "flush", "compaction_write"))
        reads = self.operations((*READ_KINDS, "read_modify_write"))
        latencies = {
            f"{name}_latency_us_{label}": latency_us
            for name, kinds in LATENCY_KINDS.items()
            for label, latency_us in zip(
                LATENCY_TAILS, self._latencies_us(kinds, tuple(LATENCY_TAILS.values())), strict=True
            )
        }
        return latencies | {
            "throughput_ops_s": _ratio(operations, self.seconds),
            "write_amplification": _ratio(written, self._amount("user_bytes_written")),
            "read_amplification": _ratio(self._amount("device_operations", "user_read"), reads),
            "space_amplification": _ratio(self._amount("db_bytes"), self._amount("logical_bytes")),
            "stalled_share": _ratio(self._amount("stalled_s"), self.seconds),
            "max_write_stop_s": self._amount("max_write_stop_s"),
            "db_bytes": self._amount("db_bytes"),
            "memtable_bytes": self._amount("memory_bytes", "memtables"),
            "block_cache_bytes": self._amount("memory_bytes", "block_cache"),
            "table_reader_bytes": self._amount("memory_bytes", "table_readers"),
            "resident_bytes": self._amount("memory_bytes", "resident"),
            "cpu_s_per_million_ops": _ratio(self._amount("cpu_s") * 1e6, operations),
            "others_cpu_share": _ratio(
                self._amount("others", "cpu_s"), self._amount("others", "available_s")
            ),
            "read_block_get_us_p99": self._amount("histograms", "rocksdb.read.block.get.micros", "p99"),
            "level0_to_level1_us_p99": _percentiles_us(self.raw.get("level0_compactions", {}), [99.0])[0],
        }

    def _amount(self, *path: str) -> float:
        """Returns a raw figure, NaN where it was not measured."""
        found: Any = self.raw
        for name in path:
            found = found.get(name, {})
        return math.nan if found == {} else float(found)


def _percentiles_us(histogram: Mapping[str, Any], percentiles: Sequence[float]) -> list[float]:
    """Returns percentiles of what was counted by upper bounds in nanoseconds; NaN of nothing."""
    pairs = histogram.get("latency_ns", [])
    if not pairs:
        return [math.nan] * len(percentiles)
    bounds, counts = np.array(pairs, dtype=np.float64).T
    order = np.argsort(bounds, kind="stable")
    cumulative = np.cumsum(counts[order])
    wanted = np.array(percentiles) / 100 * cumulative[-1] * (1 - 1e-12)
    return [float(bound) / 1e3 for bound in bounds[order][np.searchsorted(cumulative, wanted)]]


def _ratio(above: float, below: float) -> float:
    return above / below if below else math.nan


_STATES = frozenset(
    {
        "level_bytes",
        "level_files",
        "db_bytes",
        "logical_bytes",
        "live_keys",
        "memory_bytes",
        "histograms",
        "governor",
        "flsm",
        "until_s",
    }
)
_MAXIMA = frozenset({"max_write_stop_s"})
_KEPT = frozenset({"from_s", "interval_s", "event"})


def _merged(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """Adds two windows' raw figures, field by field as the field's name says."""
    result = dict(first)
    for name, later in second.items():
        earlier: Any = first.get(name)
        if name in _STATES or (earlier is None and name not in _KEPT):
            result[name] = later
        elif name in _KEPT:
            continue
        elif name in _MAXIMA:
            result[name] = max(earlier, later)
        elif name == "latency_ns":
            counts = dict(earlier)
            for bound, count in later:
                counts[bound] = counts.get(bound, 0) + count
            result[name] = [[bound, counts[bound]] for bound in sorted(counts)]
        elif isinstance(later, dict):
            result[name] = _merged(earlier, later)
        else:
            result[name] = earlier + later
    return result
