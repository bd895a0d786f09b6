"""What `rocktune upgrade` prints."""

import json
from pathlib import Path
from typing import Any

import pytest

from rocktune.cli.main import main
from rocktune.cli.output import stdout
from rocktune.cli.upgrade_tables import print_proof
from rocktune.engine import libraries
from rocktune.engine.worker import WORKER_VARIABLE

Outputs = pytest.CaptureFixture[str]

FILE = """[Version]
[DBOptions]
[CFOptions "default"]
  level_compaction_dynamic_level_bytes=false
[TableOptions/BlockBasedTable "default"]
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """An OPTIONS file on a machine without workers."""
    monkeypatch.setattr(libraries, "SOURCE_TREE", tmp_path)
    monkeypatch.setenv(WORKER_VARIABLE, str(tmp_path / "missing"))
    (tmp_path / "OPTIONS").write_text(FILE)
    return str(tmp_path / "OPTIONS")


def dry_run(file: str, *arguments: str) -> int:
    return main(["upgrade", "--options-file", file, "--from", "8.3", "--to", "11.8", "--dry-run", *arguments])


def test_changes_are_shown_by_kind_with_their_sources(file: str, capsys: Outputs) -> None:
    assert dry_run(file) == 0
    printed = capsys.readouterr().out
    for text in (
        "RocksDB 8.3 to 11.8",
        "New defaults, because the file leaves these options out",
        "Old defaults that the file states and keeps",
        "false → true",
        "history 8.4",
        "5 → 7",
        "The store's data",
        "on the way back: RocksDB before 10.4 cannot",
        "--verbose lists them",
        "The changes are the release history's",
    ):
        assert text in printed
    assert "Upgrade '" not in printed
    assert dry_run(file, "--verbose") == 0
    assert "db.write_identity_file (9.7)" in capsys.readouterr().out


def test_json_is_one_document(file: str, capsys: Outputs) -> None:
    assert dry_run(file, "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["proof"] is None
    kept = [change for change in document["upgrade"]["changes"] if change["kind"] == "stays as it was"]
    assert [change["name"] for change in kept] == ["level_compaction_dynamic_level_bytes"]
    assert kept[0]["source"] == "history 8.4"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--to", "11.99"], "--to: rocktune knows no RocksDB 11.99; the nearest is 11.8"),
        (["--to", "8.3.1"], "is the version to go from"),
        (["--to", "7.8"], "which is no upgrade"),
        (["--to", "11.8", "--pairs", "1"], "no RocksDB is installed or can be built here"),
        (["--to", "11.8", "--rocksdb", "8.3"], "unknown option '--rocksdb'"),
        ([], "missing option '--to'"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(
    file: str, capsys: Outputs, arguments: list[str], message: str
) -> None:
    assert main(["upgrade", "--options-file", file, "--from", "8.3", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err
    assert captured.err.count("\n") == 1


def found(ratio: tuple[float, float, float], verdict: str, failures: tuple[str, ...] = ()) -> dict[str, Any]:
    value, low, high = ratio
    figure = {"value": 1000.0, "low": 900.0, "high": 1100.0, "repeats": 6}
    compared = {
        "old": figure,
        "new": figure,
        "ratio": {"value": value, "low": low, "high": high, "repeats": 6},
    }
    nothing = {"value": None, "low": None, "high": None, "repeats": 0}
    stalled = {"old": figure | {"value": 0.0}, "new": figure | {"value": 0.0}, "ratio": nothing}
    proof = {
        "verdict": verdict,
        "disturbed_pairs": 0,
        "reason": "",
        "caution": "RocksDB 7.8.3 is built with assertions.",
        "engines": ["RocksDB 7.8.3, assertions on", ""],
        "figures": {} if failures else {"throughput_ops_s": compared, "stalled_share": stalled},
        "failures": list(failures),
    }
    conditions = {"workload": "ycsb-a", "device": "none", "scale": "1/32", "seconds": 3.75, "pairs": 6}
    return conditions | {"rocksdb": ["7.8.3", "11.8.1"], "proof": proof, "report": "up/report.html"}


@pytest.mark.parametrize(
    ("document", "statement"),
    [
        (
            found((1.2, 1.1, 1.3), "faster"),
            "RocksDB 11.8.1 is faster than 7.8.3: 1.20× the throughput (1.10× to 1.30×), on a 1/32 model.",
        ),
        (found((0.8, 0.7, 0.9), "slower"), "RocksDB 11.8.1 is slower than 7.8.3: 0.80× the throughput"),
        (
            found((1.0, 0.9, 1.1), "no difference proven"),
            "No difference is proven between RocksDB 11.8.1 and 7.8.3: 1.000× the throughput (0.90×",
        ),
        (
            found((1.0, 0.9, 1.1), "no difference proven", ("RocksDB 11.8.1: crashed: why",)),
            "Nothing is proven: 1 of 12 runs failed.",
        ),
    ],
)
def test_a_proof_says_what_its_interval_says(
    capsys: Outputs, document: dict[str, Any], statement: str
) -> None:
    print_proof(stdout(), document)
    printed = capsys.readouterr().out
    assert printed.lstrip().startswith(statement)
    assert "RocksDB 7.8.3 is built with assertions." in printed
    for failure in document["proof"]["failures"]:
        assert failure in printed
