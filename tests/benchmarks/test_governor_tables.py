"""The figures that the governor's benchmarks derive from a run, and the thesis' values next to them."""

from dataclasses import replace
from typing import Any

import pytest
from benchmarks.common.published import published_figures
from benchmarks.governor.shared import CAPPED, DRAINS, LIMITED, TOGGLE
from benchmarks.governor.subcompactions import full_seconds, time_above
from benchmarks.governor.tables import UNITS, published_name, published_values, series_of, table_of
from benchmarks.governor.wave import AGES_S, DIFFERENCES

from rocktune.device import DeviceSpec
from rocktune.measurement import Measurement
from rocktune.online import GovernedLoad, GovernedRun
from rocktune.workload import load_workload

LOAD = GovernedLoad(load_workload("sine"), DeviceSpec(name="d"), "enabled", scale=100, until_s=400.0)


def window(end: int, levels: list[int], **further: Any) -> Measurement:
    """Returns a window of 2 s that accepts 1 MB and writes 3 MB by flushes and compactions."""
    megabyte = 10**6
    return Measurement(
        {
            "from_s": end - 2.0, "until_s": float(end), "user_bytes_written": megabyte,
            "operations": {"put": {"count": 10, "latency_ns": [[1000, 10]]}},
            "stalled_s": 0.0, "max_write_stop_s": 0.0, "db_bytes": sum(levels),
            "device_bytes": {"wal": megabyte, "flush": megabyte, "compaction_read": 5 * megabyte,
                             "compaction_write": 2 * megabyte},
            "level_bytes": levels, "level_files": [25, 0, 0],
            "histograms": {"rocksdb.db.flush.micros": {"sum": 500_000.0 * end},
                           "rocksdb.compaction.times.micros": {"sum": 1_000_000.0 * end}},
        } | further
    )  # fmt: skip


def run_of(*windows: Measurement) -> GovernedRun:
    reads = Measurement({"from_s": 0.0, "until_s": 2.0, "operations": {"get": {"count": 1000, "found": 250}}})
    return GovernedRun(LOAD, windows, reads, "RocksDB", {})


def test_a_table_is_cumulative_and_at_full_size() -> None:
    run = run_of(window(2, [10**7, 0, 0]), window(4, [10**7, 10**8, 0, 0, 10**6]))
    first, last = series_of(run)
    assert first["time_s"] == 200.0
    assert first["written_gb"] == pytest.approx(0.3), "3 MB on a model of 1/100"
    assert last["written_gb"] == pytest.approx(0.6)
    assert last["write_amplification"] == pytest.approx(3.0), "without the log"
    assert last["compaction_s"] == pytest.approx(600.0), "1.5 s for each of 4 s, on a model of 1/100"
    assert last["db_gb"] == pytest.approx(11.1)
    assert [last[f"level{level}_gb"] for level in range(4)] == pytest.approx([1.0, 10.0, 0.0, 0.0])
    table = table_of(run)
    assert set(table) == set(UNITS)
    assert table["compaction_mb_s"] == pytest.approx(1.5)
    assert table["read_mb_s"] == pytest.approx(1.25), "500 reads a second, a quarter finds 10 kB"


def test_the_values_of_the_text_are_named_as_the_claims_are() -> None:
    figures = {*UNITS, "ingest_mb_s"} | {f"minus_{other}_{figure}" for other, figure in DIFFERENCES}
    names = {
        published_name(way, f"{figure}_{age_s:.0f}")
        for way in ("enabled", "disabled", "toggle")
        for figure in figures
        for age_s in AGES_S
    }
    assert published_values()
    assert set(published_values()) <= names
    assert published_name("drains", "x") == published_name("toggle", "x")
    assert published_name("proportional", "x") is None


def test_values_follow_from_the_writes_that_the_text_states() -> None:
    values = published_values()
    for name, writes, age_s in (
        ("enabled_ingest_mb_s_350", 222_000, 350), ("disabled_ingest_mb_s_350", 426_000, 350),
        ("tuned_ingest_mb_s_350", 423_000, 350), ("enabled_ingest_mb_s_700", 291_000, 700),
        ("disabled_ingest_mb_s_700", 464_000, 700), ("tuned_ingest_mb_s_700", 462_000, 700),
    ):  # fmt: skip
        assert values[name] == pytest.approx(writes / age_s / 10, abs=0.05), name
    assert values["tuned_level2_gb_1000"] == pytest.approx(11.55 * 2**30 / 1e9, abs=0.05)
    assert values["tuned_minus_enabled_db_gb_700"] == pytest.approx(13.3 * 2**30 / 1e9, abs=0.05)
    assert values["tuned_minus_enabled_compaction_mb_s_700"] == pytest.approx(-75 * 2**20 / 1e6, abs=0.05)


def test_figures_with_values_are_the_thesis_tables() -> None:
    with_values = {figure.name for figure in published_figures() if figure.values}
    assert with_values == {"warlo_4.4", "warlo_4.6", "warlo_4.8"}


def test_time_above_a_bound_counts_whole_windows_after_the_peak() -> None:
    assert time_above([10, 20, 30, 40], [30, 30, 20, 21], 10, 20) == 20
    assert time_above([10, 20], [30, 30], 20, 20) == 0
    full = run_of(window(2, [1]), window(4, [1]), window(6, [1], level_files=[20]))
    assert full_seconds(full) == pytest.approx(200.0), "the first window is before the peak"


def test_ways_without_a_switch_differ_in_nothing_else() -> None:
    assert LIMITED.options == TOGGLE.options == DRAINS.options == CAPPED.options
    assert {**TOGGLE.governor, "merge_level0": "false"} == LIMITED.governor
    assert {**DRAINS.governor, "flush_share": "1", "total_share": "1"} == CAPPED.governor
    assert replace(CAPPED, name=DRAINS.name, governor=DRAINS.governor) == DRAINS
