"""The journal of a watch, and its state: both on disk before anything is done.

journal.jsonl   a row for each step, and for the intervals that were read
state.json      the state after them, and the journal's length; rows behind it are of a step cut short

An action has a row before it and one after it. A watch that is killed between them finds the state of the
first, and does the action again. That changes nothing if it was done: it writes the same file, or continues
the same study.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from pathlib import Path

from pydantic import ValidationError

from rocktune.deploy.watch.interval import Interval
from rocktune.deploy.watch.state import WatchState
from rocktune.deploy.watch.step import Note
from rocktune.deploy.watched import replace_file
from rocktune.engine.local.claiming import claim, refuse_unsafe
from rocktune.engine.local.locks import locked
from rocktune.errors import TransientError, UserError
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
                # Not buffered: what could not be written must not be written later.
                self._file = held.enter_context((self.directory / JOURNAL_NAME).open("ab", buffering=0))
                kept = self._kept()
                self._bytes = self._cut(kept.journal_bytes if kept else 0)
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
        at = _now()
        rows = [Row(at=at, event=note.event, text=note.text) for note in notes]
        if intervals:
            rows.insert(0, Row(at=at, event="read", intervals=tuple(intervals)))
        content = b"".join(row.model_dump_json().encode() + b"\n" for row in rows)
        try:
            self._append(content)
            kept = _Kept(journal_bytes=self._bytes + len(content), state=state)
            replace_file(self.directory / STATE_NAME, kept.model_dump_json())
        except (OSError, UserError) as failure:
            # The step counts as not taken, and its rows go.
            with suppress(OSError):
                self._file.truncate(self._bytes)
            why = failure.strerror if isinstance(failure, OSError) else failure
            raise TransientError(
                f"watch directory {self.directory}: {why}; the step is repeated at the next look"
            ) from None
        self._bytes = kept.journal_bytes
        self.state = state

    def close(self) -> None:
        """Releases the journal."""
        self._held.close()

    def _append(self, content: bytes) -> None:
        """Appends to the journal, durably. Raises OSError, after which a part of it may be there."""
        left = memoryview(content)
        while left:
            left = left[self._file.write(left) :]
        os.fsync(self._file.fileno())

    def _cut(self, size_bytes: int) -> int:
        """Removes what is behind a size, or behind the last whole row if there is less; returns the size."""
        path = self.directory / JOURNAL_NAME
        if path.stat().st_size >= size_bytes:
            self._file.truncate(size_bytes)
            return size_bytes
        # The state counts; a watch that has to roll options back must not wait for rows of the past.
        self._file.truncate(path.read_bytes().rfind(b"\n") + 1)
        row = Row(
            at=_now(), event="damaged", text="Somebody has removed rows of the journal before this one."
        )
        self._append(row.model_dump_json().encode() + b"\n")
        return path.stat().st_size

    def _kept(self) -> _Kept | None:
        """Returns the last state that was written; None if there is no state."""
        path = self.directory / STATE_NAME
        if not path.exists():
            # A new watch has its first state before its first row.
            if os.fstat(self._file.fileno()).st_size:
                raise UserError(f"{path}: is missing; move the directory away to begin again")
            return None
        try:
            return _Kept.model_validate_json(path.read_text(encoding="utf-8"))
        except (ValidationError, UnicodeDecodeError):
            raise UserError(f"{path}: cannot be read; move the directory away to begin again") from None


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


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
    except (ValidationError, UnicodeDecodeError):
        raise UserError(f"{path}: a row cannot be read; move the directory away to begin again") from None
