"""The command `rocktune profile`."""

import json
from pathlib import Path

import pytest
from tests.importing.logs.made import GOLDENS

from rocktune.cli.main import main


def test_each_number_is_shown_with_its_basis(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["profile", str(GOLDENS[-1])]) == 0
    shown = capsys.readouterr().out
    for part in ("key size", "assumed", "estimated", "Left out: ", "Device: no disk", "Nothing was written"):
        assert part in shown


def test_json_and_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "study.toml"
    assert main(["profile", str(GOLDENS[-1]), "--out", str(out), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["files"] == [str(out), str(tmp_path / "study-workload.toml")]
    assert out.read_text().endswith("\n")


def test_a_missing_source_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["profile", str(tmp_path / "missing")]) == 2
    assert capsys.readouterr().err.count("\n") == 1
