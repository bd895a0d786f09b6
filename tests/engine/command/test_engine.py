import os
import shlex
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest
from pydantic import ValidationError
from tests.processes import children

from rocktune.engine import CommandEngine, CommandSpec, Engine, RunFailed, command_lines
from rocktune.engine.local.data_directory import DataDirectory
from rocktune.errors import UserError
from rocktune.ledger.windows import join_window, split_window
from rocktune.testing.engines import StoreEngineConformance, small_experiment
from rocktune.testing.fake_worker import fake_worker_command
from rocktune.trial import Configuration, Experiment, Measurement, OptionMaps, Status
from rocktune.units import MIB

EXPERIMENT = replace(small_experiment(), scale=1)
DEFAULT = EXPERIMENT.space.default()
PROGRAM = str(Path(__file__).with_name("pretended_benchmark.py"))
ARGUMENTS = ("{options_file}", "{data_directory}", "{seconds}", "{seed}")
MakeEngine = Callable[..., CommandEngine]


def benchmark(*faults: str) -> tuple[str, ...]:
    return (sys.executable, "-I", "-S", PROGRAM, *ARGUMENTS, *faults)


def python(text: str, *arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-I", "-S", "-c", text, *arguments)


@pytest.fixture
def make_engine(tmp_path: Path) -> Iterator[MakeEngine]:
    """Makes engines over the made-up worker; closes them."""
    engines: list[CommandEngine] = []

    def make(run: tuple[str, ...] = benchmark(), **settings: Any) -> CommandEngine:
        limits = {
            name: settings.pop(name, default)
            for name, default in (
                ("memory_limit_bytes", 0),
                ("disk_limit_bytes", 0),
                ("required_figures", ()),
            )
        }
        spec = CommandSpec.model_validate({"run": run, **settings})
        engines.append(CommandEngine(spec, tmp_path / "data", worker=fake_worker_command(), **limits))
        return engines[-1]

    yield make
    for engine in engines:
        engine.close()


class TestConformance(StoreEngineConformance):
    @pytest.fixture
    def engine(self, make_engine: MakeEngine) -> Engine:
        return make_engine()

    @pytest.fixture
    def experiment(self) -> Experiment:
        return EXPERIMENT


def measured(
    engine: CommandEngine, configuration: Configuration = DEFAULT, seconds: float = 0.1
) -> Measurement:
    run = engine.open(EXPERIMENT, configuration, seed=1)
    try:
        return run.advance(seconds)
    finally:
        run.close()


def failure_of(engine: CommandEngine, configuration: Configuration = DEFAULT) -> RunFailed:
    with pytest.raises(RunFailed) as failure:
        measured(engine, configuration)
    assert "\n" not in failure.value.message
    engine.wait_for_removals()
    assert list((engine.data.path / "runs").glob("*/[0-9]*")) == []
    return failure.value


def test_figures_come_from_the_programs_json(make_engine: MakeEngine) -> None:
    window = measured(make_engine())
    assert set(window.raw["figures"]) == {"throughput_ops_s", "read_latency_us_p99"}
    assert window.raw["output"].startswith("loading done\n{")
    assert window.raw["output"].endswith("\nbye")
    assert join_window(*split_window(window)).raw == window.raw
    assert "output" not in split_window(window)[0]


def test_options_and_seed_reach_the_program(make_engine: MakeEngine) -> None:
    """At full size, whatever the scale."""
    engine = make_engine()
    found = []
    for experiment, buffer_bytes, seed in (
        (EXPERIMENT, 32 * MIB, 1),
        (EXPERIMENT, 128 * MIB, 1),
        (EXPERIMENT, 128 * MIB, 2),
        (small_experiment(), 128 * MIB, 2),
    ):
        run = engine.open(experiment, DEFAULT.replaced({"write_buffer_size": buffer_bytes}), seed)
        found.append(run.advance(0.1).figures["throughput_ops_s"])
        run.close()
    # 10,000 and 1/16 KiB of the buffer, within 1%.
    assert found[0] == pytest.approx(12_048, rel=0.01)
    assert found[1] == pytest.approx(18_192, rel=0.01)
    assert found[1] != found[2] == found[3]


@pytest.mark.parametrize(
    ("fault", "status", "message"),
    [
        ("abort", Status.CRASHED, "killed by SIGABRT"),
        ("exit", Status.CRASHED, "ended with exit status 1: Invalid argument: no such option"),
        ("killed", Status.CRASHED, "killed by SIGKILL"),
        ("hang", Status.TIMED_OUT, "did not end within"),
        ("silent", Status.CRASHED, "printed nothing"),
        ("nonsense", Status.CRASHED, "no line of its output is a JSON object; the last line: all went well"),
        ("memory", Status.OUT_OF_MEMORY, "100MiB are allowed"),
        ("disk", Status.OUT_OF_DISK, "30MiB are allowed"),
    ],
)
def test_a_failed_run_is_over_and_the_engine_goes_on(
    make_engine: MakeEngine, fault: str, status: Status, message: str
) -> None:
    engine = make_engine(
        benchmark(f"{fault}@num_levels=3"),
        timeout_seconds=3.0 if fault == "hang" else 60.0,
        memory_limit="100MiB",
        disk_limit_bytes=30 * MIB,
    )
    failure = failure_of(engine, DEFAULT.replaced({"num_levels": 3}))
    assert failure.status is status
    assert failure.message.startswith("run: ")
    assert message in failure.message
    assert measured(engine).figures["throughput_ops_s"] > 0


def test_what_runs_on_in_the_background_is_ended(make_engine: MakeEngine) -> None:
    window = measured(make_engine(benchmark("background")))
    (line,) = (line for line in window.raw["output"].splitlines() if line.startswith("left "))
    pid = int(line.removeprefix("left "))
    assert not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def test_a_failed_run_says_the_same_again(make_engine: MakeEngine) -> None:
    run = make_engine(benchmark("nonsense")).open(EXPERIMENT, DEFAULT, seed=1)
    for until_s in (0.1, 0.2):
        with pytest.raises(RunFailed, match="no line of its output") as failure:
            run.advance(until_s)
        assert failure.value.output == "all went well: 12,345 ops/s"
    run.close()


def test_an_interrupted_run_cannot_go_on(make_engine: MakeEngine) -> None:
    run = make_engine().open(EXPERIMENT, DEFAULT, seed=1)

    def interrupt(phase: str, done: float, total: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run.advance(0.1, interrupt)
    with pytest.raises(RunFailed, match="crashed: the run was interrupted"):
        run.advance(0.1)
    run.close()


def note(path: Path, *more: str) -> tuple[str, ...]:
    """A command that adds its arguments to a file, as a line."""
    text = "import sys; print(*sys.argv[2:], file=open(sys.argv[1], 'a'))"
    return python(text, str(path), *more)


def test_commands_run_in_order_and_see_the_same_directory(make_engine: MakeEngine, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    report = (
        "import os, sys; print('run', *sys.argv[2:], file=open(sys.argv[1], 'a'));"
        "print('{\"throughput_ops_s\": 1}')"
    )
    engine = make_engine(
        python(report, str(notes), "{data_directory}", "{seconds}", "{options_file}"),
        set_up=note(notes, "set_up", "{data_directory}", "{seed}"),
        warm_up=note(notes, "warm_up", "{data_directory}"),
        clean_up=note(notes, "clean_up", "{data_directory}"),
    )
    run = engine.open(EXPERIMENT, DEFAULT, seed=7)
    assert [line.split()[0] for line in notes.read_text().splitlines()] == ["set_up", "warm_up"]
    run.advance(12.5)
    run.close()
    lines = [line.split() for line in notes.read_text().splitlines()]
    assert [line[0] for line in lines] == ["set_up", "warm_up", "run", "clean_up"]
    assert len({line[1] for line in lines}) == 1
    assert lines[0][2] == "7"
    assert lines[2][2] == "12.5"
    assert engine.opening_s > 0


@pytest.mark.parametrize("failing", ["set_up", "warm_up", "run"])
def test_clean_up_runs_whatever_failed(make_engine: MakeEngine, tmp_path: Path, failing: str) -> None:
    notes = tmp_path / "notes"
    bad = python("import sys; sys.exit('no')", "{options_file}")
    engine = make_engine(**{"clean_up": note(notes, "cleaned"), failing: bad})
    failure = failure_of(engine)
    assert (failure.status, notes.read_text()) == (Status.CRASHED, "cleaned\n")
    assert failure.message.startswith(f"{failing}: ")


def test_a_clean_up_that_fails_fails_the_run(make_engine: MakeEngine) -> None:
    engine = make_engine(clean_up=python("import sys; sys.exit('busy')"))
    assert failure_of(engine).message.startswith("clean_up: ")


def test_arguments_meet_no_shell_unless_asked_for(make_engine: MakeEngine, tmp_path: Path) -> None:
    text = "import json, sys; print(sys.argv[1]); print(json.dumps({'throughput_ops_s': 1}))"
    plain = make_engine(python(text, "$(echo {options_file}) ${{seed}}{{seed}}"))
    assert "$(echo /" in measured(plain).raw["output"]
    assert measured(plain).raw["output"].startswith("$(echo ")
    words = " ".join(shlex.quote(word) for word in python(text))
    shell = make_engine((f'{words} "$(echo found)" {{options_file}}',), shell=True)
    assert measured(shell).raw["output"].startswith("found\n")


def test_directories_with_spaces_reach_a_shell_whole(tmp_path: Path) -> None:
    spec = CommandSpec(
        run=("cat {options_file} > /dev/null && echo '{\"throughput_ops_s\": 1}'",), shell=True
    )
    engine = CommandEngine(spec, tmp_path / "a b'c", 0, 0, fake_worker_command())
    assert measured(engine).figures["throughput_ops_s"] == 1.0
    engine.close()


def test_figures_from_a_result_file(make_engine: MakeEngine) -> None:
    text = "import sys; print('done'); open(sys.argv[1], 'w').write('{\\n \"throughput_ops_s\": 7\\n}\\n')"
    written = measured(make_engine(python(text, "{result_file}", "{options_file}")))
    assert written.raw["figures"] == {"throughput_ops_s": 7.0}
    absent = make_engine(python("print('{\"throughput_ops_s\": 1}')", "{result_file}", "{options_file}"))
    assert "it wrote no result file: No such file" in failure_of(absent).message


def test_the_objectives_figures_have_to_be_there(make_engine: MakeEngine) -> None:
    engine = make_engine(required_figures=("write_amplification",))
    assert "it reports no write_amplification, which the study needs" in failure_of(engine).message
    assert measured(make_engine(required_figures=("throughput_ops_s",))).raw["figures"]


def test_the_lower_memory_limit_counts(make_engine: MakeEngine) -> None:
    for limits in (
        {"memory_limit": "1GiB", "memory_limit_bytes": 80 * MIB},
        {"memory_limit": "80MiB", "memory_limit_bytes": 1 << 30},
        {"memory_limit_bytes": 80 * MIB},
    ):
        assert "80MiB are allowed" in failure_of(make_engine(benchmark("memory"), **limits)).message


def test_without_room_a_run_is_out_of_disk(make_engine: MakeEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = make_engine()
    monkeypatch.setattr(DataDirectory, "free_bytes", lambda self: 0)
    failure = failure_of(engine)
    assert failure.status is Status.OUT_OF_DISK
    assert "less than 256MiB are free under" in failure.message


def test_the_version_tells_builds_and_commands_apart(make_engine: MakeEngine, tmp_path: Path) -> None:
    program = tmp_path / "bench"
    program.write_text("#!/bin/sh\necho 1\n")
    program.chmod(0o755)

    def version(*arguments: str) -> str:
        return make_engine((str(program), "{options_file}", *arguments)).version

    first = version()
    assert first.startswith("bench (sha256 ")
    assert first.endswith("), options read by RocksDB 7.8.3")
    assert version() == first
    assert version("--reads") != first
    os.utime(program, (1, 1))
    assert version() == first
    program.write_text("#!/bin/sh\necho 2\n")
    assert version() != first


def test_the_users_own_files_are_part_of_the_version(make_engine: MakeEngine, tmp_path: Path) -> None:
    script = tmp_path / "bench.py"
    versions = []
    for text in ("print(1)\n", "print(2)\n"):
        script.write_text(text)
        versions.append(make_engine((sys.executable, str(script), "{options_file}")).version)
    assert versions[0] != versions[1]


def test_a_missing_program_is_the_users_to_mend(make_engine: MakeEngine, tmp_path: Path) -> None:
    for changed in ({"run": ("./absent", "{options_file}")}, {"set_up": ("absent-program",)}):
        with pytest.raises(UserError, match=r"command\.\w+: '.*absent.*' is not an executable file"):
            make_engine(**changed)
    assert not (tmp_path / "data").exists()
    assert children() == []


def test_what_will_be_executed_is_shown() -> None:
    spec = CommandSpec(
        set_up=("fill", "--into={data_directory}", "two words"),
        run=("bench", "{options_file}", "$HOME"),
        clean_up=("rm", "-r", "/mine"),
    )
    assert command_lines(spec) == [
        "set_up: fill --into={data_directory} 'two words'",
        "run: bench {options_file} '$HOME'",
        "clean_up: rm -r /mine",
    ]
    shell = CommandSpec(run=("bench {options_file} | tail -1",), shell=True)
    assert command_lines(shell) == ["run (/bin/sh): bench {options_file} | tail -1"]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"run": ["bench", "{option_file}"]},
            "run: unknown placeholder '{option_file}': did you mean '{options_file}'?",
        ),
        ({"set_up": ["fill", "{seconds}"]}, "set_up: unknown placeholder '{seconds}'"),
        ({"run": ["bench"]}, "run: no command has the placeholder {options_file}"),
        ({"shell": True}, "run: with 'shell', write the whole command line as one text"),
        ({"memory_limit": "much"}, "memory_limit: 'much' is not a size"),
        ({"memory_limit": "0"}, "memory_limit: 0 bytes are no memory"),
        ({"metrics": {"throughput": {"field": "ops"}}}, "did you mean 'throughput_ops_s'?"),
        ({"metrics": {"throughput_ops_s": {}}}, "either 'field' or 'pattern', not both"),
        (
            {"metrics": {"throughput_ops_s": {"field": "a", "pattern": "(b)"}}},
            "either 'field' or 'pattern', not both",
        ),
        ({"metrics": {"throughput_ops_s": {"pattern": "ops"}}}, "has no group"),
        ({"metrics": {"throughput_ops_s": {"pattern": "(ops"}}}, "is not a regular expression"),
        ({"metrics": {"throughput_ops_s": {"field": "a", "times": 0}}}, "greater than 0"),
    ],
)
def test_bad_specs_are_refused(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError) as error:
        CommandSpec.model_validate({"run": ["bench", "{options_file}"]} | changed)
    assert message in str(error.value)


def test_braces_that_are_no_placeholders() -> None:
    spec = CommandSpec(run=("awk", "{{print}} ${HOME} {a b} {}", "{options_file}"))
    assert spec.commands == {"run": spec.run}


def test_options_that_name_places_are_left_out(make_engine: MakeEngine) -> None:
    """They may be those of a live database."""
    text = "import sys; sys.exit(open(sys.argv[1]).read().replace(chr(10), '|'))"
    engine = make_engine(python(text, "{options_file}"))
    own = {"db": {"wal_dir": "/var/lib/live", "max_open_files": "77"}, "cf": {}, "table": {}}
    run = engine.open(replace(EXPERIMENT, base_options=own), Configuration({}), seed=1)
    with pytest.raises(RunFailed) as failure:
        run.advance(0.1)
    assert "max_open_files=77" in failure.value.message
    assert "wal_dir" not in failure.value.message


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"governor": {"mode": "toggle"}}, "'command' has no compaction governor; leave governor_mode out"),
        ({"flsm": {"policy_1": "3"}}, "'command' has no FLSM store; leave flsm_policy_1 out"),
    ],
)
def test_what_is_rocktunes_own_is_refused(make_engine: MakeEngine, options: OptionMaps, message: str) -> None:
    beyond = replace(EXPERIMENT, base_options=options)
    with pytest.raises(RunFailed, match=message):
        make_engine().check(beyond, Configuration({}))
    with pytest.raises(RunFailed, match=message):
        make_engine().open(beyond, Configuration({}), 1)
