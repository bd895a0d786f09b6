"""What options do by default, and what their values mean, in each RocksDB release."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from typing import Any

from rocktune.importing.history.data import toml_data
from rocktune.rocksdb_version import RocksDbVersion


@dataclass(frozen=True)
class DefaultChange:
    """A default that a release line changed.

    Attributes:
        section: "db", "cf" or "table"; "read" for ReadOptions, which no OPTIONS file holds.
        name: name of the option; for a setting inside braces, its name follows after a dot.
        since: first release line with the new default, such as "8.4", or the first patch of a line.
        before: earlier default, as in the OPTIONS file of an open store that sets no option.
        after: new default, in the same form.
        note: what the change does, or what the value depends on; may be empty.
        source: where RocksDB says so.
    """

    section: str
    name: str
    since: str
    before: str
    after: str
    note: str
    source: str

    @property
    def path(self) -> str:
        """Section and name, such as "cf.compression"."""
        return f"{self.section}.{self.name}"


@dataclass(frozen=True)
class MeaningChange:
    """A release line from which an option's value, or its absence, means something else.

    Attributes:
        section: "db", "cf" or "table".
        name: name of the option; for a setting inside braces, its name follows after a dot.
        since: first release line with the new meaning, such as "8.5".
        note: the new meaning.
        source: where RocksDB says so.
        absent: True if it is the absence of the option that means something else.
    """

    section: str
    name: str
    since: str
    note: str
    source: str
    absent: bool = False

    @property
    def path(self) -> str:
        """Section and name, such as "cf.compression"."""
        return f"{self.section}.{self.name}"


@dataclass(frozen=True)
class DefaultDifference:
    """An option whose default differs between two releases.

    Attributes:
        section: as `DefaultChange.section`.
        name: as `DefaultChange.name`.
        first: default in the first release.
        second: default in the second release.
    """

    section: str
    name: str
    first: str
    second: str


@cache
def default_changes() -> tuple[DefaultChange, ...]:
    """Returns the defaults that changed from RocksDB 4.3 to 11.8, by option and from old to new."""
    return tuple(DefaultChange(**fields) for fields in _fields("defaults.toml"))


@cache
def meaning_changes() -> tuple[MeaningChange, ...]:
    """Returns the changes of what options mean from RocksDB 4.3 to 11.8, by option and from old to new."""
    return tuple(MeaningChange(**fields) for fields in _fields("meanings.toml"))


def default_differences(first: RocksDbVersion, second: RocksDbVersion) -> tuple[DefaultDifference, ...]:
    """Returns the options whose defaults differ between two releases, by option.

    A release older than 4.3 has the defaults of 4.3, one newer than 11.8 those of 11.8.
    """
    low, high = min(first, second), max(first, second)
    found = []
    for (section, name), changes in groupby(default_changes(), lambda each: (each.section, each.name)):
        between = [each for each in changes if low < RocksDbVersion.of(each.since) <= high]
        if between and between[0].before != between[-1].after:
            ends = (between[0].before, between[-1].after)
            found.append(DefaultDifference(section, name, *(ends if first == low else reversed(ends))))
    return tuple(found)


def _fields(file: str) -> Iterator[dict[str, Any]]:
    for path, table in toml_data(file).items():
        section, _, name = path.partition(".")
        for change in table["changes"]:
            yield {"section": section, "name": name, **change}
