"""The engine over a real db_bench; one that misbehaves is the real one behind a script."""

import math
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from rocktune.device import DeviceSpec
from rocktune.engine import DbBenchEngine, Engine, RunFailed
from rocktune.engine.worker import WORKER_VARIABLE
from rocktune.errors import UserError
from rocktune.space import load_space
from rocktune.testing.engines import StoreEngineConformance, small_experiment
from rocktune.trial import Configuration, Experiment, Status
from rocktune.units import MIB
from rocktune.workload import WorkloadSpec

MakeEngine = Callable[..., DbBenchEngine]
BARE = Configuration({})
MISSING = "db_bench is not here (Debian has it in rocksdb-tools)"
NEWEST = Path(__file__).parents[3] / "build" / "rocksdb" / "bin" / "db_bench"


@pytest.fixture
def make_engine(
    tmp_path: Path, real_worker: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> Iterator[MakeEngine]:
    monkeypatch.setenv(WORKER_VARIABLE, real_worker[0])
    engines: list[DbBenchEngine] = []

    def make(
        program: str | Path = "db_bench", memory_limit_bytes: int = 0, disk_limit_bytes: int = 0
    ) -> DbBenchEngine:
        if shutil.which(program) is None:
            pytest.skip(MISSING)
        engines.append(DbBenchEngine(str(program), tmp_path / "data", memory_limit_bytes, disk_limit_bytes))
        return engines[-1]

    yield make
    for engine in engines:
        engine.close()


@pytest.fixture(scope="module")
def sound_engine(
    tmp_path_factory: pytest.TempPathFactory, real_worker: tuple[str, ...]
) -> Iterator[DbBenchEngine]:
    """One for all tests that preload the same, which takes db_bench five seconds."""
    if shutil.which("db_bench") is None:
        pytest.skip(MISSING)
    with pytest.MonkeyPatch.context() as environment, ExitStack() as closed:
        environment.setenv(WORKER_VARIABLE, real_worker[0])
        engine = DbBenchEngine("db_bench", tmp_path_factory.mktemp("sound") / "data", 0, 0)
        closed.callback(engine.close)
        yield engine


def experiment_of(mix: dict[str, float], preloaded_keys: int = 0, **changes: Any) -> Experiment:
    """Small values on 4,000 keys, which are what 64,000 come to at 1/16."""
    workload = WorkloadSpec.model_validate(
        {
            "name": "small",
            "keys": 64_000,
            "threads": 2,
            "value": {"kind": "uniform", "low": 50, "high": 150},
            "preload": {"keys": preloaded_keys},
            "sessions": [{"mix": mix}],
        }
        | changes
    )
    return replace(small_experiment(), workload=workload)


class TestConformance(StoreEngineConformance):
    @pytest.fixture
    def engine(self, make_engine: MakeEngine) -> Engine:
        return make_engine()

    @pytest.fixture
    def experiment(self) -> Experiment:
        return experiment_of({"get": 0.5, "put": 0.5})

    def test_the_same_seed_gives_the_same_operations(
        self, engine: Engine, configuration: Configuration
    ) -> None:
        """How many there are depends on time: db_bench has no other arrival."""
        pytest.skip("db_bench has closed loops alone")

    def test_a_preloaded_run_begins_with_its_keys(self, engine: Engine, configuration: Configuration) -> None:
        """As in `StoreEngineConformance`, with a workload that db_bench has."""
        experiment = experiment_of({"get": 0.9, "put": 0.1}, preloaded_keys=64_000)
        loading_s = []
        for seed in (1, 2):
            run = engine.open(experiment, configuration, seed)
            window = run.advance(0.2)
            run.close()
            get = window.raw["operations"]["get"]
            assert get["found"] == get["count"] > 0
            assert window.raw["live_keys"] == 4_000
            loading_s.append(engine.loading_s)
        assert 0 < loading_s[0] == loading_s[1]


@pytest.mark.parametrize(
    ("mix", "preloaded_keys", "kinds"),
    [
        ({"put": 1.0}, 0, {"put"}),
        ({"put": 1.0}, 64_000, {"put"}),
        ({"get": 1.0}, 64_000, {"get"}),
        ({"get_absent": 1.0}, 64_000, {"get_absent"}),
        ({"scan": 1.0}, 64_000, {"scan"}),
        ({"read_modify_write": 1.0}, 64_000, {"read_modify_write"}),
    ],
)
def test_every_benchmark(
    sound_engine: DbBenchEngine, mix: dict[str, float], preloaded_keys: int, kinds: set[str]
) -> None:
    run = sound_engine.open(experiment_of(mix, preloaded_keys), BARE, seed=3)
    window = run.advance(0.5)
    assert set(window.raw["operations"]) == kinds
    assert window.until_s == 0.5
    # It takes whole seconds, by its own clock a little more, and rates are by that clock.
    assert window.raw["elapsed_s"] >= 1
    assert window.figures["throughput_ops_s"] == pytest.approx(window.operations() / window.raw["elapsed_s"])
    assert sum(window.raw["series"]["operations"]) <= window.operations()
    # db_bench does not tell.
    assert math.isnan(window.figures["read_amplification"])
    assert math.isnan(window.figures["max_write_stop_s"])
    for figure in ("db_bytes", "resident_bytes", "cpu_s_per_million_ops"):
        assert window.figures[figure] > 0
    if "put" in kinds:
        assert window.figures["write_latency_us_p99"] > 0
        # At least the log's bytes.
        assert window.figures["write_amplification"] > 1


def test_mixgraph(make_engine: MakeEngine) -> None:
    chooser = {"kind": "two_term_exponential", "range_a": 14.18, "range_b": -2.917, "range_c": 0.0164,
               "range_d": -0.08082, "ranges": 30, "key_a": 0.002312, "key_b": 0.3467}  # fmt: skip
    value = {"kind": "pareto", "k": 0.2615, "sigma": 25.45, "high": 1024}
    scan = {"kind": "pareto", "k": 2.517, "sigma": 14.236, "high": 100}
    mix = {"get": 0.83, "put": 0.14, "scan": 0.03}
    experiment = experiment_of(mix, 64_000, key_chooser=chooser, value=value, scan_length=scan)
    window = make_engine().open(experiment, BARE, seed=3).advance(1.0)
    total = window.operations()
    for kind, share in mix.items():
        assert window.operations((kind,)) / total == pytest.approx(share, abs=0.02)


def check_newest(engine: DbBenchEngine) -> None:
    """Knobs arrive, defaults are its own, and nonsense is refused although the linked one is not asked."""
    experiment = experiment_of({"get": 0.5, "put": 0.5})
    full_size = engine.check(experiment, BARE)
    assert full_size["cf"]["write_buffer_size"] == str(64 * MIB)
    run = engine.open(experiment, experiment.space.default(), seed=1)
    expected = {"write_buffer_size": str(4 * MIB), "arena_block_size": str(4 * MIB // 8)}
    assert expected.items() <= run.options["cf"].items()
    assert run.advance(1.0).figures["throughput_ops_s"] > 0
    for section, name, text in (
        ("cf", "write_buffer_size", "0x10"),
        ("cf", "write_buffer_size", "-1"),
        ("cf", "wite_buffer_size", "1048576"),
        ("cf", "compression", "kSqueeze"),
    ):
        with pytest.raises(RunFailed) as failure:
            engine.check(replace(experiment, base_options={section: {name: text}}), BARE)
        assert failure.value.status is Status.INVALID
        assert name in failure.value.message or "Squeeze" in failure.value.message


def test_another_version_than_the_linked_one(make_engine: MakeEngine, tmp_path: Path) -> None:
    says_7_9_1 = script(
        tmp_path, 'case "$*" in *--options_file*) ;; *) echo "RocksDB:    version 7.9.1"; exit;; esac'
    )
    engine = make_engine(says_7_9_1)
    assert engine.version == "db_bench, RocksDB 7.9.1, assertions off"
    check_newest(engine)


def test_the_newest(make_engine: MakeEngine) -> None:
    if not NEWEST.exists():
        pytest.skip("build/rocksdb has no db_bench ('make rocksdb' builds it)")
    check_newest(make_engine(NEWEST))


def test_the_block_cache_and_filters_are_the_configurations(make_engine: MakeEngine) -> None:
    """db_bench would otherwise put its own cache in their place."""
    table = {"block_cache": str(48 * MIB), "filter_policy": "bloomfilter:7:false", "block_size": "8192"}
    experiment = replace(experiment_of({"put": 1.0}), base_options={"table": table})
    run = make_engine().open(experiment, BARE, seed=1)
    scaled = table | {"block_cache": str(3 * MIB)}
    assert scaled.items() <= run.options["table"].items()
    run.advance(1.0)
    assert scaled.items() <= run.options["table"].items()


def test_nothing_is_written_elsewhere(sound_engine: DbBenchEngine, tmp_path: Path) -> None:
    """The user's options may name the places of a live database, in which it would make room."""
    live = tmp_path / "live"
    live.mkdir()
    (live / "000001.log").write_text("precious")
    paths = {"wal_dir": str(live), "db_log_dir": str(live)}
    experiment = replace(experiment_of({"put": 1.0}), base_options={"db": paths})
    run = sound_engine.open(experiment, BARE, seed=1)
    run.advance(1.0)
    run.close()
    assert [path.name for path in live.iterdir()] == ["000001.log"]
    assert (live / "000001.log").read_text() == "precious"


def script(folder: Path, text: str) -> Path:
    """Returns a program that does something and is db_bench otherwise."""
    program = folder / "script"
    program.write_text(f'#!/bin/sh\n{text}\nexec db_bench "$@"\n')
    program.chmod(0o755)
    return program


def failure_of(engine: DbBenchEngine, experiment: Experiment, until_s: float = 1.0) -> RunFailed:
    """Opens bare defaults and advances; returns how that failed."""
    with pytest.raises(RunFailed) as failure:
        engine.open(experiment, BARE, seed=1).advance(until_s)
    names = [child.name() for child in psutil.Process().children(recursive=True)]
    assert not {"db_bench", "script", "sleep"} & set(names)
    assert "\n" not in failure.value.message
    return failure.value


@pytest.mark.parametrize(
    ("measuring", "status", "message"),
    [
        ("exit 0", Status.CRASHED, "db_bench printed no result for fillrandom"),
        ("echo fillrandom : nonsense; exit 0", Status.CRASHED, "db_bench printed no result for fillrandom"),
        (
            "echo put error: IO error: Corruption >&2; exit 1",
            Status.CRASHED,
            "put error: IO error: Corruption",
        ),
        (
            "printf '... finished 100 ops\\rput error: No space left on device: x.sst\\n' >&2; exit 1",
            Status.OUT_OF_DISK,
            "No space left on device",
        ),
        (
            'echo "db.cc:1: run: Assertion \\`false\' failed." >&2; kill -ABRT $$',
            Status.CRASHED,
            "SIGABRT: db.cc:1: run: Assertion `false' failed",
        ),
        ("kill -SEGV $$", Status.CRASHED, "killed by SIGSEGV"),
        (
            "echo 'open error: Invalid argument: Column families not opened' >&2; exit 1",
            Status.INVALID,
            "open error: Invalid argument: Column families not opened",
        ),
    ],
)
def test_a_program_that_fails(
    make_engine: MakeEngine, tmp_path: Path, measuring: str, status: Status, message: str
) -> None:
    engine = make_engine(script(tmp_path, f'case "$*" in *--duration=*) {measuring};; esac'))
    failure = failure_of(engine, experiment_of({"put": 1.0}))
    assert failure.status is status
    assert message in failure.message


@pytest.mark.parametrize(
    ("until_s", "duration"), [(1.0, 1), (1.2, 2), (60 / (20 / 3), 9), (60 / (20 / 6), 18), (0.01, 1)]
)
def test_whole_seconds(make_engine: MakeEngine, tmp_path: Path, until_s: float, duration: int) -> None:
    """Rounded up, but not for the last bit of a division."""
    engine = make_engine(script(tmp_path, 'case "$*" in *--duration=*) echo "$*" >&2; exit 1;; esac'))
    failure = failure_of(engine, experiment_of({"put": 1.0}), until_s)
    assert f" --duration={duration} " in failure.output


def test_a_program_that_hangs(
    make_engine: MakeEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rocktune.engine.db_bench.run.SPARE_S", -2.5)
    engine = make_engine(script(tmp_path, 'case "$*" in *--duration=*) sleep 600;; esac'))
    assert failure_of(engine, experiment_of({"put": 1.0})).status is Status.TIMED_OUT


def test_a_failed_run_stays_so(make_engine: MakeEngine, tmp_path: Path) -> None:
    engine = make_engine(script(tmp_path, 'case "$*" in *--duration=*) exit 3;; esac'))
    run = engine.open(experiment_of({"put": 1.0}), BARE, seed=1)
    for _ in range(2):
        with pytest.raises(RunFailed, match="exit status 3"):
            run.advance(1.0)
    run.close()
    engine.wait_for_removals()
    assert list((engine.data.path / "runs").glob("*/[0-9]*")) == []


def test_a_base_that_cannot_be_made_leaves_nothing(make_engine: MakeEngine, tmp_path: Path) -> None:
    engine = make_engine(
        script(tmp_path, 'case "$*" in *filluniquerandom*) exit 3;; *fillseq*) exit 3;; esac')
    )
    failure = failure_of(engine, experiment_of({"get": 1.0}, 64_000))
    assert failure.status is Status.CRASHED
    assert [path for path in engine.data.bases.iterdir() if path.is_dir()] == []
    engine.wait_for_removals()
    assert list((engine.data.path / "runs").glob("*/[0-9]*")) == []


def test_the_disk_limit(make_engine: MakeEngine) -> None:
    writing = replace(experiment_of({"put": 1.0}, keys=1_000_000, value={"low": 4096}), scale=1)
    failure = failure_of(make_engine(disk_limit_bytes=4 * MIB), writing, 60.0)
    assert failure.status is Status.OUT_OF_DISK
    assert "4MiB are allowed" in failure.message


def test_the_memory_limit(make_engine: MakeEngine) -> None:
    writing = replace(experiment_of({"put": 1.0}, keys=1_000_000, value={"low": 4096}), scale=1)
    failure = failure_of(make_engine(memory_limit_bytes=60 * MIB), writing, 60.0)
    assert failure.status is Status.OUT_OF_MEMORY


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("echo hello; exit 0", "is not a db_bench: it does not print a version of RocksDB"),
        ("echo broken >&2; exit 1", "does not start: .*broken"),
    ],
)
def test_what_is_no_db_bench(make_engine: MakeEngine, tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        make_engine(script(tmp_path, text))


def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="'/no/such/db_bench' is not an executable file"):
        DbBenchEngine("/no/such/db_bench", tmp_path / "data", 0, 0)


def test_what_it_cannot_express_is_refused_before_anything_runs(make_engine: MakeEngine) -> None:
    engine = make_engine()
    with pytest.raises(UserError, match="cannot express 10% delete"):
        engine.open(experiment_of({"get": 0.9, "delete": 0.1}), BARE, seed=1)
    assert engine.opening_s == 0


def test_a_limited_device(make_engine: MakeEngine) -> None:
    """Skips where the machine does not permit a cgroup."""
    device = DeviceSpec(name="slow", bandwidth_bytes_s=200 * MIB)
    experiment = replace(experiment_of({"put": 1.0}), device=device)
    engine = make_engine()
    assert engine.check(experiment, BARE)["db"]["use_direct_reads"] == "true"
    try:
        run = engine.open(experiment, BARE, seed=1)
    except UserError as missing:
        pytest.skip(str(missing))
    assert run.advance(1.0).figures["throughput_ops_s"] > 0
    assert run.options["db"]["use_direct_io_for_flush_and_compaction"] == "true"


def test_a_knob_that_the_device_needs_is_refused(make_engine: MakeEngine, tmp_path: Path) -> None:
    file = tmp_path / "space.toml"
    file.write_text("[knobs.wal_bytes_per_sync]\n")
    experiment = replace(
        experiment_of({"put": 1.0}),
        device=DeviceSpec(name="slow", bandwidth_bytes_s=200 * MIB),
        space=load_space(str(file), 1000 * MIB, 64_000),
    )
    with pytest.raises(UserError, match="knob 'wal_bytes_per_sync': engine 'db_bench' sets this"):
        make_engine().check(experiment, BARE)
