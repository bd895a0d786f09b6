"""Collects the dumps of statistics while a LOG is read line by line."""

import re
from dataclasses import replace
from datetime import datetime
from typing import Any

from rocktune.importing.logs.bounded import Thinned
from rocktune.importing.logs.lines import Line
from rocktune.importing.logs.stats import (
    COUNTED,
    TIMED,
    DbStats,
    Dump,
    FamilyStats,
    Histogram,
    family_figures,
    histogram,
    ticker,
    traffic_figures,
    uptime,
)
from rocktune.importing.logs.tables import LevelRow, headings, level_row

_TABLE = re.compile(r"\*\* Compaction Stats \[(.{0,1000})\] \*\*$")
_ROW = re.compile(r"(?:L\d{1,3}|Sum|Int|Low|High|User|Bottom)\s")
_BLOCK = re.compile(r"\*\* .{1,300} \*\*:?$")
_MAX_ROWS = 20_000
"""Rows of tables that are kept; about 15 MB."""
_MAX_TABLE_ROWS = 200
_MAX_FAMILIES = 2_000
_MAX_NAMED = 2_000


class _OpenFamily:
    """A family's block that is still being read."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.rows: list[LevelRow] = []
        self.priorities: list[LevelRow] = []
        self.figures: dict[str, Any] = {}

    def closed(self) -> FamilyStats:
        """Returns the block."""
        named = {row.level: row for row in self.rows}
        return FamilyStats(
            family=self.name,
            levels=tuple(row for row in self.rows if row.level not in ("Sum", "Int")),
            total=named.get("Sum"),
            since_dump=named.get("Int"),
            priorities=tuple(self.priorities),
            **self.figures,
        )


class DumpCollector:
    """Builds dumps from lines.

    Attributes:
        dumps: the dumps that are kept.
        tickers: name and last value of each ticker.
        histograms: the last of each name.
        unread_rows: rows of tables that do not match their headings.
        unread_example: the first of them.
    """

    def __init__(self) -> None:
        self.dumps: Thinned[Dump] = Thinned(_MAX_ROWS)
        self.tickers: dict[str, int] = {}
        self.histograms: dict[str, Histogram] = {}
        self.unread_rows = 0
        self.unread_example = ""
        self._last: Dump | None = None
        self._time: datetime | None = None
        self._db: DbStats | None = None
        self._families: dict[str, _OpenFamily] = {}
        self._in_db = False
        self._family: _OpenFamily | None = None
        self._columns: tuple[str, ...] = ()
        self._priorities = False
        self._counts: dict[str, int] = {}
        self._sums: dict[str, tuple[float, float]] = {}

    def add(self, line: Line) -> None:
        """Takes a line of the LOG."""
        text = line.text.strip()
        # An empty line ends a table, but text that people pasted may have lost it.
        if self._columns and not (text.startswith("---") or _ROW.match(text)):
            self._columns = ()
        if text.startswith("** ") and _BLOCK.match(text):
            self._begin_block(line, text)
        elif text.startswith("rocksdb."):
            self._add_statistic(text)
        elif self._columns:
            self._add_row(text)
        elif self._family is not None and (columns := headings(text)) is not None:
            self._begin_table(line, self._family.name, columns, text.startswith("Priority"))
        elif self._family is not None:
            self._family.figures |= family_figures(text)
        elif self._in_db and self._db is not None:
            self._db = _with_line(self._db, text)

    def end_block(self) -> None:
        """Ends the block that is being read, because another message begins."""
        self._in_db, self._family, self._columns = False, None, ()

    def close(self) -> None:
        """Ends the dump that is being read."""
        self.end_block()
        if self._db is not None or self._families:
            families = tuple(family.closed() for family in self._families.values())
            sums = tuple((name, *each) for name, each in self._sums.items())
            dump = Dump(self._time, self._db, families, tuple(self._counts.items()), sums)
            if not self._repeats(dump):
                self.dumps.add(dump, dump.rows + 1)
                self._last = dump
        self._db, self._families = None, {}
        self._counts, self._sums = {}, {}

    def _repeats(self, dump: Dump) -> bool:
        """Returns whether a dump is the second part of the last one.

        RocksDB 5.18 prints each family twice; the second time its interval is only just beginning.
        """
        same = self._last is not None and dump.time is not None and self._last.time == dump.time
        return same and dump.db is None and all(family.interval_s == 0 for family in dump.families)

    def _begin_block(self, line: Line, text: str) -> None:
        table = _TABLE.match(text)
        if text == "** DB Stats **":
            # The LOG has this block before the families', the property rocksdb.stats behind them.
            if self._db is not None or self._time != line.time:
                self.close()
            self.end_block()
            self._time, self._db, self._in_db = line.time, DbStats(), True
            return
        self.end_block()
        if table is None:
            return
        self._open_family(line, table[1])

    def _open_family(self, line: Line, name: str) -> None:
        if not self._families and self._db is None:
            self._time = line.time
        if len(self._families) < _MAX_FAMILIES:
            self._family = self._families.setdefault(name, _OpenFamily(name))

    def _begin_table(self, line: Line, family: str, columns: tuple[str, ...], priorities: bool) -> None:
        # A dump has two tables of a family: one by level and one by priority.
        if not priorities and self._families[family].rows:
            self.close()
            self._open_family(line, family)
        self._columns, self._priorities = columns, priorities

    def _add_row(self, text: str) -> None:
        assert self._family is not None
        if text.startswith("---"):
            return
        row = level_row(text, self._columns)
        rows = self._family.priorities if self._priorities else self._family.rows
        if row is None or len(rows) >= _MAX_TABLE_ROWS:
            self.unread_rows += 1
            self.unread_example = self.unread_example or text[:120]
        else:
            rows.append(row)

    def _add_statistic(self, text: str) -> None:
        if (counted := ticker(text)) is not None:
            if len(self.tickers) < _MAX_NAMED or counted[0] in self.tickers:
                self.tickers[counted[0]] = counted[1]
            if counted[0] in COUNTED:
                self._counts[counted[0]] = counted[1]
        elif (found := histogram(text)) is not None and (
            len(self.histograms) < _MAX_NAMED or found.name in self.histograms
        ):
            self.histograms[found.name] = found
            if found.name in TIMED and found.count is not None and found.total is not None:
                self._sums[found.name] = (found.count, found.total)


def _with_line(stats: DbStats, text: str) -> DbStats:
    """Returns the database's figures with those of a line."""
    if (seconds := uptime(text)) is not None:
        return replace(stats, uptime_s=seconds[0], interval_s=seconds[1])
    which, figures = traffic_figures(text)  # the names are those of Traffic's fields
    if not which:
        return stats
    if which == "cumulative":
        return replace(stats, cumulative=replace(stats.cumulative, **figures))  # type: ignore[arg-type]
    return replace(stats, interval=replace(stats.interval, **figures))  # type: ignore[arg-type]
