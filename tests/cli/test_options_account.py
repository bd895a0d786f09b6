"""What the command line says of an OPTIONS file, from the real worker to the printed line."""

import json
from pathlib import Path

import pytest
from tests.report import sample

from rocktune import api
from rocktune.cli.main import main
from rocktune.outcome import Outcome

CASES = Path(__file__).parents[1] / "importing" / "cases"
FAMILIES = str(CASES / "three-families-empty-default.ini")
Outputs = pytest.CaptureFixture[str]


pytestmark = pytest.mark.usefixtures("own_directories")


def dry_run(*arguments: str) -> int:
    return main(["tune", "--workload", "ycsb-a", "--scale", "1/512", "--dry-run", *arguments])


@pytest.mark.parametrize("command", ["tune", "run"])
def test_several_families_and_no_choice_is_one_line_and_exit_code_2(capsys: Outputs, command: str) -> None:
    assert main([command, "--workload", "ycsb-a", "--options-file", FAMILIES]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert "'default' (no options), 'nodes' (5 options), 'edges' (5 options)" in captured.err
    assert "--column-family NAME" in captured.err


def test_the_account_is_a_line_or_a_table(capsys: Outputs) -> None:
    assert dry_run("--options-file", FAMILIES, "--column-family", "edges") == 0
    lines = capsys.readouterr().out.splitlines()
    assert "OPTIONS: 8 used, 1 adjusted, 7 not measured; --verbose lists them." in lines
    assert any("assumed is one cache each" in line for line in lines)
    assert dry_run("--options-file", FAMILIES, "--column-family", "edges", "--verbose") == 0
    table = capsys.readouterr().out
    assert "OPTIONS: 8 used, 1 adjusted, 7 not measured." in table
    assert "8 compression types" in table
    assert "nodes:" in table


def test_the_account_is_data(capsys: Outputs) -> None:
    assert dry_run("--options-file", str(CASES / "long-gone-options.ini"), "--json") == 0
    account = json.loads(capsys.readouterr().out)["options_account"]
    assert account["counts"] == {"used": 3, "translated": 3, "without effect": 9}
    assert len(account["entries"]) == 15
    assert {"name", "line", "given", "fate", "value", "why"} < account["entries"][0].keys()


def test_a_family_without_a_file_is_refused(capsys: Outputs) -> None:
    assert dry_run("--column-family", "edges") == 2
    assert (
        "--column-family chooses among those of an OPTIONS file or of the workload" in capsys.readouterr().err
    )


def test_a_run_measures_without_foreign_classes_and_says_so(capsys: Outputs) -> None:
    arguments = ["run", "--workload", "ycsb-a", "--scale", "1/512", "--seconds", "1s", "--memory", "256MiB"]
    assert main([*arguments, "--options-file", str(CASES / "foreign-classes.ini"), "--json"]) == 0
    measured = json.loads(capsys.readouterr().out)
    assert [run["status"] for run in measured["runs"]] == ["ok"]
    assert measured["options_account"]["counts"]["foreign"] == 9
    assert any("acme.OrderedIdComparator" in note for note in measured["own_options_notes"])


def test_a_governed_run_says_what_became_of_the_file(capsys: Outputs) -> None:
    arguments = ["govern", "--device", "ssd-100mb", "--scale", "1/512", "--until", "60s", "--read", "0"]
    assert main([*arguments, "--options-file", str(CASES / "bom-and-crlf.ini"), "--out", "governed"]) == 0
    assert "OPTIONS: 2 used; --verbose lists them." in capsys.readouterr().out


@pytest.mark.parametrize("command", ["verify s --scale 1", "resume s"])
def test_a_finished_study_shows_the_table_if_asked(
    monkeypatch: pytest.MonkeyPatch, capsys: Outputs, command: str
) -> None:
    account = {
        "file_version": "6.29.5",
        "rocksdb_version": "7.8.3",
        "family": "default",
        "entries": [
            {
                "section": "db",
                "name": "wal_dir",
                "line": 8,
                "given": "/wal",
                "fate": "overridden",
                "why": "own",
            }
        ],
    }
    outcome = Outcome.from_json(sample.document() | {"options_account": account})
    monkeypatch.setattr(api, command.split()[0], lambda *arguments, **named: outcome)
    assert main(command.split()) == 0
    assert "OPTIONS: 1 overridden; --verbose lists them." in capsys.readouterr().out
    assert main([*command.split(), "--verbose"]) == 0
    table = capsys.readouterr().out
    assert "OPTIONS: 1 overridden." in table
    assert "wal_dir" in table


def test_a_resumed_sweep_shows_the_table_if_asked(capsys: Outputs) -> None:
    arguments = ["sweep", "--study", "s", "--workload", "ycsb-a", "--scale", "1/512", "--samples", "1"]
    arguments += ["--seconds", "1s", "--warm-up", "1s", "--memory", "256MiB"]
    assert main([*arguments, "--options-file", str(CASES / "long-gone-options.ini")]) == 0
    counts = "OPTIONS: 3 used, 3 translated, 9 without effect"
    assert capsys.readouterr().out.count(f"{counts}; --verbose lists them.") == 2
    assert main(["resume", "s", "--verbose"]) == 0
    table = capsys.readouterr().out
    assert f"{counts}." in table
    assert "skip_log_error_on_recovery" in table
