from typing import Any

import pytest

from rocktune.device import DeviceSpec
from rocktune.engine.debt import CompactionDebt, collects_blobs, tree_data, tree_shape
from rocktune.measurement import Measurement
from rocktune.workload import WorkloadSpec
from rocktune.workload.loads import MixSpec
from rocktune.workload.sessions import SessionSpec

MIB = 1 << 20
CF = {
    "compaction_style": "kCompactionStyleLevel",
    "disable_auto_compactions": "false",
    "num_levels": "7",
    "write_buffer_size": str(MIB),
    "min_write_buffer_number_to_merge": "2",
    "level0_file_num_compaction_trigger": "4",
    "level0_slowdown_writes_trigger": "20",
    "level0_stop_writes_trigger": "36",
    "max_bytes_for_level_base": str(4 * MIB),
    "max_bytes_for_level_multiplier": "10.000000",
    "target_file_size_base": str(MIB),
    "target_file_size_multiplier": "1",
    "level_compaction_dynamic_level_bytes": "false",
    "compaction_options_universal": "{min_merge_width=3;size_ratio=5;max_size_amplification_percent=150;}",
    "compression": "kSnappyCompression",
}
OPTIONS = {"db": {"max_background_jobs": "8"}, "cf": CF, "table": {}}
WRITES = WorkloadSpec(name="writes", keys=100_000, sessions=(SessionSpec(mix=MixSpec(get=0.5, put=0.5)),))
READS = WRITES.model_copy(update={"sessions": (SessionSpec(mix=MixSpec(get=1.0)),)})
BOUND = DeviceSpec(name="bound", bandwidth_bytes_s=1000)


def window(**changes: Any) -> dict[str, Any]:
    """Returns a window of 10 s and 100 operations: 2,000 bytes written, 5,000 moved, 10,000 on the device."""
    return {
        "from_s": 0.0,
        "until_s": 10.0,
        "operations": {"put": {"count": 100}},
        "cpu_s": 4.0,
        "load_cpu_s": 2.0,
        "others": {"cpu_s": 0.0, "available_s": 20.0},
        "user_bytes_written": 2000,
        "device_bytes": {
            "wal": 2000,
            "flush": 1000,
            "compaction_read": 2000,
            "compaction_write": 2000,
            "user_read": 3000,
        },
        "device_operations": {
            "wal": 10,
            "flush": 10,
            "compaction_read": 100,
            "compaction_write": 40,
            "user_read": 50,
        },
    } | changes


def sustained(debt: CompactionDebt, raw: dict[str, Any]) -> float:
    return Measurement(raw | debt.charged(raw)).figures["sustained_throughput_ops_s"]


def test_debt_by_hand() -> None:
    # Steady state moves 4 bytes for each written: 8,000 owed, 5,000 moved, 3,000 owing are 3 s at 1,000 B/s.
    debt = CompactionDebt(WRITES, BOUND, OPTIONS, measured=4.0)
    raw = window()
    assert debt.charged(raw)["debt"] == {
        "owed_bytes": 8000.0,
        "moved_bytes": 5000.0,
        "busy_s": 10.0,
        "debt_s": pytest.approx(3.0),
        # Clients take 2 s of CPU time, the merges that are owed 2 s x min(1, 8,000 / 5,000), on 2 processors.
        "min_s": pytest.approx(2.0),
    }
    assert sustained(debt, raw) == pytest.approx(100 / 13)
    charged = Measurement(raw | debt.charged(raw))
    assert charged.figures["compaction_debt_bytes"] == 3000
    # Both windows together: 26 s for 200 operations.
    later = Measurement(window(from_s=10.0, until_s=20.0) | debt.charged(raw))
    assert charged.merged(later).figures["sustained_throughput_ops_s"] == pytest.approx(200 / 26)


def test_who_moved_more_is_credited() -> None:
    # 2 bytes owed for each written: 4,000 of the 5,000 that were moved. One second was paid in advance.
    debt = CompactionDebt(WRITES, BOUND, OPTIONS, measured=2.0)
    assert debt.charged(window())["debt"]["debt_s"] == pytest.approx(-1.0)
    assert sustained(debt, window()) == pytest.approx(100 / 9)


def test_a_credit_counts_as_far_as_the_device_set_the_pace() -> None:
    # At 2,000 B/s the device is busy for half of the window: of 0.5 s paid in advance, clients waited 0.25.
    half = DeviceSpec(name="half", bandwidth_bytes_s=2000)
    assert sustained(CompactionDebt(WRITES, half, OPTIONS, measured=2.0), window()) == pytest.approx(
        100 / 9.75
    )


def test_a_credit_ends_where_the_processors_set_the_pace() -> None:
    debt = CompactionDebt(WRITES, BOUND, OPTIONS, measured=2.0)
    # 18 s of CPU time of the clients and 2 s x 4,000 / 5,000 of the owed merges are 9.8 s on 2 processors.
    busy = window(cpu_s=20.0, load_cpu_s=18.0)
    assert sustained(debt, busy) == pytest.approx(100 / 9.8)
    # One thread cannot use two processors.
    single = CompactionDebt(WRITES.model_copy(update={"threads": 1}), BOUND, OPTIONS, measured=2.0)
    assert sustained(single, window(cpu_s=11.0, load_cpu_s=9.5)) == pytest.approx(100 / 9.5)


def test_no_credit_at_an_offered_rate() -> None:
    debt = CompactionDebt(WRITES.offered(10), BOUND, OPTIONS, measured=2.0)
    assert sustained(debt, window()) == pytest.approx(10)


def test_a_window_without_counted_processor_time_gets_no_credit() -> None:
    debt = CompactionDebt(WRITES, BOUND, OPTIONS, measured=2.0)
    assert sustained(debt, window(others={"cpu_s": 0.0, "available_s": 0.0})) == pytest.approx(10)


def test_older_records_get_no_credit() -> None:
    debt = CompactionDebt(WRITES, BOUND, OPTIONS, measured=2.0)
    old = {name: value for name, value in window().items() if name != "load_cpu_s"}
    assert sustained(debt, old) == pytest.approx(10)


def test_debt_first_takes_the_idle_device() -> None:
    # At 2,000 B/s the window keeps the device busy for 5 s; 1.5 s of debt fit into the other 5.
    idle = DeviceSpec(name="idle", bandwidth_bytes_s=2000)
    assert sustained(CompactionDebt(WRITES, idle, OPTIONS, measured=4.0), window()) == pytest.approx(10)


def test_operations_can_be_the_limit() -> None:
    # 150 of 210 operations moved 5,000 bytes: at 15 a second, each further byte takes 10 s / 5,000.
    slow = DeviceSpec(name="slow", iops=15)
    debt = CompactionDebt(WRITES, slow, OPTIONS, measured=4.0).charged(window())["debt"]
    assert (debt["busy_s"], debt["debt_s"]) == (pytest.approx(14.0), pytest.approx(6.0))


def test_without_limits_the_compaction_threads_are_the_device() -> None:
    # Six of eight jobs compact. They took 30 s together for 4,000 bytes: 5 s, 3,000 bytes more are 3.75 s.
    debt = CompactionDebt(WRITES, DeviceSpec(name="none"), OPTIONS, measured=4.0)
    times = {"histograms": {"rocksdb.compaction.times.micros": {"sum": 30e6}}}
    first = debt.charged(window(**times))["debt"]
    assert (first["busy_s"], first["debt_s"]) == (pytest.approx(5.0), pytest.approx(3.75))
    # The histogram goes on from the run's beginning, so nothing was compacted in the second window.
    assert debt.charged(window(**times))["debt"]["busy_s"] == 0


def test_reads_owe_nothing() -> None:
    raw = window(user_bytes_written=0)
    debt = CompactionDebt(READS, BOUND, OPTIONS).charged(raw)["debt"]
    assert debt["owed_bytes"] == 0


@pytest.mark.parametrize(
    "changes",
    [
        {"compaction_style": "kCompactionStyleFIFO"},
        {"disable_auto_compactions": "true"},
        {"num_levels": "1"},
        # Overwritten values leave garbage, whose collection has no model.
        {"enable_blob_files": "true", "min_blob_size": "1024"},
    ],
)
def test_options_without_a_model_have_no_figure(changes: dict[str, str]) -> None:
    debt = CompactionDebt(WRITES, BOUND, OPTIONS | {"cf": CF | changes})
    assert debt.charged(window()) == {}


def test_blob_files_have_debt_without_garbage_or_once_measured() -> None:
    blobs = OPTIONS | {"cf": CF | {"enable_blob_files": "true", "min_blob_size": "1024"}}
    inserts = WRITES.model_copy(update={"sessions": (SessionSpec(mix=MixSpec(get=0.5, insert=0.5)),)})
    assert [collects_blobs(each, blobs) for each in (WRITES, inserts, READS)] == [True, False, False]
    assert CompactionDebt(inserts, BOUND, blobs).charged(window())["debt"]["owed_bytes"] > 0
    assert CompactionDebt(WRITES, BOUND, blobs, measured=4.0).charged(window())["debt"]["owed_bytes"] == 8000
    above = {"cf": CF | {"enable_blob_files": "true", "min_blob_size": "1025"}}
    assert not collects_blobs(WRITES, above)
    # A missing threshold is RocksDB's: every value.
    assert collects_blobs(WRITES, {"cf": {"enable_blob_files": "true"}})
    users = OPTIONS | {"cf:users": {"enable_blob_files": "true"}}
    assert not collects_blobs(WRITES, users)


@pytest.mark.parametrize("section", ["flsm", "governor"])
def test_other_stores_have_no_figure(section: str) -> None:
    assert CompactionDebt(WRITES, BOUND, OPTIONS | {section: {}}).charged(window()) == {}


def test_the_model_charges_who_postpones() -> None:
    owed = [
        CompactionDebt(WRITES, BOUND, OPTIONS | {"cf": CF | changes}).charged(window())["debt"]["owed_bytes"]
        for changes in ({}, {"compaction_style": "kCompactionStyleUniversal"})
    ]
    assert all(each > 5000 for each in owed)


def test_universal_options_are_read() -> None:
    shape = tree_shape(OPTIONS, CF | {"compaction_style": "kCompactionStyleUniversal"}, 1040.0)
    assert shape is not None
    assert (shape.style, shape.min_merge_width, shape.size_ratio, shape.max_size_amplification) == (
        "universal",
        3,
        5,
        150,
    )
    assert (shape.max_merge_width, shape.max_runs, shape.similar_sizes) == ((1 << 32) - 1, -1, False)


def test_limits_of_universal_merges_are_read() -> None:
    # As RocksDB 11.8.1 writes them; 7.8.3 knows no max_read_amp.
    text = (
        "{allow_trivial_move=false;stop_style=kCompactionStopStyleSimilarSize;min_merge_width=2;"
        "compression_size_percent=-1;max_size_amplification_percent=200;incremental=false;"
        "max_merge_width=8;size_ratio=1;max_read_amp=16;}"
    )
    changed = {"compaction_style": "kCompactionStyleUniversal", "compaction_options_universal": text}
    shape = tree_shape(OPTIONS, CF | changed, 1040.0)
    assert shape is not None
    assert (shape.max_merge_width, shape.max_runs, shape.similar_sizes) == (8, 16, True)
    assert shape.buffer_bytes == float(CF["write_buffer_size"])


def test_entries_by_hand() -> None:
    # Key 16, number 8, value 1,024 * 0.55 compressed: 587.2 bytes, and 4.5% for index and filter.
    data = tree_data(WRITES, None, CF)
    assert data is not None
    assert data.entry_bytes == 1040
    assert data.file_entry_bytes == pytest.approx(613.6, abs=0.1)
    plain = tree_data(WRITES, None, CF | {"compression": "kNoCompression"})
    assert plain is not None
    assert plain.file_entry_bytes == pytest.approx(1048 * 1.045)
    blobs = tree_data(WRITES, None, CF | {"enable_blob_files": "true", "min_blob_size": "512"})
    assert blobs is not None
    assert blobs.file_entry_bytes == pytest.approx(54 * 1.045)
    assert tree_data(READS, None, CF) is None
