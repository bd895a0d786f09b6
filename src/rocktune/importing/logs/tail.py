"""Reads the end of a database's LOG, from a dump of statistics on that was read before."""

import mmap
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from rocktune.importing.logs.building import SESSION
from rocktune.importing.logs.lines import LogFileError

_BLOCK = b"** DB Stats **"
_UPTIME = re.compile(rb"\s*Uptime\(secs\): (\d+\.?\d*) total")
_UPTIME_BYTES = 200
_SESSION = b"DB Session ID:"
_SESSION_BYTES = 200
_HEAD_BYTES = 1 << 20
"""Bytes within which a file names its session."""


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
        start = _searched(path, lambda data: _found(data, mark))
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

    def found(data: mmap.mmap) -> int:
        block = len(data)
        for _ in range(count):
            block = max(0, data.rfind(_BLOCK, 0, block))
        return _line_before(data, block)

    return _searched(path, found) or 0


def _searched(path: Path, search: Callable[[mmap.mmap], int | None]) -> int | None:
    """Returns what a search of a file's bytes finds; None for an empty or missing file."""
    try:
        with path.open("rb") as file:
            if not file.seek(0, 2):
                return None
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                return search(data)
    except FileNotFoundError:  # rolled meanwhile
        return None
    except OSError as failure:
        raise LogFileError(f"LOG file {path}: it cannot be read: {failure.strerror}") from None


def _line_before(data: mmap.mmap, block: int) -> int:
    """Returns the offset of the line before a dump's first one; it has the time of the dump."""
    return data.rfind(b"\n", 0, max(0, data.rfind(b"\n", 0, block))) + 1


def _found(data: mmap.mmap, mark: DumpMark) -> int | None:
    """Returns the offset of the line before the dump; None if the file does not have it."""
    # RocksDB begins a file at each opening, and repeats the first lines when it rolls one.
    head = data[:_HEAD_BYTES]
    named = {_session_at(head, each.start()) for each in re.finditer(_SESSION, head)}
    if named != {mark.session}:
        return None
    block = len(data)
    while (block := data.rfind(_BLOCK, 0, block)) >= 0:
        uptime = _UPTIME.match(data[block + len(_BLOCK) : block + len(_BLOCK) + _UPTIME_BYTES])
        if uptime is not None and float(uptime[1]) <= mark.uptime_s:
            return _line_before(data, block)
    return None


def _session_at(data: bytes, at: int) -> str:
    line = data[at : at + _SESSION_BYTES].partition(b"\n")[0].decode("utf-8", "replace")
    found = SESSION.match(line.rstrip())
    return found[1] if found else ""
