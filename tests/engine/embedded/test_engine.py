import os
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest
from tests.processes import children

from rocktune.api import engines
from rocktune.engine import EmbeddedEngine, Engine, RunFailed
from rocktune.engine.embedded import engine as embedded
from rocktune.engine.local import engine as local_engine
from rocktune.engine.local import run as local_run
from rocktune.engine.local.data_directory import DataDirectory
from rocktune.engine.worker import WorkerProcess
from rocktune.errors import UserError
from rocktune.importing import OptionsFileError, import_options
from rocktune.testing.engines import StoreEngineConformance, small_experiment
from rocktune.testing.fake_worker import fake_worker_command
from rocktune.trial import Configuration, Status
from rocktune.units import MIB

EXPERIMENT = small_experiment()
DEFAULT = EXPERIMENT.space.default()
MakeEngine = Callable[..., EmbeddedEngine]


@pytest.fixture
def make_engine(tmp_path: Path) -> Iterator[MakeEngine]:
    """Makes engines over the made-up store with the faults given; closes them."""
    engines: list[EmbeddedEngine] = []

    def make(*faults: str, **settings: Any) -> EmbeddedEngine:
        limits = {"memory_limit_bytes": 0, "disk_limit_bytes": 0} | settings
        engines.append(EmbeddedEngine(tmp_path / "data", worker=fake_worker_command(*faults), **limits))
        return engines[-1]

    yield make
    for engine in engines:
        engine.close()


class TestConformance(StoreEngineConformance):
    @pytest.fixture
    def engine(self, make_engine: MakeEngine) -> Engine:
        return make_engine()


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The fields of every `open` that workers are sent."""
    fields: list[dict[str, Any]] = []
    request = WorkerProcess.request

    def recording(self: WorkerProcess, command: str, *arguments: Any, **named: Any) -> dict[str, Any]:
        if command == "open":
            fields.append(arguments[1])
        return request(self, command, *arguments, **named)

    monkeypatch.setattr(WorkerProcess, "request", recording)
    return fields


def files(engine: EmbeddedEngine) -> list[Path]:
    engine.wait_for_removals()
    return [path for path in (engine.data.path / "runs").glob("*/*/*") if path.is_file()]


@pytest.mark.parametrize("command", ["open", "advance", "park"])
@pytest.mark.parametrize(
    ("fault", "status"),
    [
        ("segfault", Status.CRASHED),
        ("assertion", Status.CRASHED),
        ("garbage", Status.CRASHED),
        ("invalid", Status.INVALID),
        ("out_of_memory", Status.OUT_OF_MEMORY),
        ("out_of_disk", Status.OUT_OF_DISK),
    ],
)
def test_a_failed_run_is_over_and_the_engine_goes_on(
    make_engine: MakeEngine, command: str, fault: str, status: Status
) -> None:
    engine = make_engine(f"{command}={fault}@cf.num_levels=3")

    def whole_run(configuration: Configuration) -> None:
        run = engine.open(EXPERIMENT, configuration, seed=1)
        try:
            run.advance(1.0)
            run.park()
        finally:
            run.close()

    with pytest.raises(RunFailed) as failure:
        whole_run(DEFAULT.replaced({"num_levels": 3}))
    assert failure.value.status is status
    assert files(engine) == []
    whole_run(DEFAULT)


def test_a_failed_run_says_the_same_again(make_engine: MakeEngine) -> None:
    run = make_engine("advance=out_of_disk").open(EXPERIMENT, DEFAULT, seed=1)
    for until_s in (1.0, 2.0):
        with pytest.raises(RunFailed, match="out_of_disk: made up: out_of_disk"):
            run.advance(until_s)
    with pytest.raises(RunFailed, match="out_of_disk: made up: out_of_disk"):
        run.park()
    run.close()


def test_a_hang_is_timed_out(make_engine: MakeEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "OPEN_TIMEOUT_S", 0.5)
    engine = make_engine("open=hang@cf.num_levels=3")
    with pytest.raises(RunFailed, match="timed_out: no answer to 'open'"):
        engine.open(EXPERIMENT, DEFAULT.replaced({"num_levels": 3}), seed=1)


def test_a_window_gets_three_times_its_length_and_a_minute(
    make_engine: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_engine().open(EXPERIMENT, DEFAULT, seed=1)
    measured = run.advance(1.0).raw
    granted: list[float] = []

    def request(_self: WorkerProcess, _command: str, timeout_s: float, *_rest: object) -> dict[str, Any]:
        granted.append(timeout_s)
        return measured

    monkeypatch.setattr(WorkerProcess, "request", request)
    run.advance(11.0)
    assert granted == [90.0]


def test_an_interrupted_run_cannot_go_on(make_engine: MakeEngine) -> None:
    run = make_engine().open(EXPERIMENT, DEFAULT, seed=1)

    def interrupt(phase: str, done: float, total: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run.advance(1.0, interrupt)
    with pytest.raises(RunFailed, match="crashed: the run was interrupted"):
        run.advance(1.0)
    run.close()


def test_a_killed_worker_is_a_crash(make_engine: MakeEngine) -> None:
    run = make_engine().open(EXPERIMENT, DEFAULT, seed=1)
    os.kill(run._worker._process.pid, 9)
    with pytest.raises(RunFailed, match="crashed: killed by SIGKILL"):
        run.advance(1.0)
    run.close()


def test_closing_takes_processes_and_files(make_engine: MakeEngine) -> None:
    engine = make_engine()
    runs = [engine.open(EXPERIMENT, DEFAULT, seed=seed) for seed in range(3)]
    pids = [run._worker._process.pid for run in runs]
    assert len(files(engine)) == 6
    runs[0].close()
    assert len(files(engine)) == 4
    engine.close()
    assert list((engine.data.path / "runs").iterdir()) == []
    assert not any(psutil.pid_exists(pid) for pid in pids)


def test_what_a_run_is_opened_with(make_engine: MakeEngine, opened: list[dict[str, Any]]) -> None:
    engine = make_engine(memory_limit_bytes=1 << 40, disk_limit_bytes=5 << 20)
    engine.open(EXPERIMENT, DEFAULT, seed=42)
    fields = opened[-1]
    assert fields["seed"] == 42
    assert fields["workload"]["keys"] == 4000
    assert fields["device"]["name"] == "none"
    # At 1/16 a second is worth 16, but a series finer than 0.1 s is noise.
    assert fields["series_interval_s"] == 0.1
    # Twice 1000 MiB / 16 = 125 MiB, and 512 MiB.
    assert fields["memory_limit_bytes"] == 637 * MIB
    assert fields["disk_limit_bytes"] == 5 << 20
    assert fields["options"]["cf"]["write_buffer_size"] == str(4 * MIB)
    assert fields["options"]["cf"]["max_bytes_for_level_base"] == str(16 * MIB)
    assert fields["options"]["cf"]["level_compaction_dynamic_level_bytes"] == "false"
    assert fields["options"]["table"]["block_size"] == "4096"


@pytest.mark.parametrize(("scale", "interval_s"), [(1, 1.0), (4, 0.25), (64, 0.1)])
def test_the_series_interval_shrinks_with_the_scale(
    make_engine: MakeEngine, opened: list[dict[str, Any]], scale: int, interval_s: float
) -> None:
    make_engine().open(replace(EXPERIMENT, scale=scale), DEFAULT, seed=1)
    assert opened[-1]["series_interval_s"] == interval_s


def test_the_engines_limits_hold_where_they_are_lower(
    make_engine: MakeEngine, opened: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(DataDirectory, "free_bytes", lambda self: 3 << 20)
    engine = make_engine(memory_limit_bytes=100 * MIB, disk_limit_bytes=0)
    engine.open(EXPERIMENT, DEFAULT, seed=1)
    assert (opened[-1]["memory_limit_bytes"], opened[-1]["disk_limit_bytes"]) == (100 * MIB, 3 << 20)


def test_without_room_a_run_is_out_of_disk(make_engine: MakeEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = make_engine()
    monkeypatch.setattr(DataDirectory, "free_bytes", lambda self: 0)
    with pytest.raises(RunFailed, match="out_of_disk: less than 256MiB are free under"):
        engine.open(EXPERIMENT, DEFAULT, seed=1)


def test_a_full_file_system_is_refused(make_engine: MakeEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DataDirectory, "free_bytes", lambda self: -1)
    with pytest.raises(
        UserError, match="0B are needed in addition to a reserve of 256MiB, and 256MiB are free"
    ):
        make_engine()
    assert children() == []


def test_bare_defaults_are_scaled_too(make_engine: MakeEngine, opened: list[dict[str, Any]]) -> None:
    make_engine().open(EXPERIMENT, Configuration({}), seed=1)
    options = opened[-1]["options"]
    # Sixteenths of 64 MiB, 256 MiB and the made-up store's 8 MiB; counts and names stay unsaid.
    assert options["cf"]["write_buffer_size"] == str(4 * MIB)
    assert options["cf"]["max_bytes_for_level_base"] == str(16 * MIB)
    assert options["table"] == {"block_cache": str(MIB // 2)}
    assert "num_levels" not in options["cf"]
    assert "compression" not in options["cf"]


def test_bases_are_shared_by_what_acts_on_all_files(
    make_engine: MakeEngine, opened: list[dict[str, Any]]
) -> None:
    engine = make_engine()
    experiment = small_experiment(preloaded_keys=64_000)

    def bases() -> int:
        return sum(path.is_dir() for path in engine.data.bases.iterdir())

    shaped = DEFAULT.replaced({"num_levels": 5})
    for configuration, expected in (
        (DEFAULT, 1),
        (DEFAULT.replaced({"write_buffer_size": 32 * MIB}), 1),
        (shaped, 2),
        (shaped.replaced({"level0_file_num_compaction_trigger": 2}), 2),
        (Configuration({}), 3),
    ):
        engine.open(experiment, configuration, seed=1).close()
        assert bases() == expected
    theirs = replace(experiment, base_options={"cf": {"num_levels": "4", "write_buffer_size": "33554432"}})
    engine.open(theirs, Configuration({}), seed=1)
    engine.open(theirs, DEFAULT.replaced({"num_levels": 4, "write_buffer_size": 64 * MIB}), seed=1)
    engine.open(replace(experiment, scale=8), DEFAULT, seed=1)
    assert bases() == 5
    # A base is made with the shaping knobs of its own configuration and the defaults of all others.
    made = [fields for fields in opened if fields["seed"] == 0]
    assert [fields["options"]["cf"].get("num_levels") for fields in made] == ["10", "5", None, "4", "10"]
    assert {fields["options"]["cf"]["write_buffer_size"] for fields in made} == {str(4 * MIB), str(8 * MIB)}
    assert all(fields["device"]["name"] == "none" for fields in made)


def test_a_base_is_made_without_the_device(make_engine: MakeEngine, opened: list[dict[str, Any]]) -> None:
    experiment = small_experiment(preloaded_keys=64_000)
    slow = experiment.device.model_copy(update={"name": "slow", "bandwidth_bytes_s": 1})
    make_engine().open(replace(experiment, device=slow), DEFAULT, seed=1)
    assert [fields["device"]["bandwidth_bytes_s"] for fields in opened] == [0, 1]


def test_a_base_that_cannot_be_made_fails_the_run(make_engine: MakeEngine) -> None:
    engine = make_engine("load=segfault@cf.num_levels=3")
    experiment = small_experiment(preloaded_keys=64_000)
    with pytest.raises(RunFailed, match="crashed: killed by SIGSEGV"):
        engine.open(experiment, DEFAULT.replaced({"num_levels": 3}), seed=1)
    assert [path for path in engine.data.bases.iterdir() if path.is_dir()] == []
    engine.open(experiment, DEFAULT, seed=1)


def test_time_is_kept_apart(make_engine: MakeEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a clock that moves 1 s at every look: opening never contains loading."""
    engine = make_engine()
    ticks = iter(range(1_000_000))
    for module in (embedded, local_engine, local_run):
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: float(next(ticks))))
    experiment = small_experiment(preloaded_keys=64_000)
    # Looks: opening begins, loading begins, loading ends, opening ends: 3 s, of which 1 s is loading.
    run = engine.open(experiment, DEFAULT, seed=1)
    assert (engine.opening_s, engine.loading_s) == (2.0, 1.0)
    run.close()
    assert (engine.opening_s, engine.loading_s) == (3.0, 1.0)
    # The base is there.
    engine.open(experiment, DEFAULT, seed=1)
    assert (engine.opening_s, engine.loading_s) == (4.0, 1.0)


def test_nothing_is_removed_while_a_run_is_loaded(
    make_engine: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = make_engine()
    removed: list[Path] = []

    def slowly(path: Path, **_: Any) -> None:
        time.sleep(0.3)
        removed.append(path)

    monkeypatch.setattr(local_engine, "shutil", SimpleNamespace(rmtree=slowly))
    first = engine.open(EXPERIMENT, DEFAULT, seed=1)
    first.close()
    engine.open(EXPERIMENT, DEFAULT, seed=2).advance(1.0)
    assert removed == [first.directory]


def test_what_a_run_leaves_free_is_there_for_the_next_one(
    make_engine: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a file system that one store fills, the next is told how much it may take once the first is gone."""
    engine = make_engine()
    stores: list[Path] = []
    remove = shutil.rmtree

    def slowly(path: Path, **given: Any) -> None:
        time.sleep(0.3)
        remove(path, **given)

    def free_bytes(_: DataDirectory) -> int:
        return 0 if any(store.exists() for store in stores) else 1 << 30

    monkeypatch.setattr(local_engine, "shutil", SimpleNamespace(rmtree=slowly))
    first = engine.open(EXPERIMENT, DEFAULT, seed=1)
    stores.append(first.directory)
    monkeypatch.setattr(DataDirectory, "free_bytes", free_bytes)
    first.close()
    engine.open(EXPERIMENT, DEFAULT, seed=2)


def test_the_version_says_what_is_measured(make_engine: MakeEngine) -> None:
    engine = make_engine()
    assert engine.version == "RocksDB 7.8.3, assertions off"
    assert engine.can_park


def test_options_files_are_read_by_the_linked_rocksdb(make_engine: MakeEngine, tmp_path: Path) -> None:
    linked = make_engine().checker.linked()
    path = tmp_path / "OPTIONS"
    path.write_text('[DBOptions]\n[CFOptions "default"]\nnum_levels=4\n')
    file = import_options(path, linked)
    assert (file.account.rocksdb_version, file.options["cf"]["num_levels"]) == ("7.8.3", "4")
    path.write_text("\x00\x01")
    with pytest.raises(UserError, match=f"^options file {path}: "):
        import_options(path, linked)
    assert linked.defaults["cf"]["num_levels"] == "7"


def test_an_options_file_on_which_the_worker_dies(
    monkeypatch: pytest.MonkeyPatch, make_engine: MakeEngine, tmp_path: Path
) -> None:
    checker = make_engine("examine_options=segfault").checker
    monkeypatch.setattr(engines, "OptionsChecker", lambda _: checker)
    path = tmp_path / "OPTIONS"
    path.write_text('[CFOptions "default"]\nnum_levels=4\n')
    died = "RocksDB 7.8.3 opens no store with the options of column family 'default': killed by SIGSEGV$"
    with pytest.raises(OptionsFileError, match=died):
        engines.own_options_file(path)


def test_bad_input_writes_nothing(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be started"):
        EmbeddedEngine(tmp_path / "data", 0, 0, worker=(str(tmp_path / "absent"),))
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "foreign").write_text("x")
    with pytest.raises(UserError, match="holds files that are not rocktune's"):
        EmbeddedEngine(tmp_path, 0, 0, worker=fake_worker_command())
    assert children() == []
