"""The tables that benchmarks keep: CSV files that interrupted runs continue and parallel runs share.

A table is compressed if its name ends in .gz.
"""

import csv
import fcntl
import gzip
import io
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar, get_type_hints

from rocktune.errors import UserError

Row = dict[str, Any]
_Cells = Mapping[str, str]


class Record(Protocol):
    """A dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


_Made = TypeVar("_Made")
_Record = TypeVar("_Record", bound=Record)


def write_csv(path: Path, rows: Iterable[Mapping[str, Any] | Record]) -> None:
    """Writes rows of equal fields; writes nothing for no rows.

    A kill during the call leaves the earlier file intact.
    """
    rows = list(rows)
    if not rows:
        return
    unfinished = path.with_name(path.name + ".part")
    unfinished.write_bytes(_encoded(path, rows, with_header=True))
    unfinished.replace(path)


def append_rows(path: Path | None, rows: Iterable[Mapping[str, Any] | Record]) -> None:
    """Appends rows of equal fields to a table that other processes may append to as well.

    The rows of a call follow one another. An empty or missing table gets a header first. Does nothing for no
    rows or without a path, as without `--out`.
    """
    rows = list(rows)
    if path is None or not rows:
        return
    with path.open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        is_empty = os.fstat(file.fileno()).st_size == 0
        # With compression, a member of its own.
        file.write(_encoded(path, rows, with_header=is_empty))


def read_rows(
    path: Path | None, maker: Callable[[_Cells], _Made], advice: str = "name a new --out"
) -> list[_Made]:
    """Returns the rows of a table, while no other process appends; [] without a path or without a file.

    Args:
        path: the table; None, as without `--out`, has no rows.
        maker: makes what is returned from a row's cells: `typed(...)`, `record_of(...)` or a function. It
            raises KeyError, TypeError or ValueError if a row is not of this table.
        advice: tells the user how to mend such a table.

    Raises:
        UserError: a row has too few or too many cells or `maker` refuses it, or the file is cut off.
    """
    if path is None or not path.exists():
        return []
    with path.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        plain: Any = gzip.GzipFile(fileobj=file) if path.suffix == ".gz" else file
        reader = csv.DictReader(io.TextIOWrapper(plain, "utf-8", newline=""))
        rows = []
        try:
            for cells in reader:
                if None in cells or None in cells.values():
                    raise ValueError(f"not the header's {len(reader.fieldnames or ())} cells")
                rows.append(maker(cells))
        except KeyError as error:
            raise UserError(f"{path}: line {reader.line_num}: no column {error}; {advice}") from None
        except (EOFError, TypeError, ValueError) as error:
            raise UserError(f"{path}: line {reader.line_num}: {error}; {advice}") from None
    return rows


def typed(others: type = str, /, **kinds: type) -> Callable[[_Cells], Row]:
    """Returns a maker of rows for `read_rows`, with a value of the given type in each column.

    Args:
        others: type of the columns that have none in `kinds`.
        kinds: types by column, as of `record_of`'s fields.
    """
    parsers = {name: _parser(kind) for name, kind in kinds.items()}
    other = _parser(others)

    def made(cells: _Cells) -> Row:
        if missing := sorted(parsers.keys() - cells.keys()):
            raise KeyError(missing[0])
        return {name: parsers.get(name, other)(text) for name, text in cells.items()}

    return made


def record_of(kind: type[_Record]) -> Callable[[_Cells], _Record]:
    """Returns a maker of records for `read_rows`, from the columns that have the names of their fields.

    Args:
        kind: a dataclass with fields of the types str, int, float, bool, or tuples of int, which a table has
            with spaces between.
    """
    types = get_type_hints(kind)
    parsers = {field.name: _parser(types[field.name]) for field in fields(kind)}

    def made(cells: _Cells) -> _Record:
        return kind(**{name: parse(cells[name]) for name, parse in parsers.items()})

    return made


def _parser(kind: Any) -> Callable[[str], Any]:
    parser: Callable[[str], Any] = {bool: _bool, tuple[int, ...]: _integers}.get(kind, kind)
    return parser


def _bool(text: str) -> bool:
    if text not in ("True", "False"):
        raise ValueError(f"neither True nor False: '{text}'")
    return text == "True"


def _integers(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split()))


def _encoded(path: Path, rows: list[Mapping[str, Any] | Record], *, with_header: bool) -> bytes:
    cells = [_cells(row) for row in rows]
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, fieldnames=list(cells[0]))
    if with_header:
        writer.writeheader()
    writer.writerows(cells)
    plain = text.getvalue().encode()
    # Without the time, equal tables are equal files.
    return gzip.compress(plain, mtime=0) if path.suffix == ".gz" else plain


def _cells(row: Mapping[str, Any] | Record) -> Mapping[str, Any]:
    if isinstance(row, Mapping):
        return row
    values = {field.name: getattr(row, field.name) for field in fields(row)}
    return {
        name: " ".join(map(str, value)) if isinstance(value, tuple) else value
        for name, value in values.items()
    }
