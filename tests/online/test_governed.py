import math
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from rocktune.device import DeviceSpec
from rocktune.engine import EmbeddedEngine, RunFailed
from rocktune.errors import UserError
from rocktune.measurement import Measurement
from rocktune.online import MODES, GovernedLoad, GovernedRun, figures_of, mode_options, run_governed
from rocktune.report.governed import GOVERNED_LABELS, render_governed
from rocktune.workload import load_workload

LOAD = GovernedLoad(
    workload=load_workload("sine"),
    device=DeviceSpec(name="small", bandwidth_bytes_s=150_000_000),
    mode="enabled",
    scale=256,
    until_s=350.0,
    read_s=30.0,
)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[EmbeddedEngine]:
    engine = EmbeddedEngine(tmp_path / "data", memory_limit_bytes=0, disk_limit_bytes=0)
    with closing(engine):
        yield engine


@pytest.mark.parametrize("mode", MODES)
def test_every_mode_loads_a_store_and_reads_from_what_it_has_become(
    engine: EmbeddedEngine, mode: str
) -> None:
    told: list[float] = []
    run = run_governed(engine, replace(LOAD, mode=mode), lambda phase, done, total: told.append(done / total))
    assert run.windows[-1].until_s == pytest.approx(350 / 256)
    assert run.reads is not None
    found = figures_of(run)
    assert found["writes_accepted"] % 256 == 0
    assert found["writes_accepted"] > 0
    assert found["random_read_ops_s_after"] > 0
    assert 0 < found["read_hit_ratio"] < 1
    assert ("governor" in run.windows[-1].raw) == (mode in ("toggle", "proportional", "drains"))
    assert found["governor_settings"].get("interval_us") in (None, "39063")
    if mode == "disabled":
        assert found["level_files"][1:] == [0] * (len(found["level_files"]) - 1)
    assert all(len(values) == len(run.windows) for values in found["series"].values())
    assert all(0 <= share <= 1 for share in told)
    page = render_governed(found)
    assert all(label in page for label in GOVERNED_LABELS.values())


def test_without_reading_there_are_no_figures_of_reads(engine: EmbeddedEngine) -> None:
    run = run_governed(engine, replace(LOAD, until_s=50.0, read_s=0.0))
    assert run.reads is None
    assert math.isnan(figures_of(run)["random_read_ops_s_after"])


def test_a_governor_without_a_bandwidth_is_refused(engine: EmbeddedEngine) -> None:
    with pytest.raises(RunFailed, match="device_bytes_per_s"):
        run_governed(engine, replace(LOAD, mode="toggle", device=DeviceSpec(name="none")))


def test_modes_are_options() -> None:
    assert mode_options("enabled", {}) == {}
    assert mode_options("disabled", {})["cf"]["disable_auto_compactions"] == "true"
    assert mode_options("toggle", {"debt_bytes": "2GiB", "flush_share": "0.4"}) == {
        "governor": {"mode": "toggle", "debt_bytes": str(2 << 30), "flush_share": "0.4"}
    }


@pytest.mark.parametrize(
    ("mode", "settings", "message"),
    [
        ("toogle", {}, "did you mean 'toggle'"),
        ("toggle", {"debt_run": "3"}, "did you mean 'debt_runs'"),
        ("toggle", {"mode": "proportional"}, "mode"),
        ("toggle", {"flush_share": "2"}, "flush_share"),
        ("toggle", {"debt_runs": "many"}, "debt_runs"),
        ("enabled", {"debt_runs": "3"}, "mode 'enabled' has no governor"),
    ],
)
def test_bad_modes_and_settings_get_one_line(mode: str, settings: dict[str, str], message: str) -> None:
    with pytest.raises(UserError, match=message):
        mode_options(mode, settings)


def _window(from_s: float, until_s: float) -> Measurement:
    return Measurement(
        {
            "from_s": from_s, "until_s": until_s,
            "operations": {"put": {"count": 100, "latency_ns": [[1000, 100]]}},
            "user_bytes_written": 1_000_000, "stalled_s": 0.0, "max_write_stop_s": 0.01,
            "device_bytes": {"wal": 10**6, "flush": 2 * 10**6, "compaction_read": 0, "compaction_write": 1e6},
            "level_bytes": [1000, 0], "level_files": [3, 0], "db_bytes": 1000,
            "governor": {"compactions_off": False, "compaction_bytes_per_s": 0, "switched_off": 2},
        }
    )  # fmt: skip


def test_figures_are_at_full_size_and_rates_as_they_are() -> None:
    windows = (_window(0.0, 0.5), _window(0.5, 1.0))
    reads = Measurement({"from_s": 0, "until_s": 2.0, "operations": {"get": {"count": 50, "found": 20}}})
    run = GovernedRun(replace(LOAD, scale=4), windows, reads, "RocksDB 7.8.3", {})
    found = figures_of(run)
    assert found["writes_accepted"] == 800
    assert found["ingest_mb_s"] == pytest.approx(2.0)
    assert found["random_read_ops_s_after"] == pytest.approx(25.0)
    assert found["read_hit_ratio"] == pytest.approx(0.4)
    assert found["write_latency_us_p999"] == pytest.approx(4.0)
    assert found["max_write_stop_ms"] == pytest.approx(40.0)
    assert found["compaction_mb_s"] == pytest.approx(6.0)
    assert found["level_bytes"] == [4000, 0]
    assert found["level_files"] == [3, 0]
    assert found["governor"] == {"switched_off": 2}
    assert found["series"]["time_s"] == [2.0, 4.0]
    assert found["series"]["compaction_limit_mb_s"] == [None, None]
    assert run.between(0.0, 2.0).until_s == 0.5
