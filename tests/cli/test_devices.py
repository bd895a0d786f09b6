"""`rocktune device measure`, with the substitute of the worker."""

import io
import json
import sys
from pathlib import Path

import pytest

from rocktune.cli.main import main

Outputs = pytest.CaptureFixture[str]
SMALL = ["--bytes", "64MiB", "--seconds", "1s"]

pytestmark = pytest.mark.usefixtures("fake_worker_program")


class Terminal(io.StringIO):
    """A stream that claims to be a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    disk = tmp_path / "disk"
    disk.mkdir()
    return disk


def on_a_terminal(monkeypatch: pytest.MonkeyPatch, answer: str) -> Terminal:
    """Gives the command a terminal with an answer typed in; returns its standard error."""
    shown = Terminal()
    monkeypatch.setattr(sys, "stdin", Terminal(answer))
    monkeypatch.setattr(sys, "stderr", shown)
    return shown


def test_figures_are_a_table_and_a_file(disk: Path, capsys: Outputs) -> None:
    assert main(["device", "measure", "disk", *SMALL, "--yes", "--out", "mine.toml"]) == 0
    said = capsys.readouterr()
    for part in ("400MiB/s", "60,000", "110 µs", "2,000 µs", "Device file: mine.toml"):
        assert part in said.out
    assert said.err == ""
    assert "iops = 60000" in Path("mine.toml").read_text()
    assert list(disk.iterdir()) == []


def test_a_comparison_says_what_differs(disk: Path, capsys: Outputs) -> None:
    assert main(["device", "measure", "disk", *SMALL, "--yes", "--compare", "ssd-100mb"]) == 0
    said = capsys.readouterr().out
    assert "More than 25% from ssd-100mb: bandwidth." in said
    assert "no limit" in said
    assert "none added" in said
    assert main(["device", "measure", "disk", *SMALL, "--yes", "--out", "same.toml"]) == 0
    assert main(["device", "measure", "disk", *SMALL, "--yes", "--compare", "same.toml"]) == 0
    assert "No figure differs from same by more than 25%." in capsys.readouterr().out


def test_json_is_one_document(disk: Path, capsys: Outputs) -> None:
    assert main(["device", "measure", "disk", *SMALL, "--yes", "--compare", "none", "--json"]) == 0
    said = capsys.readouterr()
    found = json.loads(said.out)
    assert found["device"]["iops"] == 60_000
    assert found["comparison"][0]["ratio"] is None
    assert said.err == ""


def test_without_a_terminal_consent_must_be_given(disk: Path, capsys: Outputs) -> None:
    assert main(["device", "measure", "disk", *SMALL]) == 2
    said = capsys.readouterr().err.strip()
    assert f"writes up to 64MiB into {disk} for about 1.0 s; give --yes" in said
    assert "\n" not in said
    assert list(disk.iterdir()) == []


@pytest.mark.parametrize(("answer", "code"), [("y\n", 0), (" YES \n", 0), ("n\n", 1), ("\n", 1), ("", 1)])
def test_on_a_terminal_it_asks_once(
    disk: Path, monkeypatch: pytest.MonkeyPatch, capsys: Outputs, answer: str, code: int
) -> None:
    shown = on_a_terminal(monkeypatch, answer)
    assert main(["device", "measure", "disk", *SMALL, "--json"]) == code
    asked = shown.getvalue()
    assert asked.startswith(f"This writes up to 64MiB into {disk} for about 1.0 s. Go on? [y/N] ")
    assert ("Nothing was written." in asked) == bool(code)
    assert bool(capsys.readouterr().out) == (code == 0)
    assert list(disk.iterdir()) == []


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("measure missing --yes", "missing: is not a directory; name an existing directory"),
        ("measure db --yes", "is a RocksDB database"),
        ("measure / --yes --bytes 1", "bytes: 1B are too few"),
        ("measure /proc --yes", "/proc: is a system or home directory"),
        ("measure disk --yes --out disk.txt", "must end in .toml"),
        ("measure disk --yes --compare stata", "did you mean 'sata'"),
        ("measure", "DIR"),
        ("measur disk", "measure"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(disk: Path, capsys: Outputs, line: str, message: str) -> None:
    Path("db").mkdir()
    Path("db/CURRENT").write_text("MANIFEST-000001\n")
    assert main(["device", *line.split()]) == 2
    said = capsys.readouterr().err.strip()
    assert message in said
    assert "\n" not in said
    assert list(disk.iterdir()) == []


def test_the_group_shows_its_commands(capsys: Outputs) -> None:
    assert main(["device"]) == 0
    assert "measure" in capsys.readouterr().out
