"""Tables as files: CSV, and Parquet if PyArrow is installed.

A table's conditions are a JSON document. It is the first line of a CSV file, after "# ", and the metadata
"rocktune" of a Parquet file.
"""

import csv
import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rocktune.errors import UserError
from rocktune.spec_file import validated
from rocktune.table.rows import Conditions, Table, TableRow
from rocktune.trial import FIGURES, Configuration, Status, Value

_METADATA = b"rocktune"
_TYPES = {"int": int, "float": float, "bool": bool, "str": str}
_RUN_COLUMNS = ("replicate", "status", "message")


def write_table(path: Path, table: Table) -> None:
    """Writes a table to a file. An existing file is replaced only once the new one is complete.

    Args:
        path: path of the file; its extension, .csv or .parquet, decides the format.
        table: the table to write.

    Raises:
        UserError: the file cannot be written, has another extension, or needs PyArrow, which is missing.
    """
    write = _write_parquet if _is_parquet(path) else _write_csv
    # In the same directory, because a rename is atomic only within a file system.
    unfinished = path.with_name(path.name + ".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write(unfinished, table)
        unfinished.replace(path)
    except OSError as failure:
        raise UserError(f"{path}: cannot be written: {failure.strerror}") from None


def read_table(path: Path) -> Table:
    """Returns the table in a file.

    Raises:
        UserError: the file cannot be read, is not a table, or is malformed (names row and column).
    """
    read = _read_parquet if _is_parquet(path) else _read_csv
    try:
        document, columns, rows = read(path)
    except OSError as failure:
        raise UserError(f"{path}: cannot be read: {failure.strerror}") from None
    conditions = validated(Conditions, document, f"{path}: conditions")
    for name in (*conditions.knobs, "status"):
        if name not in columns:
            raise UserError(f"{path}: has no column '{name}'")
    return Table(
        conditions,
        tuple(_row(conditions, row, f"{path}: row {number}") for number, row in enumerate(rows, 1)),
    )


def _is_parquet(path: Path) -> bool:
    """Returns whether the file's extension is .parquet, not .csv.

    Raises:
        UserError: it is neither.
    """
    if path.suffix not in (".csv", ".parquet"):
        raise UserError(f"table {path}: its name ends neither in .csv nor in .parquet; use one of them")
    return path.suffix == ".parquet"


def _columns(table: Table) -> tuple[str, ...]:
    """Returns the names of the columns in their order: knobs, the run, figures."""
    return (*table.conditions.knobs, *_RUN_COLUMNS, *FIGURES)


def _cells(table: Table) -> list[dict[str, Any]]:
    """Returns the values of each row by column."""
    return [
        {
            **dict.fromkeys(table.conditions.knobs),
            **row.configuration,
            "replicate": row.replicate,
            "status": str(row.status),
            "message": row.message,
            **{name: row.figures.get(name, math.nan) for name in FIGURES},
        }
        for row in table.rows
    ]


def _write_csv(path: Path, table: Table) -> None:
    """Writes a table to a CSV file, its conditions in the first line."""
    # newline="" and "\n" give the same bytes on every system.
    with path.open("w", newline="", encoding="utf-8") as file:
        file.write(f"# {table.conditions.model_dump_json()}\n")
        writer = csv.DictWriter(file, _columns(table), lineterminator="\n")
        writer.writeheader()
        for cells in _cells(table):
            writer.writerow({name: _text(value) for name, value in cells.items()})


def _text(value: Value | None) -> str:
    """Returns a value as the text of a CSV cell; NaN and None, an inactive knob, are empty cells."""
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None or (isinstance(value, float) and math.isnan(value)) else str(value)


def _read_csv(path: Path) -> tuple[dict[str, Any], tuple[str, ...], list[dict[str, Any]]]:
    """Returns a CSV file's conditions document, column names and rows."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            first = file.readline()
            reader = csv.DictReader(file)
            rows = list(reader)
    except csv.Error as problem:
        raise UserError(f"{path}: is not a table: {problem}") from None
    except UnicodeDecodeError:
        raise UserError(f"{path}: is not a table: it is not UTF-8 text") from None
    if not first.startswith("# {"):
        raise UserError(
            f"{path}: is not a table: its first line is not '# ' followed by the JSON document "
            "of its conditions (docs/design/tables.md)"
        )
    names = tuple(reader.fieldnames or ())
    _require_rectangle(path, names, rows)
    return _conditions_document(path, first[2:]), names, rows


def _require_rectangle(path: Path, names: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> None:
    """Raises UserError if a column is there twice, or a row has more or fewer cells than there are columns.

    Figures would otherwise be taken from other columns, or be lost.
    """
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise UserError(f"{path}: has the column '{twice[0]}' twice; leave one out")
    for number, row in enumerate(rows, 1):
        # The reader keeps cells without a column under None, and fills up with None.
        cells = sum(value is not None for value in row.values())
        cells += len(row[None]) - 1 if None in row else 0  # type: ignore[index]
        if cells != len(names):
            raise UserError(
                f"{path}: row {number}: has {cells} cells and not {len(names)}, as there are columns; "
                "write a cell with a comma in it between quotes"
            )


def _conditions_document(path: Path, text: str) -> dict[str, Any]:
    """Returns the JSON object that holds a table's conditions.

    Raises:
        UserError: the text is not a JSON object.
    """
    try:
        document = json.loads(text)
    except ValueError as problem:
        raise UserError(f"{path}: its conditions are malformed JSON: {problem}") from None
    if not isinstance(document, dict):
        raise UserError(f"{path}: its conditions are not a JSON object (docs/design/tables.md)")
    return document


def _write_parquet(path: Path, table: Table) -> None:
    """Writes a table to a Parquet file, its conditions in the metadata."""
    arrow, parquet = _pyarrow()
    cells = _cells(table)
    columns = {name: [row.get(name) for row in cells] for name in _columns(table)}
    metadata = {_METADATA: table.conditions.model_dump_json().encode()}
    parquet.write_table(arrow.table(columns).replace_schema_metadata(metadata), path)


def _read_parquet(path: Path) -> tuple[dict[str, Any], tuple[str, ...], list[dict[str, Any]]]:
    """Returns a Parquet file's conditions document, column names and rows."""
    arrow, parquet = _pyarrow()
    try:
        table = parquet.read_table(path)
    except arrow.ArrowInvalid as problem:
        # Arrow's messages have several lines; the first one says what is wrong.
        raise UserError(f"{path}: is not a Parquet file: {str(problem).splitlines()[0]}") from None
    metadata = table.schema.metadata or {}
    if _METADATA not in metadata:
        raise UserError(
            f"{path}: is not a table: its metadata have no entry 'rocktune' with the JSON document of its "
            "conditions (docs/design/tables.md)"
        )
    document = _conditions_document(path, metadata[_METADATA].decode())
    return document, tuple(table.column_names), table.to_pylist()


def _pyarrow() -> tuple[Any, Any]:
    """Returns the modules pyarrow and pyarrow.parquet.

    Raises:
        UserError: PyArrow is not installed.
    """
    try:
        import pyarrow
        from pyarrow import parquet
    except ModuleNotFoundError:
        raise UserError(
            "table: Parquet needs PyArrow: run \"pip install 'rocktune[parquet]'\", or use a name in .csv"
        ) from None
    return pyarrow, parquet


def _row(conditions: Conditions, cells: Mapping[str, Any], where: str) -> TableRow:
    """Returns the table row that a file's cells describe.

    Raises:
        UserError: a cell is malformed; the message begins with `where` and the column.
    """
    # An empty cell is a knob that is inactive in this run.
    values = {
        name: _value(cells[name], kind, f"{where}, {name}")
        for name, kind in conditions.knobs.items()
        if cells[name] not in (None, "")
    }
    if cells["status"] not in tuple(Status):
        raise UserError(f"{where}, status: '{cells['status']}' is not one of {', '.join(Status)}")
    # Columns of figures may be absent: older tables lack those that were added later.
    figures = {name: _figure(cells.get(name), f"{where}, {name}") for name in FIGURES}
    replicate = _value(cells.get("replicate") or 0, "int", f"{where}, replicate")
    return TableRow(
        Configuration(values),
        int(replicate),
        Status(cells["status"]),
        str(cells.get("message") or ""),
        figures,
    )


def _value(cell: Any, kind: str, where: str) -> Value:
    """Returns a knob's value from a cell, which is text in CSV and typed in Parquet.

    Raises:
        UserError: the cell does not hold a value of this kind.
    """
    if kind == "bool" and str(cell).lower() in ("true", "false"):
        return str(cell).lower() == "true"
    try:
        # bool("false") would be True, so switches are compared above and never converted.
        if kind != "bool" and cell not in (None, ""):
            return _TYPES[kind](cell)  # type: ignore[no-any-return]
    except ValueError:
        pass
    raise UserError(f"{where}: '{cell}' is not a value of type {kind}")


def _figure(cell: Any, where: str) -> float:
    """Returns a figure from a cell; NaN if the cell is empty.

    Raises:
        UserError: the cell does not hold a number.
    """
    if cell in (None, ""):
        return math.nan
    try:
        return float(cell)
    except ValueError:
        raise UserError(f"{where}: '{cell}' is not a number") from None
