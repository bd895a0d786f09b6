"""The embedded engine over the real worker and the linked RocksDB."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from rocktune.device import DeviceSpec
from rocktune.engine import EmbeddedEngine, Engine, RunFailed
from rocktune.engine.local.data_directory import DataDirectory
from rocktune.importing import Fate, import_options
from rocktune.space import options_file_text
from rocktune.testing.engines import StoreEngineConformance, small_experiment
from rocktune.trial import Configuration, Experiment, Status
from rocktune.units import MIB
from rocktune.workload import WorkloadSpec

MakeEngine = Callable[..., EmbeddedEngine]


@pytest.fixture
def make_engine(tmp_path: Path, real_worker: tuple[str, ...]) -> Iterator[MakeEngine]:
    engines: list[EmbeddedEngine] = []

    def make(memory_limit_bytes: int = 0, disk_limit_bytes: int = 0) -> EmbeddedEngine:
        engines.append(EmbeddedEngine(tmp_path / "data", memory_limit_bytes, disk_limit_bytes, real_worker))
        return engines[-1]

    yield make
    for engine in engines:
        engine.close()


class TestConformance(StoreEngineConformance):
    @pytest.fixture
    def engine(self, make_engine: MakeEngine) -> Engine:
        return make_engine()


def writing(**changes: Any) -> Experiment:
    """Puts of 4 KiB as fast as one thread can, at full size."""
    workload = WorkloadSpec.model_validate(
        {
            "name": "writing",
            "keys": 1_000_000,
            "threads": 1,
            "value": {"low": 4096},
            "sessions": [{"mix": {"put": 1.0}}],
        }
    )
    return replace(replace(small_experiment(), workload=workload, scale=1), **changes)


def failure_of(engine: EmbeddedEngine, experiment: Experiment, until_s: float = 60.0) -> RunFailed:
    """Opens bare defaults and advances; returns how that failed. The engine must be none the worse for it."""
    with pytest.raises(RunFailed) as failure:
        engine.open(experiment, Configuration({}), seed=1).advance(until_s)
    sound = engine.open(small_experiment(), Configuration({}), seed=1)
    assert sound.advance(0.1).operations() > 0
    sound.close()
    assert "\n" not in failure.value.message
    return failure.value


def test_the_memory_limit(make_engine: MakeEngine) -> None:
    """Two write buffers of 64 MiB do not fit."""
    failure = failure_of(make_engine(memory_limit_bytes=80 * MIB), writing())
    assert failure.status is Status.OUT_OF_MEMORY


def test_a_full_device(make_engine: MakeEngine) -> None:
    device = DeviceSpec(name="small", capacity_bytes=30 * MIB)
    assert failure_of(make_engine(), writing(device=device)).status is Status.OUT_OF_DISK


def test_the_disk_limit(make_engine: MakeEngine) -> None:
    assert failure_of(make_engine(disk_limit_bytes=30 * MIB), writing()).status is Status.OUT_OF_DISK


@pytest.mark.parametrize(
    "refused",
    [
        {"cf": {"compression": "kSqueeze"}},
        {"cf": {"wite_buffer_size": "1048576"}},
        {"cf": {"write_buffer_size": "-1"}},
        {"cf": {"comparator": "my.comparator"}},
        {"cf": {"merge_operator": "my.merge"}},
        {"db": {"keep_log_file_num": "0"}},
        {"table": {"block_size": "0x1000"}},
    ],
)
def test_options_that_rocksdb_rejects(make_engine: MakeEngine, refused: dict[str, dict[str, str]]) -> None:
    failure = failure_of(make_engine(), writing(base_options=refused))
    assert failure.status is Status.INVALID
    ((_, (name, *_)),) = ((section, list(names)) for section, names in refused.items())
    assert name in failure.message


def test_an_assertion_of_rocksdbs(make_engine: MakeEngine) -> None:
    """RocksDB makes no cache of 2^30 shards, and asserts that it has one; without assertions it uses it."""
    failure = failure_of(make_engine(), writing(base_options={"db": {"table_cache_numshardbits": "30"}}))
    assert failure.status is Status.CRASHED
    assert re.search("killed by SIGABRT: .*BlobFileCache|killed by SIGSEGV", failure.message)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV])
def test_a_worker_that_dies_in_the_middle_of_a_window(
    make_engine: MakeEngine, number: signal.Signals
) -> None:
    engine = make_engine()
    run = engine.open(small_experiment(), Configuration({}), seed=1)

    def kill(phase: str, done: float, total: float) -> None:
        os.kill(run._worker._process.pid, number)

    with pytest.raises(RunFailed, match=f"crashed: killed by {number.name}"):
        run.advance(60.0, kill)
    run.close()
    engine.wait_for_removals()
    assert list((engine.data.path / "runs").glob("*/[0-9]*")) == []


def test_no_worker_survives_its_driver(tmp_path: Path, real_worker: tuple[str, ...]) -> None:
    """One parked, one in the middle of a window, and the checker; then a new driver tidies up."""
    text = (
        "import sys\n"
        "from pathlib import Path\n"
        "import psutil\n"
        "from rocktune.engine import EmbeddedEngine\n"
        "from rocktune.testing.engines import small_experiment\n"
        "engine = EmbeddedEngine(Path(sys.argv[1]), 0, 0, tuple(sys.argv[2:]))\n"
        "experiment = small_experiment()\n"
        "parked, busy = (engine.open(experiment, experiment.space.default(), 1) for _ in range(2))\n"
        "parked.advance(0.1)\n"
        "parked.park()\n"
        "workers = [each.pid for each in psutil.Process().children()]\n"
        "busy.advance(60.0, lambda *_: print(*workers, flush=True))\n"
    )
    command = [sys.executable, "-c", text, str(tmp_path / "data"), *real_worker]
    driver = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert driver.stdout is not None
    workers = [psutil.Process(int(pid)) for pid in driver.stdout.readline().split()]
    assert len(workers) == 3
    driver.kill()
    driver.wait()
    driver.stdout.close()
    _, alive = psutil.wait_procs(workers, timeout=60)
    assert alive == []
    data = DataDirectory(tmp_path / "data")
    assert data.tidied_bytes > 0
    data.close()
    assert list((tmp_path / "data" / "runs").iterdir()) == []


def test_a_run_does_no_harm_to_its_base(make_engine: MakeEngine) -> None:
    """Compaction and closing leave what is linked as it was."""
    engine = make_engine()
    experiment = small_experiment(preloaded_keys=64_000)
    configuration = experiment.space.default().replaced({"write_buffer_size": 32 * MIB})
    engine.open(experiment, configuration, seed=1).close()
    (base,) = (path for path in engine.data.bases.iterdir() if path.is_dir())
    before = {path.name: path.read_bytes() for path in base.iterdir()}
    assert any(name.endswith(".sst") for name in before)
    run = engine.open(experiment, configuration, seed=1)
    run.advance(1.0)
    run.close()
    assert {path.name: path.read_bytes() for path in base.iterdir()} == before


@pytest.mark.parametrize("name", ["comparator", "merge_operator"])
def test_what_only_an_application_has_points_to_engine_command(
    make_engine: MakeEngine, tmp_path: Path, name: str
) -> None:
    """As an option, and in an OPTIONS file, where it is left out if that application is what measures."""
    engine = make_engine()
    failure = failure_of(engine, writing(base_options={"cf": {name: "my.Own"}}))
    assert failure.status is Status.INVALID
    assert "engine 'command'" in failure.message
    path = tmp_path / "OPTIONS"
    options = {"cf": {name: "my.Own", "write_buffer_size": "1048576"}}
    path.write_text(options_file_text(options, engine.checker.rocksdb_version) + "\n")
    file = import_options(path, engine.checker.linked())
    assert [entry.name for entry in file.account.with_fate(Fate.FOREIGN)] == [name]
    (note,) = file.account.notes
    assert "my.Own" in note
    assert "engine 'command'" in note
    assert file.options["cf"]["write_buffer_size"] == "1048576"
    assert file.options["cf"][name] in ("leveldb.BytewiseComparator", "nullptr")
    (note,) = import_options(path, engine.checker.linked(), application_measures=True).account.notes
    assert "your program brings itself" in note


def test_an_options_file_that_rocksdb_wrote(make_engine: MakeEngine, tmp_path: Path) -> None:
    engine = make_engine()
    run = engine.open(small_experiment(), small_experiment().space.default(), seed=1)
    (written,) = (engine.data.path / "runs").glob("*/*/OPTIONS-*")
    file = import_options(written, engine.checker.linked())
    assert file.account.file_version == engine.checker.rocksdb_version
    assert file.options["cf"]["write_buffer_size"] == run.options["cf"]["write_buffer_size"]
    # A store that RocksDB opened has nothing left to adjust, and its own RocksDB knows all of it.
    assert set(file.account.counts()) <= {"used", "overridden", "without effect"}


def test_what_rocksdb_changes_shows_in_the_options_that_a_run_reads_back(make_engine: MakeEngine) -> None:
    engine = make_engine()
    opened = []
    for options in ({"write_buffer_size": "1"}, {"write_buffer_size": "60000"}, {"num_levels": "5"}):
        run = engine.open(writing(base_options={"db": {}, "cf": options}), Configuration({}), seed=1)
        opened.append(run.options)
        run.close()
    assert opened[0]["cf"]["write_buffer_size"] == "65536"
    assert opened[0] == opened[1] != opened[2]
