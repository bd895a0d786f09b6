import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from rocktune.cli import ledgers
from rocktune.cli.main import main
from rocktune.ledger import open_ledger
from rocktune.study.specs.resolving import resolve
from rocktune.study.specs.study_file import make_request
from rocktune.testing.synthetic import synthetic_window
from rocktune.trial import Configuration, Status, Trial

Outputs = pytest.CaptureFixture[str]
TRIAL = Trial(Configuration({"write_buffer_size": 1 << 26}), 1.0)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "own"))


def record(ledger: str, *names: str, seed: int = 1) -> None:
    """Records studies of one trial each."""
    with open_ledger(ledger) as opened:
        for name in names:
            request = make_request({"workload": "ycsb-a", "device": "nvme", "scale": "1/64", "seed": seed})
            spec = resolve(request, name)
            study = opened.create_study(name, spec.model_dump(mode="json"), "RocksDB 7.8.3")
            opened.plan_batch(study, "search", 0, [TRIAL])
            opened.record(study, 0, 0, TRIAL, synthetic_window(0.0, 1.0), Status.OK, seconds=1.0)


def names_in(ledger: str) -> list[str]:
    with open_ledger(ledger) as opened:
        return [study.name for study in opened.studies()]


def url(name: str) -> str:
    return f"sqlite:///{Path.cwd()}/{name}"


class TestCopy:
    def test_all_studies_by_default_and_again_none(self, capsys: Outputs) -> None:
        record("from.sqlite", "one", "two")
        assert main(["ledger", "copy", "from.sqlite", "to.sqlite"]) == 0
        assert capsys.readouterr() == ("one: copied\ntwo: copied\n", "")
        record("from.sqlite", "three")
        assert main(["ledger", "copy", "from.sqlite", "to.sqlite", "--json"]) == 0
        printed, errors = capsys.readouterr()
        assert errors == ""
        assert json.loads(printed) == {
            "from": url("from.sqlite"),
            "to": url("to.sqlite"),
            "copied": ["three"],
            "already_there": ["one", "two"],
        }
        assert main(["ledger", "copy", "from.sqlite", "to.sqlite"]) == 0
        assert "one: already there and equal\n" in capsys.readouterr().out
        assert names_in("to.sqlite") == ["one", "two", "three"]

    def test_named_studies(self) -> None:
        record("from.sqlite", "one", "two", "three")
        arguments = ["--study", "three", "--study", "one"]
        assert main(["ledger", "copy", "from.sqlite", "to.sqlite", *arguments]) == 0
        assert names_in("to.sqlite") == ["three", "one"]

    def test_another_study_of_the_name_is_refused_before_anything_is_copied(self, capsys: Outputs) -> None:
        record("from.sqlite", "one", "two")
        record("to.sqlite", "two", seed=2)
        assert main(["ledger", "copy", "from.sqlite", "to.sqlite"]) == 2
        printed, error = capsys.readouterr()
        assert printed == ""
        assert error == (
            f"rocktune: error: study 'two': {url('to.sqlite')} has a different study of this name, "
            "so nothing was copied; delete it there, or choose the studies to copy with --study\n"
        )
        assert names_in("to.sqlite") == ["two"]
        assert main(["ledger", "copy", "from.sqlite", "to.sqlite", "--study", "one"]) == 0
        assert names_in("to.sqlite") == ["two", "one"]

    def test_what_is_not_there(self, capsys: Outputs) -> None:
        assert main(["ledger", "copy", "from.sqlite", "to.sqlite"]) == 2
        assert "does not exist" in capsys.readouterr().err
        record("from.sqlite", "study")
        assert main(["ledger", "copy", "from.sqlite", "to.sqlite", "--study", "studdy"]) == 2
        assert "did you mean 'study'?" in capsys.readouterr().err
        assert main(["ledger", "copy", "from.sqlite", "missing/to.sqlite"]) == 2
        assert "does not exist" in capsys.readouterr().err
        assert main(["ledger", "copy", "from.sqlite"]) == 2
        assert "TO" in capsys.readouterr().err

    def test_an_empty_ledger(self, capsys: Outputs) -> None:
        open_ledger("from.sqlite").close()
        assert main(["ledger", "copy", "from.sqlite", "to.sqlite"]) == 0
        assert capsys.readouterr().out == f"{url('from.sqlite')} has no studies\n"


class TestCheck:
    def test_a_whole_one(self, capsys: Outputs) -> None:
        record("ledger.sqlite", "one", "two")
        assert main(["ledger", "check", "ledger.sqlite"]) == 0
        said = f"{url('ledger.sqlite')} is undamaged: 2 studies, 2 windows, schema 0001\n"
        assert capsys.readouterr() == (said, "")
        assert main(["ledger", "check", "ledger.sqlite", "--json"]) == 0
        assert json.loads(capsys.readouterr().out) == {
            "ledger": url("ledger.sqlite"),
            "schema_version": "0001",
            "studies": 2,
            "windows": 2,
            "problems": [],
        }

    def test_problems_one_per_line(self, capsys: Outputs) -> None:
        record("ledger.sqlite", "one", "two")
        with open_ledger("ledger.sqlite") as opened, opened._writer.begin() as connection:
            connection.exec_driver_sql("DELETE FROM measurements WHERE study_id = 2")
            connection.exec_driver_sql("UPDATE studies SET spec = '{\"scale\":64}' WHERE id = 1")
        assert main(["ledger", "check", "ledger.sqlite"]) == 1
        assert capsys.readouterr() == (
            "study 'one': its specification: name: missing\n"
            "study 'two': trial 0 of batch 0 is ok, but no window ends at its age, 1 s\n",
            "",
        )
        assert main(["ledger", "check", "ledger.sqlite", "--json"]) == 1
        problems = json.loads(capsys.readouterr().out)["problems"]
        assert problems[0] == {"study": "one", "problem": "its specification: name: missing"}
        assert len(problems) == 2

    def test_a_problem_of_no_study(self, capsys: Outputs) -> None:
        record("ledger.sqlite", "one")
        with open_ledger("ledger.sqlite") as opened, opened._writer.begin() as connection:
            connection.exec_driver_sql("DROP TABLE events")
        assert main(["ledger", "check", "ledger.sqlite"]) == 1
        assert capsys.readouterr().out == "ledger: table events is missing\n"

    def test_one_that_cannot_be_opened(self, capsys: Outputs, tmp_path: Path) -> None:
        (tmp_path / "notes.txt").write_text("not a database " * 100)
        for ledger in ("notes.txt", "missing.sqlite", "postgresql://me:se@cret@127.0.0.1:1/db"):
            assert main(["ledger", "check", ledger]) == 2
            printed, error = capsys.readouterr()
            assert (printed, error.count("\n")) == ("", 1)
            assert "cret" not in error

    def test_the_users_own_by_default(self, capsys: Outputs) -> None:
        assert main(["ledger", "check"]) == 2
        assert "does not exist" in capsys.readouterr().err
        open_ledger(None).close()
        assert main(["ledger", "check"]) == 0
        assert "is undamaged: 0 studies" in capsys.readouterr().out


@pytest.mark.parametrize(("patience_s", "shown"), [(3600.0, False), (0.0, True)])
def test_progress_is_shown_once_patience_ends(
    monkeypatch: pytest.MonkeyPatch, patience_s: float, shown: bool
) -> None:
    monkeypatch.setattr(ledgers, "_PATIENCE_S", patience_s)
    written = io.StringIO()
    with ledgers._RowsDisplay(Console(file=written, force_terminal=True, width=80)) as display:
        display("one", 1, 10)
    assert ("one" in written.getvalue()) is shown


def test_the_help_names_both(capsys: Outputs) -> None:
    for arguments in (["ledger", "--help"], ["ledger"]):
        assert main(arguments) == 0
        printed = capsys.readouterr().out
        assert "copy" in printed
        assert "check" in printed
    assert main(["ledger", "chekc"]) == 2
    assert "check" in capsys.readouterr().err
