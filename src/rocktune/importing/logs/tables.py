"""Compaction tables of column families, read by the headings of their columns."""

from dataclasses import dataclass, field

from rocktune.importing.logs.printed import count, number, size_bytes

_NUMBERS = {
    "Score": "score",
    "Read(GB)": "read_gb",
    "Rn(GB)": "rn_gb",
    "Rnp1(GB)": "rnp1_gb",
    "Write(GB)": "write_gb",
    "WPreComp(GB)": "uncompressed_gb",
    "Wnew(GB)": "wnew_gb",
    "Moved(GB)": "moved_gb",
    "W-Amp": "write_amplification",
    "Rd(MB/s)": "read_mb_s",
    "Wr(MB/s)": "write_mb_s",
    "Comp(sec)": "compaction_s",
    "CompMergeCPU(sec)": "compaction_cpu_s",
    "Comp(cnt)": "compactions",
    "Avg(sec)": "mean_s",
    "Rblob(GB)": "blob_read_gb",
    "Wblob(GB)": "blob_write_gb",
}
_COUNTS = {"KeyIn": "keys_in", "KeyDrop": "keys_dropped"}
_MAX_COLUMNS = 60
_MAX_CELL = 40


@dataclass(frozen=True, slots=True)
class LevelRow:
    """A row of a compaction table. A figure is None if the table has no such column.

    Attributes:
        level: "L0" and so on; "Sum" for all levels, "Int" for all levels since the last dump; "Low", "High",
            "User" and "Bottom" for the priorities of threads.
        files: tables.
        compacting_files: those of them that a compaction reads.
        size_bytes: their size, as precise as printed.
        score: at least 1 if the level is due for compaction.
        read_gb: read by compactions, in GiB like all `_gb` fields.
        rn_gb: read from the level above.
        rnp1_gb: read from this level.
        write_gb: written by flushes and compactions.
        uncompressed_gb: the same before compression.
        wnew_gb: written less read from this level.
        moved_gb: moved here without being rewritten.
        write_amplification: of this level, or of the family in row "Sum".
        read_mb_s: MiB read for each second of compaction.
        write_mb_s: MiB written for each second of flush or compaction.
        compaction_s: seconds of flushes (L0) and compactions into this level.
        compaction_cpu_s: CPU time of these.
        compactions: their number.
        mean_s: mean seconds of one.
        keys_in: entries read.
        keys_dropped: entries dropped.
        blob_read_gb: read from blob files.
        blob_write_gb: written to blob files.
        other: columns that only this version has, as printed.
    """

    level: str
    files: int | None = None
    compacting_files: int | None = None
    size_bytes: float | None = None
    score: float | None = None
    read_gb: float | None = None
    rn_gb: float | None = None
    rnp1_gb: float | None = None
    write_gb: float | None = None
    uncompressed_gb: float | None = None
    wnew_gb: float | None = None
    moved_gb: float | None = None
    write_amplification: float | None = None
    read_mb_s: float | None = None
    write_mb_s: float | None = None
    compaction_s: float | None = None
    compaction_cpu_s: float | None = None
    compactions: float | None = None
    mean_s: float | None = None
    keys_in: int | None = None
    keys_dropped: int | None = None
    blob_read_gb: float | None = None
    blob_write_gb: float | None = None
    other: tuple[tuple[str, str], ...] = field(default=())


def headings(line: str) -> tuple[str, ...] | None:
    """Returns the columns of a table's first line, without the rows' names; None for another line."""
    words = line.split()
    if len(words) < 3 or words[0] not in ("Level", "Priority") or words[1] != "Files":
        return None
    # RocksDB 5.0 prints some of the heads with a wrong bracket: `Size(MB}`.
    return tuple(word.replace("}", ")") for word in words[1:_MAX_COLUMNS])


def level_row(line: str, columns: tuple[str, ...]) -> LevelRow | None:
    """Returns a row of a table; None if the line does not have a value for each column.

    Args:
        line: the row as printed.
        columns: the table's columns as `headings` returns them.
    """
    words = line.split()[: 2 * _MAX_COLUMNS]
    if not words:
        return None
    level, values = words[0], words[1:]
    found: dict[str, float | int | None] = {}
    other: list[tuple[str, str]] = []
    at = 0
    for column in columns:
        if at >= len(values):
            return None
        text, at = values[at], at + 1
        if column == "Files":
            there, _, busy = text.partition("/")
            found["files"], found["compacting_files"] = count(there), count(busy)
        elif column == "Size(MB)":
            found["size_bytes"] = size_bytes(text, "MB")
        elif column == "Size":
            unit, at = (values[at], at + 1) if at < len(values) else ("", at)
            found["size_bytes"] = size_bytes(text, unit)
        elif column in _NUMBERS:
            found[_NUMBERS[column]] = number(text)
        elif column in _COUNTS:
            found[_COUNTS[column]] = count(text)
        else:
            other.append((column[:_MAX_CELL], text[:_MAX_CELL]))
    if at != len(values) or found.get("files") is None:
        return None
    return LevelRow(level, other=tuple(other), **found)  # type: ignore[arg-type]  # names are the fields'
