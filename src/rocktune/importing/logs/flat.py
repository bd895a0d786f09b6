"""A LOG's contents as flat rows, for CSV files and plots."""

import csv
import io
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from rocktune.errors import unknown_name
from rocktune.importing.logs.document import LogDocument, Opening
from rocktune.importing.logs.stats import DbStats, Dump, FamilyStats
from rocktune.importing.logs.tables import LevelRow

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class SeriesPoint:
    """A column family at the time of one dump of statistics. A figure is None if the dump does not state it.

    Attributes:
        time: when; None in text without times.
        uptime_s: seconds since the database, or else the family, was opened.
        family: the column family.
        level0_files: tables in level 0.
        size_bytes: size of all levels.
        pending_bytes: estimated bytes that compactions still have to rewrite.
        write_amplification: of the family since its opening.
        interval_write_amplification: of the family since the dump before.
        interval_write_mb_s: MiB/s written by flushes and compactions since the dump before.
        interval_read_mb_s: MiB/s read by compactions since the dump before.
        ingest_mb_s: MiB/s of user writes to the database since the dump before.
        stall_percent: time in which writes to the database were delayed or stopped, since the dump before.
    """

    time: datetime | None
    uptime_s: float | None
    family: str
    level0_files: int | None
    size_bytes: float | None
    pending_bytes: int | None
    write_amplification: float | None
    interval_write_amplification: float | None
    interval_write_mb_s: float | None
    interval_read_mb_s: float | None
    ingest_mb_s: float | None
    stall_percent: float | None


def series(opening: Opening) -> Iterator[SeriesPoint]:
    """Yields a point for each dump and family, in the order of the LOG."""
    for dump in opening.dumps:
        for family in dump.families:
            yield _point(dump, family)


def _point(dump: Dump, family: FamilyStats) -> SeriesPoint:
    database = dump.db or DbStats()
    level0 = next((row for row in family.levels if row.level == "L0"), LevelRow("L0", files=0))
    total, since = family.total, family.since_dump
    return SeriesPoint(
        time=dump.time,
        uptime_s=family.uptime_s if database.uptime_s is None else database.uptime_s,
        family=family.family,
        level0_files=level0.files,
        size_bytes=family.size_bytes,
        pending_bytes=family.pending_bytes,
        write_amplification=total.write_amplification if total else None,
        interval_write_amplification=since.write_amplification if since else None,
        interval_write_mb_s=family.interval_compaction_write_mb_s,
        interval_read_mb_s=family.interval_compaction_read_mb_s,
        ingest_mb_s=database.interval.ingest_mb_s,
        stall_percent=database.interval.stall_percent,
    )


def _level_rows(opening: Opening) -> Iterator[Row]:
    for dump in opening.dumps:
        for family in dump.families:
            ends = [row for row in (family.total, family.since_dump) if row is not None]
            for row in (*family.levels, *ends, *family.priorities):
                yield {"time": dump.time, "family": family.family} | _row(row)


def _stall_rows(opening: Opening) -> Iterator[Row]:
    for period in opening.stall_periods:
        yield _row(period) | {"min_s": period.min_s, "max_s": period.max_s}


_KINDS: Mapping[str, Callable[[Opening], Iterator[Row]]] = {
    "series": lambda opening: map(_row, series(opening)),
    "levels": _level_rows,
    "stalls": _stall_rows,
    "flushes": lambda opening: map(_row, opening.flushes),
    "compactions": lambda opening: map(_row, opening.compactions),
    "options": lambda opening: map(_row, opening.options),
}
CSV_KINDS = tuple(_KINDS)
"""What `csv_text` can write."""


def csv_text(document: LogDocument, kind: str) -> str:
    """Returns one kind of rows as CSV with a line of heads; "" if the LOG has none.

    The column `opening` is the number of the database's opening in the LOG, from 1.

    Args:
        document: the LOG.
        kind: one of `CSV_KINDS`.

    Raises:
        UserError: `kind` is another word.
    """
    if kind not in _KINDS:
        raise unknown_name("kind of CSV", kind, CSV_KINDS)
    text = io.StringIO()
    writer: csv.DictWriter[str] | None = None
    for number, opening in enumerate(document.openings, 1):
        for row in _KINDS[kind](opening):
            if writer is None:
                writer = csv.DictWriter(text, ["opening", *row], lineterminator="\n")
                writer.writeheader()
            writer.writerow({"opening": number} | {name: _cell(value) for name, value in row.items()})
    return text.getvalue()


def _row(item: Any) -> Row:
    """Returns the fields of a dataclass."""
    return {field.name: getattr(item, field.name) for field in fields(item)}


def _cell(value: Any) -> Any:
    """Returns a value as CSV holds it: empty for None, ISO 8601 for times, words for tuples."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, tuple):
        return " ".join("=".join(map(str, each)) if isinstance(each, tuple) else str(each) for each in value)
    return value
