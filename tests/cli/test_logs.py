"""What `rocktune log` prints."""

import csv
import io
import json
from pathlib import Path

import pytest
from tests.importing.logs.made import GOLDENS, HERE

from rocktune.cli.main import main
from rocktune.importing.logs import CSV_KINDS

Outputs = pytest.CaptureFixture[str]
STALLS = str(HERE / "cases" / "stalls-of-three-families.log")
NEWEST = str(next(path for path in GOLDENS if "11.8.1" in path.name))


def test_text_names_families_causes_and_rates(capsys: Outputs) -> None:
    assert main(["log", STALLS]) == 0
    printed = capsys.readouterr().out
    for text in (
        "3 column families: 'blocks', 'by_owner', 'signatures'.",
        "The LOG begins after the database was opened",
        "stopped   36 level-0",
        "16KiB/s",
        "Each holds up the writes to all families.",
    ):
        assert text in printed


def test_text_of_a_whole_log(capsys: Outputs) -> None:
    assert main(["log", NEWEST]) == 0
    printed = capsys.readouterr().out
    for text in (
        "RocksDB 11.8.1, ",
        "Flushes and compactions",
        "Levels of 'default'",
        "MiB/s of user writes",
    ):
        assert text in printed


@pytest.mark.parametrize("kind", CSV_KINDS)
def test_csv_has_one_line_of_heads_and_equal_columns(kind: str, capsys: Outputs) -> None:
    assert main(["log", NEWEST, NEWEST, "--csv", kind]) == 0
    rows = list(csv.reader(io.StringIO(capsys.readouterr().out)))
    assert rows[0][0] == "opening"
    assert len(rows) > 1
    assert {len(row) for row in rows} == {len(rows[0])}
    assert {row[0] for row in rows[1:]} == {"1"}


def test_csv_without_rows_says_so(capsys: Outputs) -> None:
    assert main(["log", STALLS, "--csv", "flushes"]) == 0
    outputs = capsys.readouterr()
    assert (outputs.out, outputs.err) == ("", "The LOG has no flushes.\n")


def test_json_is_one_document(capsys: Outputs) -> None:
    assert main(["log", STALLS, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    (opening,) = document["openings"]
    assert opening["families"] == ["blocks", "by_owner", "signatures"]
    assert opening["stalls"][0]["cause"] == "pending compaction bytes"
    assert opening["stall_periods"][0]["max_s"] >= opening["stall_periods"][0]["min_s"]


def test_a_page_is_written(tmp_path: Path, capsys: Outputs) -> None:
    page = tmp_path / "new" / "page.html"
    assert main(["log", NEWEST, "--out", str(page)]) == 0
    assert f"Page: {page}" in capsys.readouterr().out
    assert page.read_text().startswith("<!DOCTYPE html>")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "missing argument 'LOG...'"),
        (["missing"], "LOG file missing: it cannot be opened: No such file"),
        ([__file__], "no line of it is from a RocksDB LOG"),
        ([STALLS, "--csv", "stal"], "unknown kind of CSV 'stal': did you mean 'stalls'?"),
        ([STALLS, "--csv", "stalls", "--json"], "--csv and --json"),
        ([STALLS, "--out", "/"], "/: it is a directory"),
    ],
)
def test_errors_are_one_line(arguments: list[str], said: str, capsys: Outputs) -> None:
    assert main(["log", *arguments]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
