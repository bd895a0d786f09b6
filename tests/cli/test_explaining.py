"""What `rocktune explain` prints."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from tests.importing.logs.made import HERE

from rocktune.analysis.explain.rules import RULES
from rocktune.api import running
from rocktune.cli.main import main
from rocktune.trial import Result, Status

Outputs = pytest.CaptureFixture[str]
STALLS = str(HERE / "cases" / "stalls-of-three-families.log")
FLUSHES = str(HERE / "cases" / "slow-flushes-17-columns.log")
OPTIONS = """[DBOptions]
  max_background_jobs=3
[CFOptions "default"]
  write_buffer_size=67108864
[CFOptions "by_owner"]
  level0_file_num_compaction_trigger=18
  level0_slowdown_writes_trigger=20
  level0_stop_writes_trigger=36
"""


def test_text_names_families_causes_options_and_what_is_unknown(capsys: Outputs) -> None:
    assert main(["explain", STALLS]) == 0
    printed = capsys.readouterr().out
    for text in (
        "Writes were delayed or stopped for about 100.0% of the time, 43 min 9 s in all, as messages tell.",
        "1. Level 0 of 'by_owner' fills faster than compactions empty it",
        "2. Compactions of 'blocks' fall behind what is written",
        "3. The rate of delayed writes falls from 16MiB/s to 16KiB/s",
        "rocktune run ",
        "Not shown by the LOG:",
    ):
        assert text in printed


def test_json_is_one_document_with_evidence_and_commands(capsys: Outputs) -> None:
    assert main(["explain", FLUSHES, "--json"]) == 0
    (opening,) = json.loads(capsys.readouterr().out)["openings"]
    (finding,) = opening["findings"]
    assert finding["rule"] == "flush-bound"
    assert finding["confidence"] == "medium"
    assert finding["held_share"] is None
    assert finding["suggestions"][0] == {
        "option": "max_background_jobs",
        "present": "2",
        "value": "4",
        "why": "lets more flushes and compactions run at a time",
    }
    assert len(finding["commands"]) == 2


def test_an_options_file_decides_what_the_log_does_not_state(tmp_path: Path, capsys: Outputs) -> None:
    file = tmp_path / "my OPTIONS"
    file.write_text(OPTIONS)
    assert main(["explain", STALLS, "--options-file", str(file)]) == 0
    printed = capsys.readouterr().out
    assert "Triggers of level 0 in 'by_owner' are so close that a burst holds writes up" in printed
    assert f"--options-file '{file}' --column-family by_owner" in printed
    assert "Options: the LOG begins after the opening" not in printed


@pytest.mark.parametrize("log", [STALLS, FLUSHES])
def test_printed_commands_are_accepted(log: str, capsys: Outputs, monkeypatch: pytest.MonkeyPatch) -> None:
    assert main(["explain", log, "--json"]) == 0
    (opening,) = json.loads(capsys.readouterr().out)["openings"]
    commands = [command for finding in opening["findings"] for command in finding["commands"]]
    assert commands
    measured = []

    def not_measured(engine: Any, experiment: Any, trial: Any, *rest: Any) -> tuple[Result, str]:
        measured.append(trial)
        return Result(trial, Status.CRASHED, message="not measured"), ""

    # Reading, checking and RocksDB's own validation of the options happen before.
    monkeypatch.setattr(running, "_measured", not_measured)
    for command in commands:
        program, *arguments = shlex.split(command)
        assert program == "rocktune"
        assert main(arguments) == 0, command
    assert len(measured) == 3 * len(commands)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "missing argument 'LOG...'"),
        (["missing"], "LOG file missing: it cannot be opened: No such file"),
        ([STALLS, "--options-file", "missing"], "missing: it cannot be opened"),
        ([STALLS, "--options-file", STALLS], "stalls-of-three-families.log"),
    ],
)
def test_errors_are_one_line(arguments: list[str], said: str, capsys: Outputs) -> None:
    assert main(["explain", *arguments]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


def test_the_page_of_a_log_has_the_findings(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert main(["log", STALLS, "--out", str(page)]) == 0
    html = page.read_text()
    assert "<h2>What holds the store up</h2>" in html
    assert "<h3>1. Level 0 of &#x27;by_owner&#x27; fills faster than compactions empty it</h3>" in html


def test_rules_are_named_once_and_have_sources() -> None:
    names = [rule.name for rule in RULES]
    assert len(set(names)) == len(names)
    for rule in RULES:
        assert rule.sources
        assert all(source.startswith(("wiki: ", "code: ")) for source in rule.sources)
