"""The commands `rocktune workload ...`."""

import json
from pathlib import Path

import pytest
from tests.importing.workloads.test_ycsb import CASES, CORE

from rocktune.cli.main import main


def test_the_account_goes_to_stdout_and_the_warning_to_stderr(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "w.toml"
    assert main(["workload", "from-ycsb", str(CORE), "--out", str(out)]) == 0
    shown = capsys.readouterr()
    assert "operationcount=1000" in shown.out
    assert f"Workload: {out}" in shown.out
    assert shown.err.startswith("Warning: recordcount=1000")


def test_json_is_one_document(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = (CASES / "mixgraph-command.txt").read_text()
    out = tmp_path / "w.toml"
    assert main(["workload", "from-db-bench", command, "--out", str(out), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["workload"]["sessions"][0]["arrival"]["kind"] == "sine"


def test_properties_may_be_repeated(tmp_path: Path) -> None:
    out = tmp_path / "w.toml"
    arguments = ["-p", "recordcount=7", "-p", "threadcount=3", "--out", str(out)]
    assert main(["workload", "from-ycsb", str(CORE), *arguments]) == 0
    assert "keys = 7\n" in out.read_text()
    assert "threads = 3\n" in out.read_text()


def test_a_refused_source_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["workload", "from-ycsb", str(CASES / "another-workload-class.properties")]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert main(["workload"]) == 0
    assert "from-db-bench" in capsys.readouterr().out
