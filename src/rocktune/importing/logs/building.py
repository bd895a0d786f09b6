"""Builds one opening of a database from lines."""

import re
from datetime import datetime

from rocktune.importing.logs.bounded import Bounded, FirstAndLast
from rocktune.importing.logs.document import LeftOut, Message, Opening
from rocktune.importing.logs.dumps import DumpCollector
from rocktune.importing.logs.events import EventCollector
from rocktune.importing.logs.lines import Line
from rocktune.importing.logs.options import OptionCollector
from rocktune.importing.logs.rolled import DIRECTORY
from rocktune.importing.logs.stalls import StallCollector

VERSION = re.compile(
    r"(RocksDB|SpeeDB|Speedb) version: (\d+\.\d+(?:\.\d+)?|\S{1,60}).*?(?:\((\d+\.\d+\.\d+)\))?\s*$"
)
SESSION = re.compile(r"DB Session ID: +(\S{1,60})")
_FAMILY = re.compile(r"(?:C|Created c)olumn family \[(.{0,1000})\] \(ID \d+\)")
_STATISTICS = re.compile(r"(?:-+ DUMPING STATS -+|STATISTICS:)?\s*$")
_MAX_MESSAGES = 400
_MAX_TEXT = 500
_MAX_FAMILIES = 2_000


class OpeningBuilder:
    """Collects the lines of one opening.

    Attributes:
        product: "RocksDB" or "Speedb".
        version: of the RocksDB that opened the database; "" if the LOG begins later.
        session: identifier of the opening; "" if unknown.
    """

    def __init__(self) -> None:
        self.product = "RocksDB"
        self.version = ""
        self._rocksdb_version = ""
        self.session = ""
        self._directory = ""
        self._begins = False
        self._first: datetime | None = None
        self._last: datetime | None = None
        self._families: dict[str, None] = {}
        self._messages: FirstAndLast[Message] = FirstAndLast(_MAX_MESSAGES)
        self._levels = {"WARN": 0, "ERROR": 0, "FATAL": 0}
        self._options = OptionCollector()
        self._dumps = DumpCollector()
        self._stalls = StallCollector()
        self._events = EventCollector(self._stalls)

    def begin(self, product: str, version: str, base: str | None) -> None:
        """Takes the first line of an opening.

        Args:
            product: as the LOG spells it; old versions of Speedb wrote SpeeDB.
            version: its version.
            base: version of the RocksDB that Speedb is made from; None if not stated.
        """
        self.product = "Speedb" if product.lower() == "speedb" else "RocksDB"
        self.version, self._begins = version, True
        self._rocksdb_version = (base or "") if self.product == "Speedb" else version
        self._options.opened()

    def continues(self) -> None:
        """Says that a rolled file repeats the opening's first lines."""
        self._options.opened()

    def add(self, line: Line) -> None:
        """Takes a line that belongs to the opening."""
        if line.time is not None:
            self._first = line.time if self._first is None else min(self._first, line.time)
            self._last = line.time if self._last is None else max(self._last, line.time)
        if line.starts:
            self._dumps.end_block()
            self._add_message(line)
        elif not self._options.add(line):
            self._dumps.add(line)

    def _add_message(self, line: Line) -> None:
        if self._options.add(line) or self._stalls.add(line) or self._events.add(line):
            return
        # RocksDB 5 dumps statistics at the level of warnings.
        if line.level in self._levels and not _STATISTICS.match(line.text):
            self._levels[line.level] += 1
            self._messages.add(Message(line.time, line.level, line.text[:_MAX_TEXT]))
        elif not self._directory and (named := DIRECTORY.match(line.text)):
            self._directory = named[1]
        elif "olumn family [" in line.text and (match := _FAMILY.match(line.text)):
            self._add_family(match[1])
        else:
            self._dumps.add(line)

    def _add_family(self, name: str) -> None:
        if len(self._families) < _MAX_FAMILIES:
            self._families[name] = None

    def build(self) -> Opening:
        """Returns the opening."""
        self._dumps.close()
        self._options.close()
        self._stalls.close(self._last)
        options, dumps, stalls, events = self._options, self._dumps, self._stalls, self._events
        return Opening(
            product=self.product,
            version=self.version,
            rocksdb_version=self._rocksdb_version,
            session=self.session,
            begins=self._begins,
            first=self._first,
            last=self._last,
            options=options.options(),
            changes=tuple(options.changes),
            failed_changes=options.failed_changes,
            families=self._all_families(),
            dumps=tuple(dumps.dumps),
            tickers=tuple(dumps.tickers.items()),
            histograms=tuple(dumps.histograms.values()),
            stalls=stalls.summaries(),
            stall_periods=tuple(stalls.periods),
            work=events.work(),
            flushes=tuple(events.flushes),
            compactions=tuple(events.compactions),
            levels=tuple(events.points),
            messages=tuple(self._messages),
            warnings=self._levels["WARN"],
            errors=self._levels["ERROR"] + self._levels["FATAL"],
            left_out=self._left_out(),
            unread=self._unread(),
            directory=self._directory,
        )

    def _all_families(self) -> tuple[str, ...]:
        """Returns the families that any part of the LOG names."""
        names = dict(self._families)
        names |= dict.fromkeys(self._options.families())
        for dump in self._dumps.dumps:
            names |= dict.fromkeys(family.family for family in dump.families)
        names |= dict.fromkeys(summary.family for summary in self._stalls.summaries())
        names |= dict.fromkeys(work.family for work in self._events.work() if work.family is not None)
        return tuple(names)[:_MAX_FAMILIES]

    def _left_out(self) -> tuple[LeftOut, ...]:
        """Returns what was not kept."""
        options, stalls, events = self._options, self._stalls, self._events
        collections: dict[str, Bounded] = {
            "warnings and errors": self._messages,
            "changes of options": options.changes,
            "dumps of statistics": self._dumps.dumps,
            "delays and stops": stalls.periods,
            "flushes": events.flushes,
            "compactions": events.compactions,
            "files by level": events.points,
        }
        found = [LeftOut(what, len(kept), kept.total) for what, kept in collections.items()]
        if options.left_out:
            there = len(options.options())
            found.append(LeftOut("options", there, there + options.left_out))
        if stalls.left_out_messages:
            found.append(LeftOut("messages about stalls in the sums", 0, stalls.left_out_messages))
        return tuple(each for each in found if each.total > each.kept)

    def _unread(self) -> tuple[str, ...]:
        """Returns sentences on lines that look known and could not be read."""
        found = []
        if self._dumps.unread_rows:
            found.append(
                f"{self._dumps.unread_rows} rows of compaction tables do not match their headings and are "
                f"left out; the first is {self._dumps.unread_example!r}."
            )
        if self._events.unread_events:
            found.append(f"{self._events.unread_events} events are cut short or damaged and are left out.")
        return tuple(found)
