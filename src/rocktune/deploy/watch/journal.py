"""The journal of a watch, and its state: both on disk before anything is done.

journal.jsonl   a row for each step, and for the intervals that were read
state.json      the state after them, and the journal's length; rows behind it are of a step cut short

An action has a row before it and one after it. A watch that is killed between them finds the state of the
first, and does the action again. That changes nothing if it was done: it writes the same file, or continues
the same study.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

from pydantic import ValidationError

from rocktune.deploy.watch.interval import Interval
from rocktune.deploy.watch.state import WatchState
from rocktune.deploy.watch.step import Note
from rocktune.deploy.watched import write_watched
from rocktune.engine.local.claiming import claim, refuse_unsafe
from rocktune.engine.local.locks import locked
from rocktune.errors import UserError
from rocktune.spec_file import Count, Spec

JOURNAL_NAME = "journal.jsonl"
STATE_NAME = "state.json"
_MEND = "name another study, or move the directory away"


class Row(Spec):
    """One row of a journal.

    Attributes:
        at: when it was written, UTC, ISO 8601.
        event: its kind: "read" for intervals that were read, else that of a `Note`.
        text: a sentence; empty for "read".
        intervals: the intervals that were read.
    """

    at: str
    event: str
    text: str = ""
    intervals: tuple[Interval, ...] = ()


class _Kept(Spec):
    """The file `state.json`."""

    journal_bytes: Count
    state: WatchState


class Journal:
    """The journal and the state of one watch, for one process at a time.

    Attributes:
        directory: the watch's directory, which has rocktune's marker.
        state: the present state; None for a new watch.
    """

    def __init__(self, directory: Path) -> None:
        """Opens a journal, or makes it.

        Raises:
            UserError: another process watches; the directory holds other files or cannot be written; or the
                state cannot be read.
        """
        self.directory = directory.expanduser().resolve()
        named = f"watch directory {self.directory}"
        try:
            refuse_unsafe(self.directory, named, _MEND)
            claim(self.directory, named, _MEND)
            with ExitStack() as held:
                held.enter_context(locked(self.directory / "lock", wait=False))
                self._file = held.enter_context((self.directory / JOURNAL_NAME).open("ab"))
                kept = self._kept()
                self._file.truncate(kept.journal_bytes if kept else 0)
                self._held = held.pop_all()
        except BlockingIOError:
            raise UserError(f"{named}: another process watches; wait for its end, or end it") from None
        except OSError as failure:
            raise UserError(f"{named}: cannot be written: {failure.strerror}; {_MEND}") from None
        self.state = kept.state if kept else None

    def add(self, state: WatchState, notes: Sequence[Note], intervals: Sequence[Interval] = ()) -> None:
        """Writes a state and the steps that led to it, durably.

        Args:
            state: the state after all of them.
            notes: the steps; each gets a row.
            intervals: the intervals that were read for it.
        """
        at = datetime.now(UTC).isoformat(timespec="seconds")
        rows = [Row(at=at, event=note.event, text=note.text) for note in notes]
        if intervals:
            rows.insert(0, Row(at=at, event="read", intervals=tuple(intervals)))
        self._file.write(b"".join(row.model_dump_json().encode() + b"\n" for row in rows))
        self._file.flush()
        os.fsync(self._file.fileno())
        kept = _Kept(journal_bytes=os.fstat(self._file.fileno()).st_size, state=state)
        write_watched(self.directory / STATE_NAME, kept.model_dump_json())
        self.state = state

    def close(self) -> None:
        """Releases the journal."""
        self._held.close()

    def _kept(self) -> _Kept | None:
        """Returns the last state that was written; None if there is no state."""
        path = self.directory / STATE_NAME
        if not path.exists():
            return None
        try:
            return _Kept.model_validate_json(path.read_text(encoding="utf-8"))
        except ValidationError:
            raise UserError(f"{path}: cannot be read; move the directory away to begin again") from None


def rows_of(directory: Path) -> Iterator[Row]:
    """Yields the rows of a journal, which a process may be writing.

    Raises:
        UserError: there is no journal, or a row cannot be read.
    """
    path = directory.expanduser() / JOURNAL_NAME
    try:
        with path.open(encoding="utf-8") as lines:
            for line in lines:
                # A line without an end is still being written.
                if line.endswith("\n"):
                    yield Row.model_validate_json(line)
    except FileNotFoundError:
        raise UserError(f"{path}: there is no journal; no watch has this name") from None
    except OSError as failure:
        raise UserError(f"{path}: cannot be read: {failure.strerror}") from None
    except ValidationError:
        raise UserError(f"{path}: a row cannot be read; move the directory away to begin again") from None
