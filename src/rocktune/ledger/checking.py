"""Verifies that a ledger is whole: that all that was recorded can be read, and fits together."""

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
    """Something in a ledger that is not as it was recorded.

    Attributes:
        study: the study's name; "" where it belongs to none.
        what: one line.
    """

    study: str
    what: str


@dataclass(frozen=True)
class Check:
    """What came of reading a ledger from end to end.

    Attributes:
        schema_version: its own, and that of this program.
        studies: how many there are.
        windows: how many windows have been read.
        problems: what is not whole, study by study; empty for a ledger that is.
    """

    schema_version: str
    studies: int
    windows: int
    problems: tuple[Problem, ...]


def check(connection: Connection, spec_problem: SpecProblem, progress: RowProgress) -> Check:
    """Reads everything and finds what is not whole.

    Args:
        connection: in a transaction whose reads all see the same state; the schema is of this version.
        spec_problem: says what is wrong with a study's specification, None if nothing is.
        progress: is told of each study how many windows have been read, of how many in the ledger.
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
    progress(name, before + windows, total)


def _database_problems(connection: Connection) -> Iterator[str]:
    if connection.dialect.name == "sqlite":
        for said in connection.scalars(text("PRAGMA integrity_check(20)")):
            if said != "ok":
                yield " ".join(str(said).split())
    inspector = inspect(connection)
    there = set(inspector.get_table_names())
    for table in schema.metadata.sorted_tables:
        if table.name not in there:
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
    for table in schema.metadata.sorted_tables:
        for key in sorted(table.foreign_keys, key=lambda key: key.parent.name):
            parent = key.column.table
            names = [name or "" for name in connection.scalars(_orphans(table, key))]
            for name, count in sorted(Counter(names).items()):
                yield Problem(name, f"{count} of {table.name} refer to {parent.name} that are missing")


def _orphans(table: Table, key: ForeignKey) -> Select[Any]:
    """Selects the study's name for each row of a table whose parent is missing."""
    parent = key.column.table.alias()
    joined = table.outerjoin(parent, key.parent == parent.c[key.column.name])
    return select(_study_name(table)).select_from(joined).where(parent.c[key.column.name].is_(null()))


def _study_name(table: Table) -> ColumnElement[Any]:
    if table is schema.studies:
        return schema.studies.c.name
    studies, batches = schema.studies.alias(), schema.batches.alias()
    if "study_id" in table.columns:
        return select(studies.c.name).where(studies.c.id == table.c.study_id).scalar_subquery()
    of_batch = select(studies.c.name).join_from(studies, batches, batches.c.study_id == studies.c.id)
    return of_batch.where(batches.c.id == table.c.batch_id).scalar_subquery()
