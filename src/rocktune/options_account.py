"""The account of an OPTIONS file: the fate of each of its options."""

from collections import Counter
from enum import StrEnum
from typing import Any, ClassVar

from rocktune.spec_file import SparseSpec, Spec


class Fate(StrEnum):
    """The fate of an option. Each option, and each setting inside its braces, has exactly one."""

    USED = "used"
    ADJUSTED = "adjusted"
    """RocksDB runs with another value than the file's."""
    OVERRIDDEN = "overridden"
    """rocktune sets it itself."""
    TRANSLATED = "translated"
    """RocksDB uses it under another name or in another spelling."""
    WITHOUT_EFFECT = "without effect"
    """RocksDB no longer uses it."""
    FOREIGN = "foreign"
    """It names a class that only its own application has."""
    UNKNOWN = "unknown"
    """The linked RocksDB does not know the name or the value."""
    NOT_MEASURED = "not measured"
    """It belongs to a column family that is not measured."""


class AccountEntry(Spec):
    """The fate of one option of the file.

    Attributes:
        section: "db", "cf" or "table"; or the title of a section that RocksDB does not have.
        family: the column family; empty for section "db".
        name: name of the option; for a setting inside braces, its name follows after a dot.
        line: number of the line in the file, from 1.
        given: value in the file.
        fate: the fate.
        value: value that is used, or `name=value` if the name differs; empty if none is used.
        why: the reason; empty if the fate needs none.
    """

    section: str
    family: str = ""
    name: str
    line: int
    given: str
    fate: Fate
    value: str = ""
    why: str = ""


class ChangedDefault(Spec):
    """An option that the file leaves out and whose default differs between RocksDB releases.

    Attributes:
        section: "db", "cf" or "table".
        name: name of the option; for a setting inside braces, its name follows after a dot.
        used: default of the RocksDB that measures, with which the option is measured.
        other: default of `releases`.
        releases: the RocksDB that the file names, such as "6.29.5"; if it names none, "since 8.4" or
            "before 8.4".
    """

    section: str
    name: str
    used: str
    other: str
    releases: str


class OptionsAccount(SparseSpec):
    """The fate of every option of an OPTIONS file.

    Attributes:
        file_version: version of the RocksDB that wrote the file; empty if the file does not name it.
        rocksdb_version: version of the RocksDB that measures.
        family: name of the tuned column family; empty if all loaded ones are tuned together.
        loaded_families: names of the column families that the workload loads; empty for a workload on one.
        other_families: names of the column families that are not measured.
        notes: remarks about the file as a whole, one line each.
        changed_defaults: options that the file leaves out and whose default differs between its RocksDB and
            the one that measures; empty in older ledgers.
        entries: entries in the file's order, an option before the settings inside it.
    """

    sparse_fields: ClassVar[frozenset[str]] = frozenset({"loaded_families", "changed_defaults"})

    file_version: str
    rocksdb_version: str
    family: str
    loaded_families: tuple[str, ...] = ()
    other_families: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    changed_defaults: tuple[ChangedDefault, ...] = ()
    entries: tuple[AccountEntry, ...]

    def counts(self) -> dict[str, int]:
        """Returns the number of entries by fate, without zeros."""
        counted = Counter(entry.fate for entry in self.entries)
        return {str(fate): counted[fate] for fate in Fate if counted[fate]}

    def with_fate(self, *fates: Fate) -> tuple[AccountEntry, ...]:
        """Returns the entries that have one of the fates."""
        return tuple(entry for entry in self.entries if entry.fate in fates)

    @property
    def summary(self) -> str:
        """The account in one line: `OPTIONS: 143 used, 4 adjusted, 12 without effect`."""
        counted = ", ".join(f"{count} {fate}" for fate, count in self.counts().items())
        return f"OPTIONS: {counted or 'none'}"


def account_json(account: OptionsAccount | None) -> dict[str, Any] | None:
    """Returns an account as JSON data with its counts; None without an OPTIONS file."""
    if account is None:
        return None
    return {"counts": account.counts(), **account.model_dump(mode="json")}
