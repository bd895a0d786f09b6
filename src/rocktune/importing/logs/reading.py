"""Reads LOG files of any RocksDB or Speedb, and what db_bench and `rocksdb.stats` print."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from rocktune.importing.logs.building import SESSION, VERSION, OpeningBuilder
from rocktune.importing.logs.document import LeftOut, LogDocument, Opening
from rocktune.importing.logs.lines import MAX_LINE_BYTES, Line, LineCounts, LogFileError, log_lines
from rocktune.importing.logs.rolled import LogFile, ordered_files
from rocktune.importing.logs.tail import DumpMark, start_of_last_dumps, tail_of

Progress = Callable[[float, float], None]
"""Is called with the bytes that were read and with all bytes, now and then."""

_MAX_ITEMS = 60_000
"""Dumped rows, jobs and the like that all openings keep together."""
_MAX_OPENINGS = 1_000
_LOOK_BYTES = 1 << 20
"""Bytes within which a LOG says something that is understood."""
_MAX_VERSION_LINE = 300
_PROGRESS_BYTES = 1 << 20
_HEADER_MESSAGES = 50
"""Messages within which the header of an opening names its session."""


def _no_progress(done: float, total: float) -> None:
    """Does nothing."""


def read_log(paths: Sequence[Path], progress: Progress = _no_progress) -> LogDocument:
    """Reads LOG files without holding them in memory.

    Accepts excerpts that begin or end anywhere, CRLF, damaged lines, statistics without times, and several
    openings of one or of several databases in one file. What memory does not allow to keep is counted.

    Args:
        paths: files in any order, or directories of databases.
        progress: receives the progress.

    Raises:
        LogFileError: a file cannot be read, or no line in them is of a LOG.
    """
    reader = _Reader(progress=progress)
    files = ordered_files(paths)
    reader.read_all(files)
    openings = reader.finished()
    if not openings:
        named = ", ".join(str(file.path) for file in files) or "none given"
        raise LogFileError(
            f"LOG file {named}: no line of it is from a RocksDB LOG; name the LOG in a database's directory"
        )
    return LogDocument(
        files=tuple(str(file.path) for file in files),
        lines=reader.lines,
        openings=openings,
        notes=(*reader.notes, *_databases(openings)),
    )


def read_log_after(directory: Path, mark: DumpMark) -> LogDocument:
    """Reads a database's LOG from a dump of statistics on, or all of it if the dump is not there any more.

    The first opening has no options and no beginning then, and the dump is its first one.

    Args:
        directory: the database's directory.
        mark: the dump.

    Raises:
        LogFileError: as `read_log`.
    """
    tail = tail_of(directory, mark)
    if tail is None:
        return read_log([directory])
    reader = _Reader(mark.session)
    files = ordered_files(tail.paths)
    reader.read_all(files, tail.start)
    return LogDocument(
        files=tuple(str(file.path) for file in files),
        lines=reader.lines,
        openings=reader.finished(),
        notes=tuple(reader.notes),
    )


def read_last_dumps(path: Path) -> LogDocument:
    """Reads the last two dumps of statistics of a LOG file, or all of a file that has fewer.

    Two, because RocksDB may be writing the last one.

    Args:
        path: the file.

    Raises:
        LogFileError: the file cannot be read.
    """
    reader = _Reader()
    reader.read(LogFile(path, None, False), follows=False, start=start_of_last_dumps(path, 2))
    return LogDocument((str(path),), reader.lines, reader.finished(), tuple(reader.notes))


def looks_like_log(path: Path) -> bool:
    """Returns whether the beginning of a file says anything as a LOG; True if it cannot be read at all.

    Args:
        path: a file.
    """
    reader = _Reader()
    try:
        reader.read(LogFile(path, None, False), follows=False, max_bytes=_LOOK_BYTES)
    except (LogFileError, OSError):
        return True
    return bool(reader.finished())


def _databases(openings: Sequence[Opening]) -> list[str]:
    """Returns a sentence on which opening is of which database; none for one database."""
    numbers: dict[str, list[str]] = {}
    for number, opening in enumerate(openings, 1):
        if opening.directory:
            numbers.setdefault(opening.directory, []).append(str(number))
    if len(numbers) < 2:
        return []
    listed = "; ".join(
        f"{directory}: {', '.join(found[:20])}{', ...' if len(found) > 20 else ''}"
        for directory, found in list(numbers.items())[:20]
    )
    return [f"The files name {len(numbers)} directories of databases, with these openings: {listed}."]


class _Reader:
    """Distributes lines among openings.

    Attributes:
        lines: lines read.
        notes: sentences on how files were read.
    """

    def __init__(self, session: str = "", progress: Progress = _no_progress) -> None:
        """Creates a reader.

        Args:
            session: the session of the first lines, if they do not name it.
            progress: receives the progress of `read_all`.
        """
        self._progress = progress
        self._done_bytes, self._reported_bytes, self._total_bytes = 0, 0, 0
        self.lines = 0
        self.notes: list[str] = []
        self._openings: list[Opening] = []
        self._dropped = 0
        self._current = OpeningBuilder()
        self._current.session = session
        # The opening before, until it is known that the current one is not its continuation.
        self._before: OpeningBuilder | None = None
        self._messages = 0
        self._rolled = False

    def read_all(self, files: Sequence[LogFile], start: int = 0) -> None:
        """Reads files in their order, the first one from an offset on."""
        before = ""
        self._total_bytes = sum(map(_size_bytes, files))
        for file in files:
            self.read(file, follows=file.directory == before, start=start)
            before, start = file.directory, 0

    def read(self, file: LogFile, follows: bool, max_bytes: float = math.inf, start: int = 0) -> None:
        """Reads a file.

        Args:
            file: the file.
            follows: whether it is of the same database as the file before.
            max_bytes: where reading stops, after the line that is then read.
            start: offset of the first line.
        """
        read_bytes = 0
        counts = LineCounts()
        self._rolled = follows and not file.opens
        for line in log_lines(file.path, counts, start):
            read_bytes += len(line.text)
            if read_bytes > max_bytes:
                break
            self._report(counts.read_bytes)
            if line.starts and self._is_header(line):
                continue
            self._current.add(line)
        self._done_bytes += counts.read_bytes
        self.lines += counts.lines
        self._add_notes(file.path, counts)

    def _report(self, read_bytes: int) -> None:
        """Reports progress once a MiB, with so many bytes of the present file read."""
        done = self._done_bytes + read_bytes
        if self._total_bytes and done >= self._reported_bytes + _PROGRESS_BYTES:
            self._reported_bytes = done
            # Holes are not counted, and the file may grow meanwhile.
            self._progress(min(done, self._total_bytes), self._total_bytes)

    def finished(self) -> tuple[Opening, ...]:
        """Returns the openings that say anything."""
        self._settle()
        self._keep(self._current)
        if self._dropped:
            self.notes.append(
                f"The LOG has more than {_MAX_OPENINGS} openings; the first {self._dropped} are left out."
            )
        return tuple(self._openings)

    def _is_header(self, line: Line) -> bool:
        """Takes a line that begins or identifies an opening, and returns whether it was one."""
        self._messages += 1
        if self._messages == _HEADER_MESSAGES:
            self._settle()
        if " version: " in line.text and (match := VERSION.match(line.text[:_MAX_VERSION_LINE])):
            self._begin(match[1], match[2], match[3])
        elif line.text.startswith("DB Session ID:") and (match := SESSION.match(line.text)):
            self._identify(match[1])
        else:
            return False
        return True

    def _begin(self, product: str, version: str, base: str | None) -> None:
        self._settle()
        # Before sessions had names, only the missing recovery tells that a file continues the one before.
        if self._rolled and self._current.version == version and not self._current.session:
            self._current.continues()
        else:
            self._before, self._current = self._current, OpeningBuilder()
            self._current.begin(product, version, base)
            self._messages = 0
        self._rolled = False

    def _identify(self, session: str) -> None:
        if self._before is not None and self._before.session == session:
            self._current, self._before = self._before, None
            self._current.continues()
        else:
            self._current.session = session
            self._settle()

    def _settle(self) -> None:
        """Keeps the opening before, which the current one does not continue."""
        if self._before is not None:
            self._keep(self._before)
            self._before = None

    def _keep(self, builder: OpeningBuilder) -> None:
        opening = builder.build()
        if not _says_something(opening):
            return
        self._openings.append(opening)
        if len(self._openings) > _MAX_OPENINGS:
            self._dropped += 1
            del self._openings[0]
        items = sum(map(_items, self._openings))
        for at, each in enumerate(self._openings[:-1]):
            if items <= _MAX_ITEMS:
                break
            self._openings[at] = _slimmed(each)
            items += _items(self._openings[at]) - _items(each)

    def _add_notes(self, path: Path, counts: LineCounts) -> None:
        if counts.cut_lines:
            self.notes.append(
                f"{path}: {counts.cut_lines} lines are longer than {MAX_LINE_BYTES >> 10} KiB; only their "
                "beginnings were read."
            )
        if counts.binary_lines:
            self.notes.append(f"{path}: {counts.binary_lines} lines hold NUL bytes, which were left out.")
        if counts.turns:
            self.notes.append(f"{path}: the time goes back {counts.turns} times; lengths may be too short.")


def _size_bytes(file: LogFile) -> int:
    try:
        return file.path.stat().st_size
    except OSError:  # reading it will say so
        return 0


def _says_something(opening: Opening) -> bool:
    """Returns whether any line of an opening was of a known kind."""
    return bool(
        opening.version
        or opening.options
        or opening.changes
        or opening.families
        or opening.dumps
        or opening.tickers
        or opening.histograms
        or opening.work
        or opening.levels
        or opening.messages
    )


def _items(opening: Opening) -> int:
    """Returns how much an opening keeps, in rows of tables."""
    return (
        sum(dump.rows + 1 for dump in opening.dumps)
        + len(opening.stall_periods)
        + len(opening.flushes)
        + len(opening.compactions)
        + len(opening.levels)
        + len(opening.options) // 4
    )


def _slimmed(opening: Opening) -> Opening:
    """Returns an opening with its sums, its options and its last dump of statistics alone."""
    dropped = {
        "dumps of statistics": (opening.dumps, min(1, len(opening.dumps))),
        "delays and stops": (opening.stall_periods, 0),
        "flushes": (opening.flushes, 0),
        "compactions": (opening.compactions, 0),
        "files by level": (opening.levels, 0),
    }
    left_out = {each.what: each for each in opening.left_out}
    for what, (items, kept) in dropped.items():
        total = left_out[what].total if what in left_out else len(items)
        if total > kept:
            left_out[what] = LeftOut(what, kept, total)
    return replace(
        opening,
        dumps=opening.dumps[-1:],
        stall_periods=(),
        flushes=(),
        compactions=(),
        levels=(),
        left_out=tuple(left_out.values()),
    )
