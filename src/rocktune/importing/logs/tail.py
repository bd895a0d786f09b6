"""Reads the end of a database's LOG, from a dump of statistics on that was read before."""

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from rocktune.importing.logs.building import SESSION
from rocktune.importing.logs.lines import LogFileError

_BLOCK = b"** DB Stats **"
_UPTIME = re.compile(rb"\s*Uptime\(secs\): (\d+\.?\d*) total")
_AROUND_BYTES = 1_000
"""Bytes before a dump's first line that have the line before it, and behind it that have its uptime."""
_SESSION = b"DB Session ID:"
_SESSION_BYTES = 200
_HEAD_BYTES = 1 << 20
"""Bytes within which a file names its session."""
_CHUNK_BYTES = 1 << 20


@dataclass(frozen=True)
class DumpMark:
    """A dump of statistics. Those of one session are ordered by `uptime_s`.

    Attributes:
        session: RocksDB's identifier of the opening.
        uptime_s: seconds since the opening.
    """

    session: str
    uptime_s: float


@dataclass(frozen=True)
class LogTail:
    """The files of a LOG that have what follows a dump.

    Attributes:
        paths: the files, the oldest one first. The first has the dump.
        start: offset in the first file of the line before the dump.
    """

    paths: tuple[Path, ...]
    start: int


def tail_of(directory: Path, mark: DumpMark) -> LogTail | None:
    """Returns where a database's LOG continues behind a dump.

    Files are searched from their ends, the newest one first, so that a LOG of years costs no more than one of
    a day.

    Args:
        directory: the database's directory.
        mark: the dump.

    Returns:
        None if the dump is not there any more, or the LOG does not name sessions.

    Raises:
        LogFileError: a file cannot be read.
    """
    newer: list[Path] = []
    for path in _newest_first(directory):
        newer.insert(0, path)
        start = _searched(path, lambda file: _found(file, mark))
        if start is not None:
            return LogTail(tuple(newer), start)
    return None


def _newest_first(directory: Path) -> Iterator[Path]:
    # RocksDB names an old file by the time in us at which it was replaced.
    old = [each for each in directory.glob("LOG.old.*") if each.suffix[1:].isdecimal() and each.is_file()]
    if (newest := directory / "LOG").is_file():
        yield newest
    yield from sorted(old, key=lambda each: int(each.suffix[1:]), reverse=True)


def start_of_last_dumps(path: Path, count: int) -> int:
    """Returns the offset of the line before the last dumps of a file; 0 if it has fewer.

    Args:
        path: the file.
        count: number of dumps, from 1.

    Raises:
        LogFileError: the file cannot be read.
    """

    def found(file: BinaryIO) -> int:
        last = list(islice(_blocks_backward(file), count))
        return _line_before(file, last[-1]) if len(last) == count else 0

    return _searched(path, found) or 0


def _searched(path: Path, search: Callable[[BinaryIO], int | None]) -> int | None:
    """Returns what a search of a file finds; None for a missing file."""
    try:
        with path.open("rb") as file:
            return search(file)
    except FileNotFoundError:  # rolled meanwhile
        return None
    except OSError as failure:
        raise LogFileError(f"LOG file {path}: it cannot be read: {failure.strerror}") from None


def _found(file: BinaryIO, mark: DumpMark) -> int | None:
    """Returns the offset of the line before the dump; None if the file does not have it."""
    # RocksDB begins a file at each opening, and repeats the first lines when it rolls one.
    head = file.read(_HEAD_BYTES)
    named = {_session_at(head, each.start()) for each in re.finditer(_SESSION, head)}
    if named != {mark.session}:
        return None
    for block in _blocks_backward(file):
        file.seek(block + len(_BLOCK))
        uptime = _UPTIME.match(file.read(_AROUND_BYTES))
        if uptime is not None and float(uptime[1]) <= mark.uptime_s:
            return _line_before(file, block)
    return None


def _blocks_backward(file: BinaryIO) -> Iterator[int]:
    """Yields the offsets of the dumps' first lines, the last one first.

    The file is read, not mapped, because a mapped file that somebody cuts off ends the process.
    """
    end = file.seek(0, os.SEEK_END)
    while end > 0:
        begin = max(0, end - _CHUNK_BYTES)
        file.seek(begin)
        # With the rest of a line that begins in this chunk.
        chunk = file.read(end - begin + len(_BLOCK) - 1)
        at = len(chunk)
        while (at := chunk.rfind(_BLOCK, 0, at)) >= 0:
            yield begin + at
        end = begin


def _line_before(file: BinaryIO, block: int) -> int:
    """Returns the offset of the line before a dump's first one; it has the time of the dump."""
    begin = max(0, block - _AROUND_BYTES)
    file.seek(begin)
    before = file.read(block - begin)
    return begin + before.rfind(b"\n", 0, max(0, before.rfind(b"\n"))) + 1


def _session_at(data: bytes, at: int) -> str:
    line = data[at : at + _SESSION_BYTES].partition(b"\n")[0].decode("utf-8", "replace")
    found = SESSION.match(line.rstrip())
    return found[1] if found else ""
