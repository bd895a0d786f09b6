import importlib.metadata
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.cli.fake_api import FakeApi
from tests.report import sample

from rocktune.cli import commands, online
from rocktune.cli.main import main
from rocktune.errors import UserError
from rocktune.study import StudyInterrupted
from rocktune.trial import Configuration

Outputs = pytest.CaptureFixture[str]


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> FakeApi:
    fake = FakeApi()
    for module in (commands, online):
        monkeypatch.setattr(module, "api", fake)
    monkeypatch.delenv("ROCKTUNE_DEBUG", raising=False)
    return fake


EVERY_COMMAND = [
    ["tune", "--workload", "ycsb-a"],
    ["tune", "--workload", "ycsb-a", "--dry-run"],
    ["run", "--workload", "ycsb-a"],
    ["verify", "s", "--scale", "1"],
    ["resume", "s"],
    ["studies"],
    ["show", "s"],
    ["delete", "s"],
    ["clean"],
    ["report", "s"],
    ["export", "s", "--to", "options-file"],
    ["list", "workloads"],
    ["list", "devices"],
    ["list", "spaces"],
    ["list", "tuners"],
    ["doctor"],
    ["govern", "--device", "lite-on-256"],
]


def no_constant(text: str) -> Any:
    raise AssertionError(f"{text} is not JSON")


@pytest.mark.parametrize("arguments", EVERY_COMMAND, ids=" ".join)
def test_json_is_exactly_one_document_and_nothing_else(
    api: FakeApi, capsys: Outputs, arguments: list[str]
) -> None:
    assert main([*arguments, "--json"]) == 0
    captured = capsys.readouterr()
    json.loads(captured.out, parse_constant=no_constant)
    assert captured.err == ""


@pytest.mark.parametrize("arguments", EVERY_COMMAND, ids=" ".join)
def test_text_is_readable_and_stderr_quiet_without_a_terminal(
    api: FakeApi, capsys: Outputs, arguments: list[str]
) -> None:
    assert main(arguments) == 0
    captured = capsys.readouterr()
    assert captured.out.strip()
    assert captured.err == ""
    assert "\x1b" not in captured.out


BAD_USAGE = [
    (["tnue"], "tune"),
    (["tune", "--wrkload", "x"], "did you mean '--workload'?"),
    (["tune", "--seed", "many"], "--seed"),
    (["tune", "--json=yes"], "--json"),
    (["verify", "s"], "--scale"),
    (["show"], "STUDY"),
    (["show", "a", "b"], "b"),
    (["list", "workload"], "did you mean 'workloads'?"),
    (["run", "--option", "write_buffer_size"], "NAME=VALUE"),
    (["run", "--option", "=1"], "NAME=VALUE"),
    (["run", "--option", "a=1", "--option", "a=2"], "given twice"),
    (["run", "--repeat", "0"], "--repeat"),
    (["export", "s"], "--to"),
    (["govern"], "--device"),
    (["govern", "--device", "d", "--governor", "debt_runs"], "--governor debt_runs: write NAME=VALUE"),
]


@pytest.mark.parametrize("with_json", [False, True], ids=["text", "json"])
@pytest.mark.parametrize(("arguments", "named"), BAD_USAGE, ids=lambda value: str(value))
def test_bad_usage_is_one_line_and_exit_code_2(
    api: FakeApi, capsys: Outputs, arguments: list[str], named: str, with_json: bool
) -> None:
    assert main([*arguments, "--json"] if with_json else arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("rocktune: error: ")
    assert captured.err.count("\n") == 1
    assert named in captured.err
    assert api.calls == {}


@pytest.mark.parametrize("arguments", EVERY_COMMAND, ids=" ".join)
def test_user_error_is_one_line_and_exit_code_2(api: FakeApi, capsys: Outputs, arguments: list[str]) -> None:
    api.failure = UserError("device 'ssd': did you mean\n'ssd-100mb'?")
    for line in (arguments, [*arguments, "--json"]):
        assert main(line) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err == "rocktune: error: device 'ssd': did you mean 'ssd-100mb'?\n"


def test_unexpected_error_is_one_line_with_a_hint(api: FakeApi, capsys: Outputs) -> None:
    api.failure = ZeroDivisionError("division by zero")
    assert main(["clean"]) == 1
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1
    assert "ZeroDivisionError: division by zero" in captured.err
    assert "ROCKTUNE_DEBUG=1" in captured.err


def test_debugging_shows_the_traceback(
    api: FakeApi, capsys: Outputs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROCKTUNE_DEBUG", "1")
    api.failure = ZeroDivisionError("division by zero")
    assert main(["clean"]) == 1
    assert "Traceback (most recent call last)" in capsys.readouterr().err


def test_interrupted_study_shows_the_best_and_how_to_go_on(api: FakeApi, capsys: Outputs) -> None:
    api.failure = StudyInterrupted("s", Configuration({"write_buffer_size": 64}), 1.4142)
    assert main(["resume", "s"]) == 130
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "1.41× the baseline" in captured.err
    assert "write_buffer_size=64" in captured.err
    assert "rocktune resume s\n" in captured.err


def test_study_interrupted_before_its_first_result_says_so(api: FakeApi, capsys: Outputs) -> None:
    api.failure = StudyInterrupted("s", None, None)
    assert main(["resume", "s"]) == 130
    assert "before the first result" in capsys.readouterr().err


def test_second_interrupt_ends_at_once(api: FakeApi, capsys: Outputs) -> None:
    api.failure = KeyboardInterrupt()
    assert main(["resume", "s"]) == 130
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "Interrupted. What was recorded before is kept.\n"


def test_options_of_tune_reach_the_api_by_their_names(api: FakeApi) -> None:
    line = """tune mine.toml --workload w --device d --space s --tuner t --objective balance --scale 1/64
        --budget 3m --memory 1GiB --options-file OPTIONS --ledger l.sqlite --study n --seed 3 --out o"""
    assert main([*line.split(), "--json"]) == 0
    expected = {
        "workload": "w",
        "device": "d",
        "space": "s",
        "tuner": "t",
        "objective": "balance",
        "scale": "1/64",
        "budget": "3m",
        "memory": "1GiB",
        "options_file": Path("OPTIONS"),
        "ledger": "l.sqlite",
        "study": "n",
        "seed": 3,
        "out": Path("o"),
    }
    assert api.calls["prepare"] == ((Path("mine.toml"),), expected)
    assert list(api.calls["tune"][1]) == ["observer"]


@pytest.mark.parametrize("command", ["tune", "resume s", "verify s --scale 1"])
def test_who_measures_is_no_part_of_a_study(api: FakeApi, command: str) -> None:
    name = command.split()[0]
    assert main([*command.split(), "--executor", "ray", "--address", "h:1", "--json"]) == 0
    named = api.calls[name][1]
    assert (named["executor"], named["address"]) == ("ray", "h:1")
    assert all("executor" not in named for called, (_, named) in api.calls.items() if called != name)


def test_estimate_comes_first_but_not_before_all_input_is_right(api: FakeApi, capsys: Outputs) -> None:
    assert main(["tune", "--workload", "w"]) == 0
    assert capsys.readouterr().out.startswith(
        "Study 's' will take about 1 min 10 s if its proof is decided early, else up to 1 min 52 s"
    )
    api.failure, api.failing = UserError("study 's': the name is taken"), "tune"
    assert main(["tune", "--workload", "w"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "rocktune: error: study 's': the name is taken\n"


def test_dry_run_measures_nothing(api: FakeApi, capsys: Outputs) -> None:
    assert main(["tune", "--workload", "w", "--dry-run"]) == 0
    assert list(api.calls) == ["prepare", "estimate"]
    out = capsys.readouterr().out
    assert "1 min 52 s" in out
    assert "3GiB of disk" in out


def test_options_of_run_are_names_with_values(api: FakeApi) -> None:
    assert (
        main(
            ["run", "--option", "write_buffer_size=64MiB", "--option", "filter_policy = bloomfilter:10:false"]
        )
        == 0
    )
    assert api.calls["run"][1]["options"] == {
        "write_buffer_size": "64MiB",
        "filter_policy": "bloomfilter:10:false",
    }


def test_outcome_is_shown_with_interval_scale_files_and_advice(api: FakeApi, capsys: Outputs) -> None:
    assert main(["tune", "--workload", "w"]) == 0
    out = capsys.readouterr().out
    for shown in (
        "57% more throughput",
        "1.53× to 1.61×",
        "on a 1/64 model",
        "max_bytes_for_level_base",
        "/home/user/out/orders-write-heavy/OPTIONS",
        "/home/user/out/orders-write-heavy/report.html",
        "rocktune tune --workload dremel-write-heavy --device ssd-100mb --seed 7",
        "debug build of RocksDB",
    ):
        assert shown in out, shown


def test_json_of_tune_has_the_outcomes_names(api: FakeApi, capsys: Outputs) -> None:
    assert main(["tune", "--workload", "w", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == sample.document()


def test_export_prints_the_text_alone(api: FakeApi, capsys: Outputs) -> None:
    assert main(["export", "s", "--to", "options-file"]) == 0
    assert capsys.readouterr().out == "# head\n[Version]\n"


def test_not_a_number_becomes_null(api: FakeApi, capsys: Outputs, monkeypatch: pytest.MonkeyPatch) -> None:
    values = {"a": math.nan, "b": np.float64("inf"), "c": [np.int64(3), np.float64(0.5)], "d": Path("/x")}
    monkeypatch.setattr(FakeApi, "_answer", lambda self, name: values)
    assert main(["clean", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"a": None, "b": None, "c": [3, 0.5], "d": "/x"}


def test_version_names_the_program(api: FakeApi, capsys: Outputs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "9.8.7")
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == "rocktune 9.8.7\n"


@pytest.mark.parametrize("arguments", [[], ["--help"], ["tune", "--help"]], ids=["bare", "--help", "tune"])
def test_help_is_plain_text(api: FakeApi, capsys: Outputs, arguments: list[str]) -> None:
    assert main(arguments) == 0
    captured = capsys.readouterr()
    assert "Usage: rocktune" in captured.out
    assert "╭" not in captured.out
    assert captured.err == ""


def test_run_shows_each_runs_figures_and_how_one_failed(api: FakeApi, capsys: Outputs) -> None:
    assert main(["run", "--workload", "w"]) == 0
    out = capsys.readouterr().out
    assert "51,200" in out
    assert "run 2: signal 6\nrun 2 printed last:\nlast words" in out
    assert "scan" not in out


def test_doctor_fails_where_something_is_missing(
    api: FakeApi, capsys: Outputs, monkeypatch: pytest.MonkeyPatch
) -> None:
    checks = [{"check": "rocksdb", "ok": False, "detail": "no worker is found; run 'make setup'"}]
    monkeypatch.setattr(FakeApi, "_answer", lambda self, name: checks)
    assert main(["doctor"]) == 1
    captured = capsys.readouterr()
    assert "run 'make setup'" in captured.out
    assert captured.err == ""
