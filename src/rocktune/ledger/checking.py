"""Checks that a whole ledger can be read and that its rows are consistent."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    ForeignKey,
    Select,
    Table,
    func,
    inspect,
    null,
    select,
    text,
)

from rocktune.ledger import schema
from rocktune.ledger.rows import RowProgress
from rocktune.ledger.study_check import SpecProblem, StudyCheck


@dataclass(frozen=True)
class Problem:
    """A damaged or inconsistent part of a ledger.

    Attributes:
        study: name of the study; "" if the part belongs to no study.
        what: description in one line.
    """

    study: str
    what: str


@dataclass(frozen=True)
class Check:
    """The result of checking a ledger.

    Attributes:
        schema_version: schema version of the ledger, which equals this program's.
        studies: number of studies.
        windows: number of windows that were read.
        problems: all problems, study by study; empty for a sound ledger.
    """

    schema_version: str
    studies: int
    windows: int
    problems: tuple[Problem, ...]


def check(connection: Connection, spec_problem: SpecProblem, progress: RowProgress) -> Check:
    """Reads the whole ledger and returns its problems.

    If the database itself is damaged, or tables or columns are missing, no study is read.

    Args:
        connection: a snapshot transaction on a database with this version's schema.
        spec_problem: see `SpecProblem`.
        progress: is called with a study's name, the windows read, and the windows in the ledger.
    """
    broken = [Problem("", what) for what in _database_problems(connection)]
    if broken:
        return Check(schema.SCHEMA_VERSION, 0, 0, tuple(broken))
    found = list(_missing_rows(connection))
    studies = schema.studies.c
    done, total = 0, connection.scalar(select(func.count()).select_from(schema.measurements)) or 0
    rows = connection.execute(select(studies.id, studies.name).order_by(studies.id)).all()
    for study_id, name in rows:
        study = StudyCheck(connection, study_id, partial(_tell, progress, name, done, total))
        found += [Problem(name, what) for what in study.problems(spec_problem)]
        done += study.windows
    return Check(schema.SCHEMA_VERSION, len(rows), done, tuple(found))


def _tell(progress: RowProgress, name: str, before: int, total: int, windows: int) -> None:
    """Reports progress as windows of the whole ledger."""
    progress(name, before + windows, total)


def _database_problems(connection: Connection) -> Iterator[str]:
    """Yields damages of the database file, and missing tables and columns, a line each."""
    if connection.dialect.name == "sqlite":
        # At most 20 messages: a damaged file yields one for each of its pages.
        for message in connection.scalars(text("PRAGMA integrity_check(20)")):
            if message != "ok":
                yield " ".join(str(message).split())
    inspector = inspect(connection)
    existing = set(inspector.get_table_names())
    for table in schema.metadata.sorted_tables:
        if table.name not in existing:
            yield f"table {table.name} is missing"
            continue
        columns = {column["name"] for column in inspector.get_columns(table.name)}
        yield from (
            f"column {column.name} of {table.name} is missing"
            for column in table.columns
            if column.name not in columns
        )


# References


def _missing_rows(connection: Connection) -> Iterator[Problem]:
    """Yields a problem for each study and table with rows whose parent rows are missing.

    Databases refuse such rows, but SQLite's tools and old files can hold them.
    """
    for table in schema.metadata.sorted_tables:
        for key in sorted(table.foreign_keys, key=lambda key: key.parent.name):
            parent = key.column.table
            names = [name or "" for name in connection.scalars(_orphans(table, key))]
            for name, count in sorted(Counter(names).items()):
                yield Problem(name, f"{count} of {table.name} refer to {parent.name} that are missing")


def _orphans(table: Table, key: ForeignKey) -> Select[Any]:
    """Returns a query for the study's name of each row whose parent row is missing."""
    parent = key.column.table.alias()
    joined = table.outerjoin(parent, key.parent == parent.c[key.column.name])
    return select(_study_name(table)).select_from(joined).where(parent.c[key.column.name].is_(null()))


def _study_name(table: Table) -> ColumnElement[Any]:
    """Returns an expression for the name of the study that a row of a table belongs to; NULL if unknown."""
    if table is schema.studies:
        return schema.studies.c.name
    studies, batches = schema.studies.alias(), schema.batches.alias()
    if "study_id" in table.columns:
        return select(studies.c.name).where(studies.c.id == table.c.study_id).scalar_subquery()
    of_batch = select(studies.c.name).join_from(studies, batches, batches.c.study_id == studies.c.id)
    return of_batch.where(batches.c.id == table.c.batch_id).scalar_subquery()
