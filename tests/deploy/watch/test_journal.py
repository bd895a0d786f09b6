import errno
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.deploy.watch.made import intervals

from rocktune.deploy.watch import Journal, Note, Phase, WatchState, observed_all, rows_of
from rocktune.errors import TransientError, UserError

NOTE = Note("tuning", "A study searches.")


def test_a_journal_goes_on_from_its_last_state(tmp_path: Path) -> None:
    directory = tmp_path / "watch"
    first = Journal(directory)
    assert first.state is None
    read = list(intervals(np.random.default_rng(1), 3))
    step = observed_all(WatchState(), read)
    first.add(step.state, step.notes, step.intervals)
    first.add(step.state.model_copy(update={"phase": Phase.TUNING}), [NOTE])
    state = first.state
    first.close()
    again = Journal(directory)
    assert again.state == state
    again.close()
    rows = list(rows_of(directory))
    assert [row.event for row in rows] == ["read", "tuning"]
    assert rows[0].intervals == tuple(read)


def test_rows_of_a_step_that_was_cut_short_are_removed(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "watch")
    journal.add(WatchState(), [NOTE])
    journal.close()
    path = tmp_path / "watch" / "journal.jsonl"
    whole = path.read_text()
    path.write_text(whole + whole + '{"at": "2026')
    Journal(tmp_path / "watch").close()
    assert path.read_text() == whole


def test_a_second_process_is_refused(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "watch")
    code = (
        "import pathlib, sys; from rocktune.deploy.watch import Journal; Journal(pathlib.Path(sys.argv[1]))"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "watch")]
    other = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "another process watches" in other.stderr
    journal.close()


def test_a_directory_with_other_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "own").touch()
    with pytest.raises(UserError, match="holds files that are not rocktune's"):
        Journal(tmp_path)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("state.json", b"{"), ("state.json", b"\xff"), ("journal.jsonl", b"x\n"),
        ("journal.jsonl", b"\xff\n"),
    ],
)  # fmt: skip
def test_a_damaged_file_is_named(tmp_path: Path, name: str, content: bytes) -> None:
    journal = Journal(tmp_path / "watch")
    journal.add(WatchState(), [NOTE])
    journal.close()
    (tmp_path / "watch" / name).write_bytes(content)
    with pytest.raises(UserError, match=f"{name}: .*move the directory away to begin again"):
        Journal(tmp_path / "watch") if name == "state.json" else list(rows_of(tmp_path / "watch"))


def test_a_watch_that_never_was_has_no_journal(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no journal; no watch has this name"):
        list(rows_of(tmp_path / "watch"))


@pytest.mark.parametrize("fails_at", ["fsync", "state"])
def test_a_full_disk_leaves_the_step_to_be_taken_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails_at: str
) -> None:
    directory = tmp_path / "watch"
    journal = Journal(directory)
    journal.add(WatchState(), [NOTE])
    before = {path.name: path.read_bytes() for path in directory.iterdir()}

    def full(*_given: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    def unwritable(*_given: object) -> None:
        raise UserError("state.json: cannot be written: No space left on device")

    with monkeypatch.context() as changed:
        if fails_at == "fsync":
            changed.setattr("rocktune.deploy.watch.journal.os.fsync", full)
        else:
            changed.setattr("rocktune.deploy.watch.journal.replace_file", unwritable)
        with pytest.raises(TransientError, match="No space left on device; the step is repeated"):
            journal.add(WatchState(phase=Phase.TUNING), [NOTE, NOTE])
    assert journal.state == WatchState()
    assert {path.name: path.read_bytes() for path in directory.iterdir()} == before
    journal.add(WatchState(phase=Phase.TUNING), [NOTE])
    journal.close()
    assert len(list(rows_of(directory))) == 2


@pytest.mark.parametrize("left", [0, 30, -5])
def test_rows_that_somebody_removed_are_said_to_be_missing(tmp_path: Path, left: int) -> None:
    directory = tmp_path / "watch"
    journal = Journal(directory)
    for _ in range(2):
        journal.add(WatchState(), [NOTE])
    journal.close()
    path = directory / "journal.jsonl"
    path.write_bytes(path.read_bytes()[:left])
    for _ in range(2):
        again = Journal(directory)
        assert again.state == WatchState()
        again.add(WatchState(), [NOTE])
        again.close()
    events = [row.event for row in rows_of(directory)]
    assert events == (["tuning"] if left < 0 else []) + ["damaged", "tuning", "tuning"]


def test_a_journal_without_its_state_is_not_begun_again(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "watch")
    journal.add(WatchState(), [NOTE])
    journal.close()
    (tmp_path / "watch" / "state.json").unlink()
    with pytest.raises(UserError, match=r"state\.json: is missing; move the directory away"):
        Journal(tmp_path / "watch")
    assert len(list(rows_of(tmp_path / "watch"))) == 1
