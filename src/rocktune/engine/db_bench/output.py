"""Parses the output of db_bench, from RocksDB 7.8 to the newest, into the worker's form of figures."""

import csv
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rocktune.measurement import LATENCY_KINDS, LATENCY_TAILS

_NUMBER = r"(\d+(?:\.\d+)?(?:e[+-]?\d+)?)"
_VERSION = re.compile(r"^RocksDB:\s+version (\d+\.\d+(?:\.\d+)?)", re.MULTILINE)
_ASSERTIONS = "WARNING: Assertions are enabled"
_LATENCIES = re.compile(
    rf"^Microseconds per (\w+):\nCount: (\d+)\s+Average: {_NUMBER}.*\n"
    rf"Min: {_NUMBER}\s+Median: .*?Max: {_NUMBER}\n"
    rf"Percentiles: (.*)\n-*\n((?:[\[(].*\n?)*)",
    re.MULTILINE,
)
_BUCKET = re.compile(r"^[\[(]\s*(\d+),\s*(\d+)\s*[\])]\s+(\d+)", re.MULTILINE)
_TICKER = re.compile(r"^(\S+) COUNT : (\d+)$", re.MULTILINE)
_HISTOGRAM = re.compile(
    rf"^(\S+) P50 : {_NUMBER} P95 : {_NUMBER} P99 : {_NUMBER} P100 : {_NUMBER} COUNT : (\d+) SUM : (\d+)$",
    re.MULTILINE,
)
_HISTOGRAM_FIELDS = ("p50", "p95", "p99", "max", "count", "sum")


@dataclass(frozen=True)
class LatencyTable:
    """A latency table that db_bench prints with --histogram.

    Attributes:
        count: number of operations.
        average_us: mean latency, microseconds.
        min_us: minimum latency, microseconds.
        max_us: maximum latency, microseconds.
        buckets: (lower bound, upper bound, count) with bounds in whole microseconds, ascending.
    """

    count: int
    average_us: float
    min_us: float
    max_us: float
    buckets: tuple[tuple[int, int, int], ...]

    def percentile_us(self, percentile: float) -> float:
        """Returns a percentile in microseconds, interpolated within its bucket as RocksDB does.

        Args:
            percentile: per cent, above 0 and at most 100.
        """
        threshold, below = self.count * percentile / 100, 0
        for lower, upper, count in self.buckets:
            if below + count >= threshold:
                found = lower + (upper - lower) * (threshold - below) / count
                return min(max(found, self.min_us), self.max_us)
            below += count
        return self.max_us


@dataclass(frozen=True)
class BenchmarkOutput:
    """The parsed result of one benchmark.

    Attributes:
        operations: number of operations done.
        seconds: seconds from the first thread's start to the last thread's end.
        latencies: latency tables by db_bench's kind of operation ("read", "write", "seek", "update").
        tickers: RocksDB's tickers by name; those that are 0 are left out.
        histograms: RocksDB's histograms by name, in the worker's form; empty ones are left out.
    """

    operations: int
    seconds: float
    latencies: Mapping[str, LatencyTable]
    tickers: Mapping[str, int]
    histograms: Mapping[str, Mapping[str, float]]


def rocksdb_version(text: str) -> str | None:
    """Returns the version in db_bench's header, such as "7.8.3"; None if the text has no such header."""
    found = _VERSION.search(text)
    return found[1] if found else None


def has_assertions(text: str) -> bool:
    """Returns whether db_bench warned that it was built with assertions."""
    return _ASSERTIONS in text


def parse_output(text: str, benchmark: str) -> BenchmarkOutput | None:
    """Parses the output of db_bench.

    Args:
        text: standard output of the program.
        benchmark: name of the benchmark whose result is wanted.

    Returns:
        The result; None if the text has no result of the benchmark.
    """
    result = re.search(
        rf"^{benchmark}\s*:\s*{_NUMBER} micros/op (\d+) ops/sec(?: {_NUMBER} seconds (\d+) operations)?",
        text,
        re.MULTILINE,
    )
    if result is None:
        return None
    latencies = {kind: _latency_table(*fields) for kind, *fields in _LATENCIES.findall(text)}
    if result[4] is None:
        # Before RocksDB 7.3 the line has only the rate, so operations are counted in the latency tables.
        operations = sum(table.count for table in latencies.values())
        seconds = operations / float(result[2]) if result[2] != "0" else 0.0
    else:
        operations, seconds = int(result[4]), float(result[3])
    return BenchmarkOutput(
        operations=operations,
        seconds=seconds,
        latencies=latencies,
        tickers={name: int(count) for name, count in _TICKER.findall(text) if count != "0"},
        histograms={
            name: _histogram(fields) for name, *fields in _HISTOGRAM.findall(text) if fields[4] != "0"
        },
    )


def parse_report(text: str) -> list[int]:
    """Returns the number of operations in each whole second, from the CSV text of --report_file."""
    return [int(row["interval_qps"]) for row in csv.DictReader(io.StringIO(text)) if row.get("interval_qps")]


def operations_of(output: BenchmarkOutput, kinds: Mapping[str, str]) -> dict[str, Any]:
    """Returns counts and latencies by operation kind, as the worker's field `operations` has them.

    Args:
        output: result of the benchmark.
        kinds: rocktune's operation kinds by db_bench's names.
    """
    if not output.latencies and len(kinds) == 1:
        return {kind: {"count": output.operations} for kind in kinds.values()}
    return {
        kind: {
            "count": table.count,
            "latency_ns": [[upper * 1000, count] for _, upper, count in table.buckets],
            "latency_sum_ns": round(table.average_us * table.count * 1000),
        }
        for name, kind in kinds.items()
        if (table := output.latencies.get(name)) is not None
    }


def latency_figures(output: BenchmarkOutput, kinds: Mapping[str, str]) -> dict[str, float]:
    """Returns the latency fields of `Measurement.figures`.

    They do not use the worker's form, which has no lower bounds: db_bench's buckets are wide, and percentiles
    have to be interpolated in them.

    Args:
        output: result of the benchmark.
        kinds: rocktune's operation kinds by db_bench's names; at most one for each latency field.
    """
    return {
        f"{field}_latency_us_{label}": table.percentile_us(percentile)
        for name, kind in kinds.items()
        for field, members in LATENCY_KINDS.items()
        if kind in members and (table := output.latencies.get(name)) is not None
        for label, percentile in LATENCY_TAILS.items()
    }


def _latency_table(
    count: str, average_us: str, min_us: str, max_us: str, _percentiles: str, buckets: str
) -> LatencyTable:
    """Returns a latency table from the texts that `_LATENCIES` matches."""
    bounds = tuple((int(lower), int(upper), int(found)) for lower, upper, found in _BUCKET.findall(buckets))
    return LatencyTable(int(count), float(average_us), float(min_us), float(max_us), bounds)


def _histogram(fields: list[str]) -> dict[str, float]:
    """Returns a histogram of RocksDB in the worker's form, with its average."""
    found = dict(zip(_HISTOGRAM_FIELDS, map(float, fields), strict=True))
    return found | {"average": found["sum"] / found["count"]}
