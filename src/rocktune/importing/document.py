"""The parts of an OPTIONS file as its text states them, before any RocksDB has read them."""

from dataclasses import dataclass

from rocktune.errors import UserError


class OptionsFileError(UserError):
    """Raised for an OPTIONS file that cannot be used; its message is one line that names the file."""


@dataclass(frozen=True)
class SubOption:
    """A setting inside another option's braces, or an element of a list.

    Attributes:
        name: as the file spells it; for an element of a list its position, `[0]` for the first.
        text: the value without its own braces' meaning.
        parts: its own settings; empty for a plain value.
    """

    name: str
    text: str
    parts: tuple["SubOption", ...] = ()


@dataclass(frozen=True)
class Option:
    """One line `name=value` of a section.

    Attributes:
        name: as the file spells it.
        text: the value without comment and without RocksDB's escapes.
        line: number of its line, from 1.
        parts: the settings inside its braces; empty for a plain value.
        spelling: how another system's file says it; empty in OPTIONS files.
    """

    name: str
    text: str
    line: int
    parts: tuple[SubOption, ...] = ()
    spelling: str = ""


@dataclass(frozen=True)
class LeftOut:
    """A setting of another system's file that is not used.

    Attributes:
        name: as the file spells it.
        text: its value.
        line: number of its line, from 1.
        why: the reason.
    """

    name: str
    text: str
    line: int
    why: str


@dataclass(frozen=True)
class Section:
    """A heading in square brackets and the options below it.

    Attributes:
        title: such as "DBOptions" or "TableOptions/BlockBasedTable".
        argument: the column family in quotes; None for a heading without one.
        line: number of the heading's line, from 1.
        options: in the file's order; a name may come twice.
    """

    title: str
    argument: str | None
    line: int
    options: tuple[Option, ...]


@dataclass(frozen=True)
class Family:
    """A column family of the file.

    Attributes:
        name: the column family's.
        line: number of its heading's line, from 1.
        options: of [CFOptions "name"].
        table_format: such as "BlockBasedTable"; None where the file has no table section for the family.
        table: the options of that section.
    """

    name: str
    line: int
    options: tuple[Option, ...]
    table_format: str | None = None
    table: tuple[Option, ...] = ()


@dataclass(frozen=True)
class OptionsDocument:
    """A whole OPTIONS file.

    Attributes:
        path: how messages name the file.
        rocksdb_version: of the RocksDB that wrote it, such as "8.8.1"; empty where the file does not say.
        by_rocksdb: whether RocksDB wrote it; a person did otherwise.
        version: the options of [Version].
        db: the options of [DBOptions].
        families: in the file's order.
        unknown_sections: those with a title that RocksDB does not have.
        left_out: settings of another system's file that are not used.
        notes: sentences about another system's file.
        shared_cache: True if the file's system gives all column families one block cache.
    """

    path: str
    rocksdb_version: str
    by_rocksdb: bool
    version: tuple[Option, ...]
    db: tuple[Option, ...]
    families: tuple[Family, ...]
    unknown_sections: tuple[Section, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    notes: tuple[str, ...] = ()
    shared_cache: bool = False
