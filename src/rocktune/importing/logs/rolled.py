"""The LOG files of a database in the order of their times."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from rocktune.importing.logs.lines import LogFileError, parsed_line

_NAME = re.compile(r"(?:.*_)?LOG(?:\.old\.\d+)?")
_HEAD_BYTES = 1 << 20
DIRECTORY = re.compile(r"SST files in (.{1,1000}) dir, Total Num: ")
"""The line of a LOG's beginning that names the database's directory."""
# RocksDB writes these when it opens a database, but not when it rolls a LOG and repeats its first lines.
_OPENED = re.compile(rb"Recover(?:ed|ing) from manifest|Creat(?:ed|ing) manifest")


@dataclass(frozen=True)
class LogFile:
    """A file to be read.

    Attributes:
        path: the file.
        first: time of its first message; None if it has none.
        opens: whether it has the opening of a database, in contrast to a file that continues another one.
        directory: the database's directory as the file names it; "" if it names none.
    """

    path: Path
    first: datetime | None
    opens: bool
    directory: str = ""


def ordered_files(paths: Sequence[Path]) -> tuple[LogFile, ...]:
    """Returns LOG files in the order of their first messages; those without times come last.

    Files of several databases stay together by database.

    Args:
        paths: files, or directories of databases, whose LOG files are taken.

    Raises:
        LogFileError: a path does not exist, is no regular file, or is a directory without LOG files.
    """
    files: dict[Path, Path] = {}
    for path in paths:
        for each, real in _files_of(path):
            files.setdefault(real, each)
    found = [_examined(path) for path in files.values()]
    begins: dict[str, tuple[bool, datetime]] = {}
    for file in found:
        begins[file.directory] = min(_time(file), begins.get(file.directory, _time(file)))
    # The sort is stable, so that files without times stay in the user's order.
    return tuple(sorted(found, key=lambda file: (begins[file.directory], file.directory, _time(file))))


def _time(file: LogFile) -> tuple[bool, datetime]:
    """Returns what files of one database are sorted by."""
    return (file.first is None, file.first or datetime.min)


def _files_of(path: Path) -> list[tuple[Path, Path]]:
    """Returns the files that a path stands for, each with its real path."""
    try:
        files = [path]
        if path.is_dir():
            files = sorted(each for each in path.iterdir() if _NAME.fullmatch(each.name) and each.is_file())
            if not files:
                raise LogFileError(
                    f"directory {path}: it has no file LOG or LOG.old.*; name the LOG file itself"
                )
        elif path.exists() and not path.is_file():
            raise LogFileError(f"LOG file {path}: it is no regular file; copy its text into a file")
        return [(each, each.resolve()) for each in files]
    except OSError as failure:
        raise LogFileError(f"{path}: it cannot be read: {failure.strerror}") from None
    except ValueError as failure:  # a NUL in the path
        raise LogFileError(f"LOG file {path}: it cannot be opened: {failure}") from None


def _examined(path: Path) -> LogFile:
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
    except OSError as failure:
        raise LogFileError(f"LOG file {path}: it cannot be opened: {failure.strerror}") from None
    first = None
    for raw in head.split(b"\n"):
        line = parsed_line(raw[:200].decode("utf-8", "replace"))
        if line.starts:
            first = line.time
            break
    named = DIRECTORY.search(head.decode("utf-8", "replace"))
    return LogFile(path, first, _OPENED.search(head) is not None, named[1] if named else "")
