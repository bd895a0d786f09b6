"""Reads what the tables of a user's store say of themselves, without opening the store."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import TypeAdapter

from rocktune.engine.base import Progress, RunFailed
from rocktune.engine.blob_files import FamilyBlobs, read_blob_files
from rocktune.engine.worker import find_worker, start_worker
from rocktune.errors import UserError

_INTERNAL_KEY_BYTES = 8
"""Bytes that RocksDB adds to each key: sequence number and kind."""
# A table takes a millisecond; a hundred on a slow network disk take seconds. Progress restarts the time.
_TIMEOUT_S = 300.0


@dataclass(frozen=True)
class FamilyTables:
    """The tables of one column family, summed up.

    Attributes:
        name: name of the column family.
        tables: their number.
        file_bytes: their size.
        entries: entries, with deletions and merge operands, and with versions that a newer one hides.
        deletions: deletions among them, ranges included.
        merge_operands: merge operands among them.
        range_deletions: deletions of ranges.
        raw_key_bytes: bytes of the keys as RocksDB stores them, before compression.
        raw_value_bytes: bytes of the values before compression.
        data_bytes: bytes of data blocks, compressed.
        compressions: names of their compressions.
        comparators: names of their comparators.
        id: RocksDB's number of the family; None if unknown.
        blobs: its blob files; None without any.
    """

    name: str
    tables: int
    file_bytes: int
    entries: int
    deletions: int
    merge_operands: int
    range_deletions: int
    raw_key_bytes: int
    raw_value_bytes: int
    data_bytes: int
    compressions: tuple[str, ...]
    comparators: tuple[str, ...]
    id: int | None = None
    blobs: FamilyBlobs | None = None

    @property
    def valued(self) -> int:
        """Number of entries with a value: puts and merge operands."""
        return max(0, self.entries - self.deletions)

    @property
    def key_bytes(self) -> float | None:
        """Mean bytes of a user's key; None without entries."""
        return max(0.0, self.raw_key_bytes / self.entries - _INTERNAL_KEY_BYTES) if self.entries else None

    @property
    def value_bytes(self) -> float | None:
        """Mean bytes of a value; None if only deletions are left."""
        return self.raw_value_bytes / self.valued if self.valued else None

    @property
    def compressed_fraction(self) -> float | None:
        """Ratio of the data blocks' size to that of keys and values; None without any."""
        raw = self.raw_key_bytes + self.raw_value_bytes
        return self.data_bytes / raw if raw else None


_FAMILIES = TypeAdapter(tuple[FamilyTables, ...])


@dataclass(frozen=True)
class StoreTables:
    """The tables of a store.

    Attributes:
        families: by family, in the order of their names.
        unread_tables: tables that could not be read.
        unread_example: why the first of them could not be read.
    """

    families: tuple[FamilyTables, ...]
    unread_tables: int
    unread_example: str


def read_store_tables(
    directories: Sequence[Path], progress: Progress | None = None, command: Sequence[str] | None = None
) -> StoreTables:
    """Returns the sums of the properties of all tables and blob files in a store's directories.

    The store may be in use: it is not opened, and nothing is written. No key or value is read.

    Args:
        directories: the database's directory, and those of its `db_paths`.
        progress: is called with the phase "tables" and numbers of tables.
        command: program and arguments that start a worker; the result of `find_worker` by default.

    Raises:
        UserError: no worker is installed, or a directory cannot be listed.
    """
    worker = start_worker(tuple(command or find_worker()))
    fields = {"directories": [str(path) for path in directories]}
    try:
        reply = worker.request("read_tables", _TIMEOUT_S, fields, progress, renewed=True)
    except RunFailed as failure:
        raise UserError(f"{directories[0]}: its tables cannot be read: {failure.message}") from None
    finally:
        worker.kill()
    blobs = read_blob_files(directories)
    families = tuple(
        replace(each, blobs=None if each.id is None else blobs.get(each.id))
        for each in _FAMILIES.validate_python(reply["families"])
    )
    return StoreTables(families, reply["unread_tables"], reply["unread_example"])
