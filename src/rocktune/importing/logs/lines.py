"""Lines of LOG files: bounded reading, and the time, thread and level that begin a message."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import BinaryIO

from rocktune.errors import UserError

MAX_LINE_BYTES = 256 << 10
"""Bytes of a line that are read. RocksDB's longest lines list the input files of a compaction."""
_BUFFER_BYTES = 1 << 20
# Threads that write at the same time are out of order by less.
_TURN = timedelta(seconds=1)
_TIME = r"(\d{4})/(\d\d)/(\d\d)-(\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?"
# Text that people pasted may be indented.
_START = re.compile(r"[ \t]{0,20}" + _TIME + r" ([0-9a-fA-F]+) ?")
_ORIGINAL = re.compile(r"\(Original Log Time " + _TIME + r"\) ?")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_LEVEL = re.compile(r"\[(DEBUG|INFO|WARN|ERROR|FATAL)\] ?")
_SOURCE = re.compile(r"\[[^\[\]]{1,300}\.(?:cc|h|cpp|hpp):\d+\] ?")
_PACKED = {
    b"\x1f\x8b": "gzip",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"BZh": "bzip2",
    b"\xfd7zXZ": "xz",
    b"PK\x03\x04": "zip",
}


class LogFileError(UserError):
    """Raised for a LOG file that cannot be read; its message is one line that names the file."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a LOG.

    Attributes:
        text: the line without time, thread, level, source and line end.
        time: local time of the machine at which the message arose; None if no line so far has one.
        written: the same at which it was written, which may be later.
        starts: True for the first line of a message; False for those that continue it, such as statistics.
        thread: RocksDB's number of the thread; "" if unknown.
        level: DEBUG, INFO, WARN, ERROR or FATAL.
    """

    text: str
    time: datetime | None
    written: datetime | None
    starts: bool
    thread: str = ""
    level: str = "INFO"


@dataclass
class LineCounts:
    """Counts of what was read from one file.

    Attributes:
        lines: lines with text.
        cut_lines: lines longer than `MAX_LINE_BYTES`, of which only the beginning was used.
        binary_lines: lines with NUL bytes.
        turns: times at which the clock went back by more than a second.
        read_bytes: bytes of the lines, without holes that were passed over.
    """

    lines: int = 0
    cut_lines: int = 0
    binary_lines: int = 0
    turns: int = 0
    read_bytes: int = 0


def log_lines(path: Path, counts: LineCounts, start: int = 0) -> Iterator[Line]:
    """Yields the lines of a LOG file without holding the file in memory.

    Args:
        path: the file.
        counts: increased while reading.
        start: offset of the first line.

    Raises:
        LogFileError: the file cannot be read, is compressed, or is UTF-16 text.
    """
    try:
        with path.open("rb", buffering=_BUFFER_BYTES) as file:
            _check_start(path, file)
            if start:
                file.seek(start)
            yield from _parsed(file, counts)
    except OSError as failure:
        raise LogFileError(f"LOG file {path}: it cannot be read: {failure.strerror}") from None
    except ValueError as failure:  # a NUL in the path
        raise LogFileError(f"LOG file {path}: it cannot be opened: {failure}") from None


def _check_start(path: Path, file: BinaryIO) -> None:
    start = file.read(8)
    file.seek(3 if start.startswith(b"\xef\xbb\xbf") else 0)
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise LogFileError(f"LOG file {path}: it is UTF-16 text; save it as UTF-8")
    for magic, packer in _PACKED.items():
        if start.startswith(magic):
            raise LogFileError(f"LOG file {path}: it is compressed ({packer}); unpack it first")


def _parsed(file: BinaryIO, counts: LineCounts) -> Iterator[Line]:
    before: Line | None = None
    for raw in _raw_lines(file, counts):
        text = raw.decode("utf-8", "replace")
        # Terminals would obey control characters.
        line = parsed_line(text if text.isprintable() else _CONTROL.sub("\ufffd", text), before)
        if before is not None and before.written is not None and line.written is not None:
            counts.turns += (before.written - line.written) > _TURN
        before = line
        yield line


def parsed_line(text: str, before: Line | None = None) -> Line:
    """Returns one line.

    Args:
        text: the line without its end.
        before: the line before, whose times a line without a time gets; None for the first line.
    """
    start = _START.match(text)
    time = _time(start) if start else None
    if start is None or time is None:
        return Line(text, *((before.time, before.written) if before else (None, None)), starts=False)
    written, rest, level = time, text[start.end() :], "INFO"
    # Messages that RocksDB wrote after it had released its mutex say when they arose.
    if original := _ORIGINAL.match(rest):
        rest = rest[original.end() :]
        time = _time(original) or time
    if named := _LEVEL.match(rest):
        rest, level = rest[named.end() :], named[1]
    if source := _SOURCE.match(rest):
        rest = rest[source.end() :]
    return Line(rest, time, written, starts=True, thread=start[8], level=level)


def _time(match: re.Match[str]) -> datetime | None:
    """Returns the time that the first seven groups state; None if there is no such time."""
    year, month, day, hour, minute, second = (int(match[group]) for group in range(1, 7))
    try:
        return datetime(year, month, day, hour, minute, second, int((match[7] or "0").ljust(6, "0")))
    except ValueError:
        return None


def _raw_lines(file: BinaryIO, counts: LineCounts) -> Iterator[bytes]:
    while raw := file.readline(MAX_LINE_BYTES):
        counts.read_bytes += len(raw)
        if not raw.endswith(b"\n") and len(raw) == MAX_LINE_BYTES:
            counts.cut_lines += 1
            _skip_rest(file, raw)
        text = raw.rstrip(b"\r\n")
        if b"\0" in text:
            counts.binary_lines += 1
            text = text.replace(b"\0", b"")
        if text:
            counts.lines += 1
        yield text


def _skip_rest(file: BinaryIO, piece: bytes) -> None:
    """Moves to the next line."""
    while piece and not piece.endswith(b"\n"):
        if not piece.strip(b"\0"):
            _skip_hole(file)
        piece = file.readline(MAX_LINE_BYTES)


def _skip_hole(file: BinaryIO) -> None:
    """Moves past a hole of a sparse file, which a crash may leave behind."""
    here, descriptor = file.tell(), file.fileno()
    # The buffer has read ahead to there. It does not see lseek, and would read a part again.
    ahead = os.lseek(descriptor, 0, os.SEEK_CUR)
    try:
        data = os.lseek(descriptor, here, os.SEEK_DATA)
    except OSError:  # no data follows, or the file system knows no holes
        data = here
    os.lseek(descriptor, ahead, os.SEEK_SET)
    file.seek(data)
