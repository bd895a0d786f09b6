"""Reads the files that describe a database, without opening it."""

import re
from dataclasses import dataclass
from pathlib import Path

from rocktune.deploy.plan import LevelBytes
from rocktune.errors import UserError
from rocktune.importing import OptionsDocument, read_options_document
from rocktune.importing.logs import LogDocument, LogFileError, read_last_dumps

_OPTIONS = re.compile(r"OPTIONS-(\d+)")
_TABLE_SUFFIX = ".sst"


@dataclass(frozen=True)
class RunningStore:
    """A database as its files describe it. Another process may have it open.

    Attributes:
        directory: its directory.
        options: the newest OPTIONS file, which has the options in force.
        identity: the id in its file IDENTITY; empty if it is missing.
        table_bytes: size of its tables, those in other `db_paths` left out.
        levels: levels by column family, from the last dump in its LOG; a family without a dump is left out.
    """

    directory: Path
    options: OptionsDocument
    identity: str
    table_bytes: int
    levels: dict[str, tuple[LevelBytes, ...]]


def running_store(directory: Path) -> RunningStore:
    """Reads the files that describe a database. Opens no database and changes nothing.

    Raises:
        UserError: the directory holds no RocksDB database, or it or its OPTIONS file cannot be read.
    """
    try:
        return _read(directory)
    except OSError as failure:
        raise UserError(f"{directory}: cannot be read: {failure.strerror}") from None


def _read(directory: Path) -> RunningStore:
    """Reads the files that describe a database; see `running_store`. Raises OSError, too."""
    if not (directory / "CURRENT").is_file():
        raise UserError(f"{directory}: it holds no RocksDB database; name a directory with a file CURRENT")
    numbered = [
        (int(found[1]), path)
        for path in directory.iterdir()
        if (found := _OPTIONS.fullmatch(path.name)) is not None
    ]
    if not numbered:
        raise UserError(
            f"{directory}: the database has no OPTIONS file; open it once with RocksDB 4.3 or newer"
        )
    identity = directory / "IDENTITY"
    return RunningStore(
        directory=directory,
        options=read_options_document(max(numbered)[1]),
        identity=identity.read_text(errors="replace").strip() if identity.is_file() else "",
        table_bytes=_table_bytes(directory),
        levels=_levels(directory / "LOG"),
    )


def _table_bytes(directory: Path) -> int:
    """Returns the size of a directory's tables; those that go meanwhile count as empty."""
    total = 0
    for path in directory.glob(f"*{_TABLE_SUFFIX}"):
        try:
            total += path.stat().st_size
        except FileNotFoundError:
            continue
    return total


def _levels(log: Path) -> dict[str, tuple[LevelBytes, ...]]:
    """Returns the levels in the last dump of each column family; empty without a LOG or a dump."""
    try:
        return _last_levels(read_last_dumps(log))
    except LogFileError:
        return {}


def _last_levels(document: LogDocument) -> dict[str, tuple[LevelBytes, ...]]:
    found: dict[str, tuple[LevelBytes, ...]] = {}
    # A LOG holds one opening, the last; the dumps of earlier ones may be out of date.
    for dump in document.openings[-1].dumps if document.openings else ():
        for family in dump.families:
            found[family.family] = tuple(
                LevelBytes(
                    level=int(row.level[1:]), files=row.files or 0, size_bytes=int(row.size_bytes or 0)
                )
                for row in family.levels
                if row.files
            )
    return found
