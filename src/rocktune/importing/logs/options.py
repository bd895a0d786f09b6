"""Options as a LOG states them: at the opening of a database, and when a program changes them."""

import re
from dataclasses import dataclass
from datetime import datetime

from rocktune.importing.logs.bounded import FirstAndLast
from rocktune.importing.logs.lines import Line

_OPTION = re.compile(r"\s*Options\.([A-Za-z][\w.\[\]-]{0,120}(?: stats level)?)\s*: ?(.*)$")
_FAMILY = re.compile(r"-{2,40} Options for column family \[(.{0,1000})\]:?\s*$")
_TABLE = re.compile(r"\s*table_factory options:\s*(\S.*)?$")
_TABLE_OPTION = re.compile(r"\s*([a-z][a-z0-9_]{0,80})\s*: ?(.*)$")
_CHANGES_OF_FAMILY = re.compile(
    r"Set(?:Options\(\)| options) on column family \[(.{0,1000})\]( \(\d+/\d+\))?, inputs:"
)
_CHANGES = re.compile(r"SetDBOptions\(\), inputs:|SetOptions\(\) on \[\d+\] column families, inputs:")
_CHANGE = re.compile(r"(?:\[(.{0,1000})\] )?([a-z][\w.]{0,120}): (.*)$")
_RESULT = re.compile(
    r"(?:\[.*\] )?Set(?:(?:DB)?Options(?:\(\))?| options on column family \[.*\] \(\d+/\d+\)) "
    r"(succeeded|failed)"
)
_MAX_OPTIONS = 60_000
_MAX_VALUE = 2_000
_MAX_CHARACTERS = 4_000_000
_MAX_CHANGES = 2_000


@dataclass(frozen=True, slots=True)
class LoggedOption:
    """An option that was in force at the opening.

    Attributes:
        name: RocksDB's name; options of the table format have the prefix "table.", and those of its block
            cache the prefix "table.block_cache_options.".
        value: as printed.
        family: the column family; None for the database, and in excerpts without the family's heading.
    """

    name: str
    value: str
    family: str | None


@dataclass(frozen=True, slots=True)
class OptionChange:
    """An option that a program set while the database was open.

    Attributes:
        time: when; None if unknown.
        family: the column family; None for the database.
        name: RocksDB's name.
        value: as given.
    """

    time: datetime | None
    family: str | None
    name: str
    value: str


class OptionCollector:
    """Builds the options from lines.

    Attributes:
        changes: options set later, without those of refused calls.
        failed_changes: calls that RocksDB refused.
        left_out: options beyond the bound.
    """

    def __init__(self) -> None:
        self.changes: FirstAndLast[OptionChange] = FirstAndLast(_MAX_CHANGES)
        self.failed_changes = 0
        self.left_out = 0
        self._options: dict[tuple[str | None, str], str] = {}
        self._characters = 0
        self._family: str | None = None
        self._in_table = False
        self._nested = ""
        self._changing: tuple[str, str | None] | None = None
        # Inputs come before the result, which says whether they are in force.
        self._inputs: list[OptionChange] = []

    def options(self) -> tuple[LoggedOption, ...]:
        """Returns the options in the order of the LOG."""
        return tuple(LoggedOption(name, value, family) for (family, name), value in self._options.items())

    def families(self) -> tuple[str, ...]:
        """Returns the families that have options."""
        return tuple(dict.fromkeys(family for family, _ in self._options if family is not None))

    def add(self, line: Line) -> bool:
        """Takes a line of the LOG, and returns whether it was about options."""
        if not line.starts:
            return self._in_table and self._add_table_option(line.text)
        self._in_table = False
        text = line.text
        if "ptions" not in text and self._changing is None:
            return False
        if match := _OPTION.match(text):
            self._keep(match[1], match[2])
        elif match := _TABLE.match(text):
            self._in_table, self._nested = True, ""
            self._add_table_option(match[1] or "")
        elif match := _FAMILY.match(text):
            self._family = match[1]
        else:
            return self._add_change(line)
        return True

    def opened(self) -> None:
        """Says that a database's own options follow."""
        self._family = None

    def close(self) -> None:
        """Keeps the inputs of a call whose result the LOG does not have."""
        for each in self._inputs:
            self.changes.add(each)
        self._inputs = []

    def _keep(self, name: str, value: str) -> None:
        key = (self._family, name)
        # A rolled file repeats the options; what a change prints is no longer the opening's.
        if key in self._options:
            return
        text = value.strip()[:_MAX_VALUE]
        self._characters += len(text)
        if len(self._options) >= _MAX_OPTIONS or self._characters > _MAX_CHARACTERS:
            self.left_out += 1
            return
        self._options[key] = text

    def _add_table_option(self, text: str) -> bool:
        match = _TABLE_OPTION.match(text)
        if match is None:
            return False
        name, value = match[1], match[2].strip()
        # Options of the block cache are printed deeper than the table's own.
        deeper = len(text) - len(text.lstrip()) >= 4
        if name.endswith("_options") and not value:
            self._nested = f"{name}."
            return True
        if not deeper:
            self._nested = ""
        self._keep(f"table.{self._nested}{name}", value)
        return True

    def _add_change(self, line: Line) -> bool:
        text = line.text
        if match := _CHANGES_OF_FAMILY.match(text):
            # A call for several families names them one after the other.
            if match[2] is None:
                self.close()
            self._changing = (line.thread, match[1])
        elif _CHANGES.match(text):
            self.close()
            self._changing = (line.thread, None)
        elif match := _RESULT.match(text):
            # RocksDB prints the options that are now in force, under no heading.
            self._changing = self._family = None
            self._end_call(failed=match[1] == "failed")
        elif self._changing is not None and self._changing[0] == line.thread:
            change = _CHANGE.match(text)
            if change is None:
                self._changing = None
                return False
            family = change[1] if change[1] is not None else self._changing[1]
            self._inputs.append(OptionChange(line.time, family, change[2], change[3].strip()[:_MAX_VALUE]))
            if len(self._inputs) > _MAX_CHANGES:
                self.close()
        else:
            return False
        return True

    def _end_call(self, *, failed: bool) -> None:
        if failed:
            self.failed_changes += 1
            self._inputs = []
        self.close()
