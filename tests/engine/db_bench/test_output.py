"""The parser on what db_bench really printed: tests/golden/db_bench/VERSION-BENCHMARK.txt."""

import re
from pathlib import Path

import pytest

from rocktune.engine.db_bench.output import (
    LatencyTable,
    has_assertions,
    latency_figures,
    operations_of,
    parse_output,
    parse_report,
    rocksdb_version,
)

GOLDEN = Path(__file__).parents[2] / "golden" / "db_bench"
NAMES = sorted(path.stem for path in GOLDEN.glob("*.txt"))
OLD = "fillrandom   :       2.397 micros/op 417165 ops/sec;   46.1 MB/s\n"


def text_of(name: str) -> str:
    return (GOLDEN / f"{name}.txt").read_text()


def test_both_versions_are_here() -> None:
    assert {name.partition("-")[0] for name in NAMES} == {"7.8.3", "11.8.1"}


@pytest.mark.parametrize(
    ("name", "operations", "seconds", "counts"),
    [
        ("7.8.3-readrandomwriterandom", 165658, 1.007, {"read": 82850, "write": 82808}),
        ("11.8.1-readrandomwriterandom", 360848, 1.006, {"read": 180450, "write": 180398}),
        ("7.8.3-mixgraph", 161148, 1.005, {"read": 133714, "write": 22570, "seek": 4864}),
        ("11.8.1-mixgraph", 260178, 1.007, {"read": 215994, "write": 36327, "seek": 7857}),
    ],
)
def test_the_result(name: str, operations: int, seconds: float, counts: dict[str, int]) -> None:
    output = parse_output(text_of(name), name.partition("-")[2])
    assert output is not None
    assert (output.operations, output.seconds) == (operations, seconds)
    assert {kind: table.count for kind, table in output.latencies.items()} == counts
    assert sum(counts.values()) == operations
    for table in output.latencies.values():
        assert sum(count for _, _, count in table.buckets) == table.count


@pytest.mark.parametrize("name", NAMES)
def test_percentiles_are_those_that_db_bench_prints(name: str) -> None:
    """They are printed with two digits."""
    text = text_of(name)
    output = parse_output(text, name.partition("-")[2])
    assert output is not None
    printed = re.findall(r"^Microseconds per (\w+):\n.*\n.*Median: (\S+) .*\nPercentiles: (.*)$", text, re.M)
    assert len(printed) == len(output.latencies) > 0
    for kind, median, percentiles in printed:
        table = output.latencies[kind]
        assert table.percentile_us(50) == pytest.approx(float(median), abs=1e-4)
        for percentile, figure in re.findall(r"P(\S+): (\S+)", percentiles):
            assert table.percentile_us(float(percentile)) == pytest.approx(float(figure), abs=0.0051)


def test_a_percentile_worked_by_hand() -> None:
    table = LatencyTable(10, 3.0, 1.5, 5.5, ((1, 2, 4), (2, 4, 4), (4, 6, 2)))
    # The 5th of 10 is 1 of 4 into (2, 4]: 2 + 2 * 1/4.
    assert table.percentile_us(50) == 2.5
    # 9.5 of 10 is 1.5 of 2 into (4, 6]: 4 + 2 * 0.75 = 5.5, which is the largest; 99% lies beyond it.
    assert table.percentile_us(95) == 5.5
    assert table.percentile_us(99) == 5.5
    # 0.1 of 4 into (1, 2] is 1.025, below the smallest.
    assert table.percentile_us(1) == 1.5


def test_statistics() -> None:
    output = parse_output(text_of("7.8.3-readrandomwriterandom"), "readrandomwriterandom")
    assert output is not None
    assert output.tickers["rocksdb.wal.bytes"] == 10734988
    assert output.tickers["rocksdb.flush.write.bytes"] == 279132
    assert "rocksdb.stall.micros" not in output.tickers
    assert output.histograms["rocksdb.db.get.micros"] == {
        "p50": 0.979754,
        "p95": 2.624801,
        "p99": 4.061834,
        "max": 16039.0,
        "count": 82850.0,
        "sum": 227481.0,
        "average": 227481 / 82850,
    }
    assert "rocksdb.compaction.times.micros" not in output.histograms


def test_the_workers_form() -> None:
    kinds = {"read": "get", "write": "put"}
    output = parse_output(text_of("7.8.3-readrandomwriterandom"), "readrandomwriterandom")
    assert output is not None
    operations = operations_of(output, kinds)
    assert operations["get"]["count"] == 82850
    assert operations["get"]["latency_ns"][:2] == [[1000, 30360], [2000, 39548]]
    assert operations["get"]["latency_sum_ns"] == round(3.3062 * 82850 * 1000)
    figures = latency_figures(output, kinds)
    assert set(figures) == {
        f"{name}_latency_us_{tail}" for name in ("read", "write") for tail in ("p50", "p95", "p99", "p999")
    }
    assert figures["write_latency_us_p99"] == pytest.approx(21.89, abs=0.0051)


def test_a_line_without_seconds() -> None:
    """RocksDB before 7.3; without tables nothing says how many operations there were."""
    table = text_of("7.8.3-readrandomwriterandom").partition("Microseconds per write")[2]
    output = parse_output(f"{OLD}Microseconds per write{table}", "fillrandom")
    assert output is not None
    assert (output.operations, output.seconds) == (82808, 82808 / 417165)
    alone = parse_output(OLD, "fillrandom")
    assert alone is not None
    assert alone.operations == 0
    assert not alone.latencies
    assert not alone.tickers
    assert not alone.histograms


@pytest.mark.parametrize("text", ["", "no db_bench\n", OLD, "readrandom : nonsense\n"])
def test_what_has_no_result(text: str) -> None:
    assert parse_output(text, "readrandom") is None


def test_the_report_file() -> None:
    assert parse_report("secs_elapsed,interval_qps\n1,164539\n2,0\n3,12\n") == [164539, 0, 12]
    assert parse_report("secs_elapsed,interval_qps\n1,164539\n2,") == [164539]
    assert parse_report("") == []


def test_the_header() -> None:
    assert rocksdb_version("Set seed\nRocksDB:    version 11.8.1\nDate:") == "11.8.1"
    assert rocksdb_version("RocksDB:    version 5.17\n") == "5.17"
    assert rocksdb_version("db_bench version 7.8.3\n") is None
    assert has_assertions(text_of("7.8.3-mixgraph"))
    assert not has_assertions(text_of("11.8.1-mixgraph"))
