"""Studies that measure with a program of the user's: a made-up one that fails, and the examples."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rocktune import api
from rocktune.engine import CommandEngine, CommandSpec, Engine
from rocktune.engine.local.data_directory import DATA_VARIABLE
from rocktune.engine.worker import WORKER_VARIABLE
from rocktune.ledger import open_ledger
from rocktune.objective import objective_named
from rocktune.study import Observer, StudyRequest, make_request, resolve, run_study
from rocktune.study.measuring.evaluation import OUTPUT
from rocktune.testing.engines import StoreEngineConformance, small_experiment
from rocktune.testing.fake_worker import fake_worker_command
from rocktune.trial import Experiment, Result, Status

PRETENDED = Path(__file__).with_name("pretended_benchmark.py")
EXAMPLES = Path(__file__).parents[3] / "examples"
TWO_KNOBS = """
[knobs.write_buffer_size]
low = "16MiB"
high = "64MiB"

[knobs.num_levels]
choices = [3, 4, 5, 6, 7, 8]
default = 8
"""
SHORT = {"finalists": 1, "pick_runs": 1, "ablation_pairs": 2, "prune_attempts": 0, "pairs": 6}


class Recorder(Observer):
    def __init__(self) -> None:
        self.results: list[Result] = []

    def trial_finished(self, result: Result) -> None:
        self.results.append(result)


def ledger_of(folder: Path) -> str:
    return str(folder / "ledger.sqlite")


def tuned(
    request: StudyRequest, folder: Path, worker: tuple[str, ...]
) -> tuple[dict[str, Any], list[Result]]:
    spec = resolve(request, "study")
    assert isinstance(spec.engine, CommandSpec)
    required = objective_named(spec.objective).fields
    engine = CommandEngine(spec.engine, folder / "data", 0, 0, worker, required)
    recorder = Recorder()
    try:
        with open_ledger(ledger_of(folder)) as ledger:
            return run_study(spec, engine, ledger, recorder).to_json(), recorder.results
    finally:
        engine.close()


def expect_proof(outcome: dict[str, Any]) -> None:
    """Of whatever ratio: these runs are far too short to say which."""
    ratio = outcome["ratio_to_baseline"]
    assert 0 < ratio["low"] <= ratio["value"] <= ratio["high"]
    assert outcome["verified_at_scale"] == "1"


@pytest.fixture
def two_knobs(tmp_path: Path) -> str:
    path = tmp_path / "space.toml"
    path.write_text(TWO_KNOBS)
    return str(path)


def test_what_fails_gets_its_status_and_the_study_goes_on(tmp_path: Path, two_knobs: str) -> None:
    expected = {
        3: (Status.CRASHED, "run: killed by SIGABRT"),
        4: (Status.TIMED_OUT, "did not end within"),
        5: (Status.CRASHED, "printed nothing"),
        6: (Status.CRASHED, "no line of its output is a JSON object"),
        7: (Status.OUT_OF_MEMORY, "100MiB are allowed"),
        8: (Status.OK, ""),
    }
    faults = ("abort", "hang", "silent", "nonsense", "memory")
    arguments = ("{options_file}", "{data_directory}", "{seconds}", "{seed}")
    conditions = (f"{fault}@num_levels={levels}" for levels, fault in enumerate(faults, start=3))
    command = {
        "run": [sys.executable, "-I", "-S", str(PRETENDED), *arguments, *conditions],
        "run_seconds": 0.2,
        "timeout_seconds": 8.0,
        "memory_limit": "100MiB",
    }
    given = {
        "workload": "ycsb-a",
        "engine": "command",
        "command": command,
        "space": two_knobs,
        "tuner": "random",
        "budget": 0.2 * 12,
        "verification": SHORT,
    }
    outcome, results = tuned(make_request(given), tmp_path, fake_worker_command())
    seen = {}
    for result in results:
        if result.trial.configuration:
            levels = int(result.trial.configuration["num_levels"])
            status, message = expected[levels]
            assert (result.status, message in result.message) == (status, True)
            seen[levels] = status
    assert set(seen) == set(expected)
    expect_proof(outcome)
    with open_ledger(ledger_of(tmp_path)) as ledger:
        outputs = [event.payload["output"] for event in ledger.events(ledger.study("study"), OUTPUT)]
    assert "all went well: 12,345 ops/s" in outputs


def test_one_run_shows_what_the_program_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, real_worker: tuple[str, ...]
) -> None:
    monkeypatch.setenv(WORKER_VARIABLE, real_worker[0])
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path / "data"))
    study = tmp_path / "study.toml"
    study.write_text(f"""
workload = "ycsb-a"
engine = "command"
[command]
run = ["{sys.executable}", "{PRETENDED}", "{{options_file}}", "{{data_directory}}", "{{seconds}}", "{{seed}}",
       "nonsense@write_buffer_size={48 << 20}"]
run_seconds = 0.2
""")
    (ran,) = api.run(study)["runs"]
    assert ran["status"] == "ok"
    assert ran["figures"]["throughput_ops_s"] > 0
    assert "loading done" in ran["output"]
    (failed,) = api.run(study, options={"write_buffer_size": "48MiB"})["runs"]
    assert (failed["status"], failed["figures"]) == ("crashed", {})
    assert "all went well" in failed["output"]


@pytest.fixture(scope="session")
def cpp_example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example in C++, compiled where nothing else is; needs a compiler and RocksDB's headers."""
    folder = tmp_path_factory.mktemp("command") / "cpp"
    shutil.copytree(EXAMPLES / "command-cpp", folder)
    if shutil.which("g++") is None:
        pytest.skip("there is no g++")
    included = b"#include <rocksdb/version.h>\n"
    preprocessor = ["g++", "-E", "-x", "c++", "-"]
    if subprocess.run(preprocessor, input=included, capture_output=True, check=False).returncode != 0:
        pytest.skip("RocksDB's headers are not installed (librocksdb-dev)")
    subprocess.run(
        ["g++", "-std=c++20", "-O1", "benchmark.cc", "-o", "benchmark", "-lrocksdb", "-lpthread"],
        cwd=folder, check=True,
    )  # fmt: skip
    return folder


@pytest.fixture(scope="session")
def java_example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example in Java, built by Maven; needs both, and what Maven fetches."""
    for program, package in (("javac", "openjdk-17-jdk-headless"), ("mvn", "maven")):
        if shutil.which(program) is None:
            pytest.skip(f"there is no {program} ({package})")
    folder = tmp_path_factory.mktemp("command") / "java"
    shutil.copytree(EXAMPLES / "command-java", folder)
    built = subprocess.run(
        ["mvn", "-q", "-B", "package"], cwd=folder, capture_output=True, text=True, check=False
    )
    if "Could not transfer artifact" in built.stdout or "in offline mode" in built.stdout:
        pytest.skip("Maven cannot fetch rocksdbjni")
    assert built.returncode == 0, built.stdout
    return folder


class TestConformanceOfTheExample(StoreEngineConformance):
    @pytest.fixture
    def engine(self, tmp_path: Path, cpp_example: Path, real_worker: tuple[str, ...]) -> Iterator[Engine]:
        command = make_request({}, cpp_example / "study.toml").command
        assert command is not None
        engine = CommandEngine(command, tmp_path / "data", 0, 0, real_worker)
        yield engine
        engine.close()

    @pytest.fixture
    def experiment(self) -> Experiment:
        return replace(small_experiment(), scale=1)


def test_the_example_in_cpp_is_tuned(
    tmp_path: Path, two_knobs: str, cpp_example: Path, real_worker: tuple[str, ...]
) -> None:
    request = make_request({"space": two_knobs, "budget": "1.2s"}, cpp_example / "study.toml")
    outcome, results = tuned(request, tmp_path, real_worker)
    expect_proof(outcome)
    assert all(result.figure("read_latency_us_p99") > 0 for result in results)


@pytest.mark.slow
def test_the_example_in_java_is_tuned(
    tmp_path: Path, two_knobs: str, java_example: Path, real_worker: tuple[str, ...]
) -> None:
    request = make_request({"space": two_knobs, "budget": "0.6s"}, java_example / "study.toml")
    outcome, results = tuned(request, tmp_path, real_worker)
    expect_proof(outcome)
    assert all(result.figure("read_latency_us_p99") > 0 for result in results)
