"""The contents of a LOG as sentences and tables of text, for terminals and pages."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from rocktune.importing.logs import FamilyStats, LogDocument, Opening, StallCause, StallSummary
from rocktune.units import format_bytes, format_seconds

_MAX_MESSAGES = 20
_MAX_FAMILIES = 20
"""Families whose levels are shown, those with the most data."""


@dataclass(frozen=True)
class TextTable:
    """A table of text.

    Attributes:
        title: its heading.
        heads: heads of its columns.
        numbers: the heads of columns with numbers.
        rows: cells in the order of the heads.
        note: a sentence below it; "" for none.
    """

    title: str
    heads: tuple[str, ...]
    numbers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


def opening_title(opening: Opening) -> str:
    """Returns product, version and time of an opening in a line."""
    version = f"{opening.product} {opening.version}" if opening.version else "RocksDB of unknown version"
    if opening.first is None or opening.last is None:
        return f"{version}, without times"
    length = format_seconds(opening.seconds or 0.0)
    return f"{version}, {_date(opening.first)} to {_date(opening.last)} ({length})"


def opening_sentences(opening: Opening) -> list[str]:
    """Returns sentences on families, traffic, messages, changes of options and what is missing."""
    count = len(opening.families)
    named = ", ".join(f"'{name}'" for name in opening.families[:20]) + (", ..." if count > 20 else "")
    found = [f"{count} column {'family' if count == 1 else 'families'}: {named}."] if count else []
    if not opening.begins:
        found.append("The LOG begins after the database was opened, so options and sums may be missing.")
    found += _traffic(opening)
    if opening.warnings or opening.errors:
        found.append(f"{opening.errors} errors and {opening.warnings} warnings besides delays and stops.")
    if opening.changes or opening.failed_changes:
        found.append(
            f"The program changed {len(opening.changes)} options while the database was open; "
            f"{opening.failed_changes} calls were refused."
        )
    return found


def reading_notes(document: LogDocument) -> list[str]:
    """Returns sentences on lines that were not read and items that were not kept."""
    found = list(document.notes)
    for opening in document.openings:
        found += opening.unread
        found += [
            f"Of {each.total} {each.what} {each.kept} are kept, to bound memory; sums count all of them."
            for each in opening.left_out
        ]
    return found


def opening_tables(opening: Opening) -> list[TextTable]:
    """Returns the tables of an opening that have rows."""
    tables = (
        _stall_table(opening.stalls),
        _family_table(opening),
        *_level_tables(opening),
        _change_table(opening),
        _message_table(opening),
    )
    return [table for table in tables if table.rows]


def _traffic(opening: Opening) -> list[str]:
    last = next((dump.db for dump in reversed(opening.dumps) if dump.db is not None), None)
    if last is None or last.uptime_s is None:
        return []
    total = last.cumulative
    parts = []
    if total.ingest_mb_s is not None:
        parts.append(f"{total.ingest_mb_s:.2f} MiB/s of user writes")
    if total.wal_mb_s is not None:
        parts.append(f"{total.wal_mb_s:.2f} MiB/s into the write-ahead log")
    if total.stall_percent is not None and total.stall_s is not None:
        parts.append(f"writes delayed or stopped for {total.stall_percent:.1f}% of the time")
    joined = ", ".join(parts)
    return [f"In the {format_seconds(last.uptime_s)} since the opening: {joined}."] if parts else []


def _stall_table(stalls: Sequence[StallSummary]) -> TextTable:
    rows = [
        (
            stall.family,
            "stopped" if stall.stops else "delayed",
            f"{_amount(stall)} {stall.cause.value}",
            str(stall.periods),
            _time(stall.first),
            _time(stall.last),
            f"{format_seconds(stall.min_s)} to {format_seconds(stall.max_s)}",
            _rates(stall),
        )
        for stall in stalls
    ]
    return TextTable(
        "Delays and stops of writes",
        ("family", "writes", "because of up to", "periods", "first", "last", "in all", "rate of writes"),
        ("periods",),
        tuple(rows),
        "Each holds up the writes to all families. RocksDB does not log when a cause ends. The lower length "
        "is from first to last message; the upper one ends at the next line that shows another state.",
    )


def _amount(stall: StallSummary) -> str:
    pending = stall.cause is StallCause.PENDING
    return format_bytes(stall.max_amount) if pending else str(stall.max_amount)


def _rates(stall: StallSummary) -> str:
    highest, lowest = stall.max_rate_bytes_s, stall.min_rate_bytes_s
    if highest is None or lowest is None:
        return "–"
    if highest == lowest:
        return f"{format_bytes(highest)}/s"
    return f"{format_bytes(highest)}/s down to {format_bytes(lowest)}/s"


def _family_table(opening: Opening) -> TextTable:
    rows = [
        (
            "(unknown)" if work.family is None else work.family,
            str(work.flushes),
            format_bytes(work.flushed_bytes),
            str(work.compactions),
            format_bytes(work.compaction_read_bytes),
            format_bytes(work.compaction_written_bytes),
            format_seconds(work.compaction_s),
            str(work.trivial_moves),
            ", ".join(f"{reason} {times}" for reason, times in work.reasons),
        )
        for work in opening.work
    ]
    heads = (
        "family",
        "flushes",
        "flushed",
        "compactions",
        "read",
        "written",
        "took",
        "moved files",
        "reasons",
    )
    return TextTable("Flushes and compactions", heads, heads[1:-1], tuple(rows))


def _level_tables(opening: Opening) -> Iterable[TextTable]:
    """Yields the last compaction table of each family, or of the largest ones if there are many."""
    last: dict[str, tuple[datetime | None, FamilyStats]] = {}
    for dump in opening.dumps:
        for family in dump.families:
            last[family.family] = (dump.time, family)
    heads = (
        "level", "files", "size", "score", "read GiB", "written GiB", "W-amp", "read MiB/s", "write MiB/s",
        "took", "jobs", "keys in", "dropped",
    )  # fmt: skip
    largest = sorted(last, key=lambda name: -_size(last[name][1]))[:_MAX_FAMILIES]
    left_out = len(last) - len(largest)
    more = f" {left_out} smaller families are not shown; --csv levels has all." if left_out else ""
    shown = [name for name in last if name in largest]
    for name in shown:
        time, family = last[name]
        at = f", {_time(time)}" if time is not None else ""
        rows = [*family.levels, *([family.total] if family.total else [])]
        yield TextTable(
            f"Levels of '{name}'{at}",
            heads,
            heads[1:],
            tuple(
                (
                    row.level,
                    _number(row.files),
                    "–" if row.size_bytes is None else format_bytes(row.size_bytes),
                    _number(row.score),
                    _number(row.read_gb),
                    _number(row.write_gb),
                    _number(row.write_amplification),
                    _number(row.read_mb_s),
                    _number(row.write_mb_s),
                    "–" if row.compaction_s is None else format_seconds(row.compaction_s),
                    _number(row.compactions),
                    _count(row.keys_in),
                    _count(row.keys_dropped),
                )
                for row in rows
            ),
            (_debt(family.pending_bytes) + (more if name == shown[-1] else "")).strip(),
        )


def _size(family: FamilyStats) -> float:
    return family.size_bytes or 0.0


def _debt(pending: int | None) -> str:
    return "" if pending is None else f"Compactions still have to rewrite about {format_bytes(pending)}."


def _change_table(opening: Opening) -> TextTable:
    rows = tuple(
        (_time(each.time), each.family or "(database)", each.name, each.value) for each in opening.changes
    )
    return TextTable("Options changed by the program", ("time", "family", "option", "value"), (), rows)


def _message_table(opening: Opening) -> TextTable:
    errors = [each for each in opening.messages if each.level != "WARN"]
    shown = (errors or opening.messages)[-_MAX_MESSAGES:]
    rows = tuple((_time(each.time), each.level, each.text) for each in shown)
    title = "Last errors" if errors else "Last warnings"
    return TextTable(title, ("time", "level", "message"), (), rows)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:,.10g}"


def _count(value: int | None) -> str:
    """Returns a count in the form that RocksDB prints it, such as `290M`."""
    for factor, letter in ((1_000_000_000, "G"), (1_000_000, "M"), (1_000, "K")):
        if value is not None and abs(value) >= 10 * factor:
            return f"{value / factor:.4g}{letter}"
    return _number(value)


def _time(time: datetime | None) -> str:
    return "–" if time is None else f"{time:%m-%d %H:%M:%S}"


def _date(time: datetime) -> str:
    return f"{time:%Y-%m-%d %H:%M:%S}"
