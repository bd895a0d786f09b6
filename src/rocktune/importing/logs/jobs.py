"""Flushes, compactions and levels over time, as a LOG gives them."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Flush:
    """A flush.

    Attributes:
        began: time of its first event; None if the LOG begins later.
        ended: time of its last event.
        family: column family; None if no line names it.
        job: RocksDB's number of the job.
        reason: such as "Write Buffer Full"; "" if unknown.
        entries: entries of the memtables; None if unknown.
        memory_bytes: size of the memtables; None if unknown.
        output_bytes: size of the tables and blob files written; None if unknown.
    """

    began: datetime | None
    ended: datetime | None
    family: str | None
    job: int
    reason: str
    entries: int | None
    memory_bytes: int | None
    output_bytes: int | None


@dataclass(frozen=True, slots=True)
class Compaction:
    """A compaction.

    Attributes:
        began: time of its first event; None if the LOG begins later.
        ended: time of its last event.
        family: column family; None if no line names it.
        job: RocksDB's number of the job.
        reason: such as "LevelL0FilesNum"; "" if unknown.
        input_levels: levels that its tables came from; empty if the LOG begins later.
        output_level: level that it wrote to; None if unknown.
        input_bytes: size of its tables; None if unknown.
        output_bytes: size of the tables written; None if unknown.
        input_records: entries read; None if unknown.
        output_records: entries written; None if unknown.
        seconds: time that it took; None if unknown.
    """

    began: datetime | None
    ended: datetime | None
    family: str | None
    job: int
    reason: str
    input_levels: tuple[int, ...]
    output_level: int | None
    input_bytes: int | None
    output_bytes: int | None
    input_records: int | None
    output_records: int | None
    seconds: float | None


@dataclass(frozen=True, slots=True)
class FlushedTables:
    """Sums of the properties of tables that flushes wrote.

    Attributes:
        entries: entries with deletions, without those that a later one of the same memtable replaced.
        deletions: deletions among them.
        raw_key_bytes: bytes of the keys as RocksDB stores them, before compression.
        raw_value_bytes: bytes of the values before compression.
        data_bytes: bytes of data blocks, compressed.
        blobs: values that went into blob files.
        blob_bytes: bytes of these with their keys and 32 bytes each, perhaps compressed.
    """

    entries: int = 0
    deletions: int = 0
    raw_key_bytes: int = 0
    raw_value_bytes: int = 0
    data_bytes: int = 0
    blobs: int = 0
    blob_bytes: int = 0


@dataclass(frozen=True, slots=True)
class FamilyWork:
    """Sums of a family's flushes and compactions that ended in the LOG.

    Attributes:
        family: column family; None for jobs that no line names a family for.
        flushes: their number.
        flushed_bytes: bytes written by flushes.
        compactions: their number.
        compaction_read_bytes: bytes of compactions' inputs.
        compaction_written_bytes: bytes written by compactions.
        compaction_s: seconds that compactions took, those at the same time counted twice.
        trivial_moves: tables moved a level down without being rewritten.
        reasons: reason of flushes and compactions, and how many had it.
        flushed_entries: entries of the flushed memtables.
        flushed_deletions: deletions among them.
        tables: the tables that flushes wrote; all 0 before RocksDB 4.4.
    """

    family: str | None
    flushes: int
    flushed_bytes: int
    compactions: int
    compaction_read_bytes: int
    compaction_written_bytes: int
    compaction_s: float
    trivial_moves: int
    reasons: tuple[tuple[str, int], ...]
    flushed_entries: int = 0
    flushed_deletions: int = 0
    tables: FlushedTables = FlushedTables()


@dataclass(frozen=True, slots=True)
class LevelsPoint:
    """Files by level at a time, after a flush or compaction.

    Attributes:
        time: when; None in text without times.
        family: column family; None if no line names it.
        files: tables of each level, from level 0.
        pending_bytes: bytes that compactions still have to rewrite; None before RocksDB 9.
    """

    time: datetime | None
    family: str | None
    files: tuple[int, ...]
    pending_bytes: int | None
