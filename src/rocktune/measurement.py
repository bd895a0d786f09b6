"""Measurements: the raw figures of a window of a run, and the figures calculated from them."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from rocktune.windows import merged_windows

# The worker's names of operation kinds. read_modify_write is in no group, because its latency is that of a
# read and a write together.
READ_KINDS = ("get", "get_absent")
WRITE_KINDS = ("put", "insert", "delete", "delete_range")
LATENCY_KINDS = {"read": READ_KINDS, "write": WRITE_KINDS, "scan": ("scan",)}
HISTOGRAM_FIGURES = ("average", "p50", "p95", "p99")
LATENCY_TAILS = {"p50": 50.0, "p95": 95.0, "p99": 99.0, "p999": 99.9}

FIGURES = (
    "throughput_ops_s",
    "sustained_throughput_ops_s",
    *(f"{name}_latency_us_{tail}" for name in LATENCY_KINDS for tail in LATENCY_TAILS),
    "longest_wait_us",
    "write_amplification",
    "read_amplification",
    "skipped_keys_per_scan",
    "space_amplification",
    "mean_space_amplification",
    "max_space_amplification",
    "stalled_share",
    "max_write_stop_s",
    "db_bytes",
    "memtable_bytes",
    "block_cache_bytes",
    "table_reader_bytes",
    "resident_bytes",
    "full_size_memory_bytes",
    "cpu_s_per_million_ops",
    "others_cpu_share",
    "read_block_get_us_p99",
    "level0_to_level1_us_p99",
    "compaction_debt_bytes",
)
"""The names of `Measurement.figures`."""


@dataclass(frozen=True)
class Measurement:
    """The measurement of a run in the window (from_s, until_s].

    Attributes:
        raw: the raw figures that the engine reported; docs/design/measurement.md describes their form.
            Counters cover the window, states are those at its end. Engines other than `embedded` may omit
            any of them. Figures that an engine reports itself are in `raw["figures"]` by name.
    """

    raw: dict[str, Any] = field(repr=False)

    @property
    def engine(self) -> str:
        """The system that was measured, such as "RocksDB 8.6.7, assertions off"; "" if unknown."""
        return str(self.raw.get("engine", ""))

    @property
    def from_s(self) -> float:
        """Age in seconds at which the window begins."""
        return float(self.raw["from_s"])

    @property
    def until_s(self) -> float:
        """Age in seconds at which the window ends."""
        return float(self.raw["until_s"])

    @property
    def seconds(self) -> float:
        """Length of the window in seconds."""
        return self.until_s - self.from_s

    @classmethod
    def on_neighbours(cls, given: "Measurement", others: Mapping[str, "Measurement"]) -> "Measurement":
        """Returns the measurement of a run on several workloads.

        Args:
            given: the measurement on the given workload, whose figures are those of the result.
            others: those on the other workloads by name.
        """
        measured = (given, *others.values())
        # Any of the runs may have been disturbed.
        disturbed = {
            name: math.fsum(each.raw["others"][name] for each in measured if "others" in each.raw)
            for name in given.raw.get("others", {})
        }
        together = {"neighbours": {name: other.raw for name, other in others.items()}}
        return cls(given.raw | together | ({"others": disturbed} if disturbed else {}))

    @property
    def neighbours(self) -> dict[str, "Measurement"]:
        """The measurements on the other workloads by name; empty for a run on one workload."""
        return {name: Measurement(raw) for name, raw in self.raw.get("neighbours", {}).items()}

    def merged(self, later: "Measurement") -> "Measurement":
        """Returns the measurement of this window and the following one together.

        Raises:
            ValueError: `later` does not begin at the age at which this window ends.
        """
        # Ages are sums of doubles, so two windows that touch may differ in the last bits.
        if not math.isclose(self.until_s, later.from_s, abs_tol=1e-6):
            raise ValueError(
                f"the window from {later.from_s} s does not follow the one until {self.until_s} s"
            )
        return Measurement(merged_windows(self.raw, later.raw))

    @property
    def device_bytes(self) -> float:
        """Bytes read from and written to the device for all causes; NaN if they were not counted."""
        counted = self.raw.get("device_bytes")
        return math.nan if counted is None else float(sum(counted.values()))

    @property
    def others_share(self) -> float:
        """Share of all processors' time that other programs, the kernel or the host used.

        NaN if the engine did not count it, as for a run from a recorded table.
        """
        return _ratio(self.amount("others", "cpu_s"), self.amount("others", "available_s"))

    def operations(self, kinds: Iterable[str] | None = None) -> int:
        """Returns the number of completed operations of these kinds; None means all kinds."""
        counted = self.raw.get("operations", {})
        return sum(
            int(counted[kind]["count"]) for kind in (counted if kinds is None else kinds) if kind in counted
        )

    def latency_us(self, kinds: Iterable[str], percentile: float) -> float:
        """Returns a latency percentile in microseconds over some kinds of operations; smaller is better.

        The histogram's relative error is under 2%. NaN if there were no such operations.

        Args:
            kinds: operation kinds (`READ_KINDS`, `WRITE_KINDS`, or others that the worker reports).
            percentile: the percentile, in (0, 100].
        """
        return self._latencies_us(kinds, [percentile])[0]

    def _latencies_us(self, kinds: Iterable[str], percentiles: Sequence[float]) -> list[float]:
        """Returns several percentiles as `latency_us` does; one pass over the histogram is much faster."""
        counted = self.raw.get("operations", {})
        pairs = [pair for kind in kinds for pair in counted.get(kind, {}).get("latency_ns", [])]
        return _percentiles_us({"latency_ns": pairs}, percentiles)

    @cached_property
    def figures(self) -> dict[str, float]:
        """The figures that objectives, constraints and tables use, by name; NaN if not defined.

        Smaller is better for all of them except the two of throughput:

        - `throughput_ops_s`: operations per second of the window.
        - `sustained_throughput_ops_s`: the same with the window's compaction debt paid. The debt takes the
          time in which the device was idle, and then further time at the device's rate.
        - `{read,write,scan}_latency_us_{p50,p95,p99,p999}`: latency percentiles.
        - `longest_wait_us`: the longest time that an operation of any kind took. Unlike `max_write_stop_s` it
          is never 0, and it includes waiting for whatever reason.
        - `write_amplification`: bytes written to the device, WAL included, per byte that the user wrote.
        - `read_amplification`: device reads that user reads cause, per user read.
        - `skipped_keys_per_scan`: entries that an iterator passed for each scan because they were deleted or
          replaced.
        - `space_amplification`: bytes of the store per byte of live data, at the window's end.
        - `{mean,max}_space_amplification`: its mean and maximum over the window.
        - `stalled_share`: share of the window in which RocksDB delayed or stopped writes.
        - `max_write_stop_s`: the longest stretch in which writes were stopped.
        - `db_bytes`: bytes of the store on the device.
        - `memtable_bytes`, `block_cache_bytes`, `table_reader_bytes` (filters and indexes outside the cache):
          memory of the store at the window's end. `resident_bytes`: that of the whole process.
        - `full_size_memory_bytes`: memory that the store takes at full size. At scale 1 it is that of the
          process; on a model it is calculated from RocksDB's own accounts.
        - `cpu_s_per_million_ops`: processor seconds per million operations.
        - `others_cpu_share`: share of all processors' time that other programs, the kernel or the host used.
          It shows how much the measurement was disturbed.
        - `read_block_get_us_p99`: time to read a block from the device, since the run began.
        - `level0_to_level1_us_p99`: wall time of a compaction of level 0. It and the last are adjacent tasks
          of Alabed and Yoneki.
        - `compaction_debt_bytes`: bytes that flushes and compactions would move in steady state for what was
          written, less the bytes that they moved. Below 0 if more was moved.
        """
        counted = self._counted_figures() if "operations" in self.raw else {}
        reported: dict[str, float] = self.raw.get("figures", {})
        # The user's own program knows its figures best, so what it reports wins over what we counted.
        return dict.fromkeys(FIGURES, math.nan) | counted | reported

    def metric(self, name: str) -> float:
        """Returns a figure, or a statistic that RocksDB counted; NaN if it was not measured.

        Args:
            name: one of `FIGURES`; a RocksDB ticker, whose count is divided by the number of operations; or a
                RocksDB histogram with one of `HISTOGRAM_FIGURES`, such as `rocksdb.db.get.micros.p99`, which
                covers the time since the run began and has RocksDB's unit.
        """
        if name in FIGURES:
            return self.figures[name]
        histogram, _, figure = name.rpartition(".")
        if figure in self.raw.get("histograms", {}).get(histogram, {}):
            return float(self.raw["histograms"][histogram][figure])
        ticked = self.raw.get("tickers")
        # The worker leaves out tickers at 0, so an absent one is 0 if any tickers were reported.
        return math.nan if ticked is None else _ratio(float(ticked.get(name, 0)), self.operations())

    @property
    def metric_names(self) -> list[str]:
        """All names for which `metric` can return a value of this window."""
        histograms = self.raw.get("histograms", {})
        return [
            *FIGURES,
            *self.raw.get("tickers", {}),
            *(f"{name}.{figure}" for name in histograms for figure in HISTOGRAM_FIGURES),
        ]

    @property
    def families(self) -> dict[str, "Measurement"]:
        """The part of each column family by name; empty for a workload on the default one alone.

        A part has the figures that can be told apart: those of operations, and live data.
        """
        window = {"from_s": self.from_s, "until_s": self.until_s}
        return {
            name: Measurement(
                part
                | window
                | {
                    "memory_bytes": {"memtables": part["memtable_bytes"]},
                    "db_bytes": sum(part["level_bytes"]),
                }
            )
            for name, part in self.raw.get("families", {}).items()
        }

    def _counted_figures(self) -> dict[str, float]:
        """Returns the figures calculated from the raw counters; NaN where a counter is missing."""
        operations = self.operations()
        # What the user's write causes on the device: the log, the flush, and each rewrite by a compaction.
        written = sum(self.amount("device_bytes", cause) for cause in ("wal", "flush", "compaction_write"))
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
            "sustained_throughput_ops_s": _ratio(operations, self.charged_s),
            "longest_wait_us": self.latency_us(self.raw["operations"], 100.0),
            "write_amplification": _ratio(written, self.amount("user_bytes_written")),
            "read_amplification": _ratio(self.amount("device_operations", "user_read"), reads),
            "skipped_keys_per_scan": self._skipped_keys_per_scan(),
            "space_amplification": _ratio(self.amount("db_bytes"), self.amount("logical_bytes")),
            **self._space_over_time(),
            "stalled_share": _ratio(self.amount("stalled_s"), self.seconds),
            "max_write_stop_s": self.amount("max_write_stop_s"),
            "db_bytes": self.amount("db_bytes"),
            "memtable_bytes": self.amount("memory_bytes", "memtables"),
            "block_cache_bytes": self.amount("memory_bytes", "block_cache"),
            "table_reader_bytes": self.amount("memory_bytes", "table_readers"),
            "resident_bytes": self.amount("memory_bytes", "resident"),
            "full_size_memory_bytes": self.amount("full_size_memory_bytes"),
            "cpu_s_per_million_ops": _ratio(self.amount("cpu_s") * 1e6, operations),
            "others_cpu_share": self.others_share,
            "read_block_get_us_p99": self.amount("histograms", "rocksdb.read.block.get.micros", "p99"),
            "level0_to_level1_us_p99": _percentiles_us(self.raw.get("level0_compactions", {}), [99.0])[0],
            "compaction_debt_bytes": self.amount("debt", "owed_bytes") - self.amount("debt", "moved_bytes"),
        }

    def _skipped_keys_per_scan(self) -> float:
        """Returns the entries that iterators passed for each scan; NaN without scans or RocksDB's tickers."""
        ticked = self.raw.get("tickers")
        # The worker leaves out tickers at 0.
        skipped = math.nan if ticked is None else float(ticked.get("rocksdb.number.iter.skip", 0))
        return _ratio(skipped, self.operations(("scan",)))

    def _space_over_time(self) -> dict[str, float]:
        """Returns mean and maximum of the space amplification over the window; NaN without a series."""
        series = self.raw.get("series", {})
        pairs = zip(series.get("stored_bytes", ()), series.get("live_bytes", ()), strict=True)
        # A store that begins empty has no live data in its first intervals.
        found = [stored / live for stored, live in pairs if live] or [math.nan]
        return {
            "mean_space_amplification": float(np.mean(found)),
            "max_space_amplification": float(np.max(found)),
        }

    @property
    def charged_s(self) -> float:
        """Seconds that the operations take with their compaction debt paid; NaN if unknown.

        The debt takes the device's time that the window left idle, and then further time. What was paid in
        advance gives its time back as far as the device set the pace, down to the time that the operations
        need in any case. Without that time (older records) nothing is given back.
        """
        busy_s, debt_s = self.amount("debt", "busy_s"), self.amount("debt", "debt_s")
        if math.isnan(debt_s) or debt_s >= 0:
            return debt_s if math.isnan(debt_s) else max(self.seconds, busy_s + debt_s)
        min_s = self.amount("debt", "min_s")
        given_back_s = -debt_s * min(1.0, busy_s / self.seconds)
        return (
            self.seconds if math.isnan(min_s) else max(min(min_s, self.seconds), self.seconds - given_back_s)
        )

    def amount(self, *path: str) -> float:
        """Returns the raw figure at a path of names; NaN if it was not measured."""
        found: Any = self.raw
        # A missing object gives {} for each further name too, so {} at the end means "not measured".
        for name in path:
            found = found.get(name, {})
        return math.nan if found == {} else float(found)


def _percentiles_us(histogram: Mapping[str, Any], percentiles: Sequence[float]) -> list[float]:
    """Returns percentiles in microseconds of a histogram; NaN if it is empty.

    Args:
        histogram: `latency_ns` holds pairs of a bucket's upper bound in nanoseconds and its count.
        percentiles: percentiles in (0, 100].
    """
    pairs = histogram.get("latency_ns", [])
    if not pairs:
        return [math.nan] * len(percentiles)
    bounds, counts = np.array(pairs, dtype=np.float64).T
    # Several kinds of operations were simply appended to each other, so bounds repeat and are out of order.
    order = np.argsort(bounds, kind="stable")
    cumulative = np.cumsum(counts[order])
    # The factor keeps rounding up from skipping a bucket whose cumulative count is exactly the one wanted.
    wanted = np.array(percentiles) / 100 * cumulative[-1] * (1 - 1e-12)
    return [float(bound) / 1e3 for bound in bounds[order][np.searchsorted(cumulative, wanted)]]


def _ratio(numerator: float, denominator: float) -> float:
    """Returns the quotient; NaN if the denominator is 0."""
    return numerator / denominator if denominator else math.nan
