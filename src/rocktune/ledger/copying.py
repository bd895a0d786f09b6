"""Compares and copies studies between ledgers, row by row and without the databases' own keys."""

from collections.abc import Generator, Sequence
from contextlib import closing
from itertools import zip_longest
from typing import Any

from sqlalchemy import Column, Connection, Select, Table, func, insert, select

from rocktune.errors import UserError
from rocktune.ledger import schema
from rocktune.ledger.rows import RowProgress, experiment_key, inserted_id

_ROWS_AT_ONCE = 100
"""Rows that are read together. Rows of measurements are large."""

StudyRow = dict[str, Any]
"""A row's values by column.

Database keys are replaced by `configuration` (its digest), `batch` (its number) and

`position`, which are equal in all ledgers."""


def is_same(connection: Connection, other: Connection, name: str, progress: RowProgress) -> bool | None:
    """Returns whether two ledgers have an identical study; None if the other one has no study of that name.

    Args:
        connection: a snapshot transaction on one ledger.
        other: a snapshot transaction on the other ledger.
        name: name of the study.
        progress: is called after every hundred rows.
    """
    if _study_id(other, name) is None:
        return None
    total = sum(_count(connection, query) for query in _queries(connection, name).values())
    with closing(_all_rows(connection, name)) as rows, closing(_all_rows(other, name)) as others:
        # A study with more rows than the other one is compared with None.
        for done, (row, other_row) in enumerate(zip_longest(rows, others)):
            if row != other_row:
                return False
            if done % _ROWS_AT_ONCE == 0:
                progress(name, done, total)
    return True


def copy_study(source: Connection, target: Connection, name: str, progress: RowProgress) -> None:
    """Copies a study into a ledger without a study of that name, in the order in which it was recorded.

    Args:
        source: a snapshot transaction on the ledger that has the study.
        target: a writing transaction on the other ledger.
        name: name of the study.
        progress: is called after every hundred rows.

    Raises:
        UserError: the source has no study of that name.
        IntegrityError: the target has a study of that name.
    """
    queries = _queries(source, name)
    done, total = 0, sum(_count(source, query) for query in queries.values())
    copy = _Copy(target)
    for table, query in queries.items():
        for rows in _read(source, query):
            copy.insert(table, rows)
            done += len(rows)
            progress(name, done, total)


class _Copy:
    """Inserts a study's rows with new keys of the target.

    Keys of parent rows are looked up by their contents.
    """

    def __init__(self, target: Connection) -> None:
        self._target = target
        self._study_id = 0
        self._keys: dict[Table, dict[Any, int]] = {}

    def insert(self, table: Table, rows: Sequence[StudyRow]) -> None:
        """Inserts rows of a table; the rows that they refer to must have been inserted before."""
        if table is schema.studies:
            self._insert_study(rows[0])
            return
        references = [column for column in table.columns if column.foreign_keys]
        made = []
        for row in rows:
            own = {name: value for name, value in row.items() if name in table.columns}
            made.append(own | {column.name: self._key(column, row) for column in references})
        self._target.execute(insert(table), made)

    def _insert_study(self, row: StudyRow) -> None:
        """Inserts the study's row, and its experiment if the target lacks it."""
        key = experiment_key(self._target, _of(schema.experiments, row))
        values = _of(schema.studies, row) | {"experiment_id": key}
        self._study_id = inserted_id(self._target.execute(insert(schema.studies).values(values)))

    def _key(self, reference: Column[Any], row: StudyRow) -> int:
        """Returns the target's key for a reference of a row."""
        if reference.name == "study_id":
            return self._study_id
        table = next(iter(reference.foreign_keys)).column.table
        if table not in self._keys:
            self._keys[table] = self._inserted(table)
        names = {"configurations": ("configuration",), "batches": ("batch",), "trials": ("batch", "position")}
        return self._keys[table][tuple(row[name] for name in names[table.name])]

    def _inserted(self, table: Table) -> dict[Any, int]:
        """Returns the new keys of a table's rows by the contents that identify them; all must be inserted."""
        batches, trials, configurations = schema.batches, schema.trials, schema.configurations
        query: Select[Any] = {
            "configurations": select(configurations.c.digest, configurations.c.id),
            "batches": select(batches.c.number, batches.c.id),
            "trials": select(batches.c.number, trials.c.position, trials.c.id).join_from(trials, batches),
        }[table.name]
        study_id = (configurations if table is configurations else batches).c.study_id
        rows = self._target.execute(query.where(study_id == self._study_id))
        return {tuple(row[:-1]): row[-1] for row in rows}


def _of(table: Table, row: StudyRow) -> StudyRow:
    """Returns the values of a row that belong to a table's own columns."""
    return {column.name: row[column.name] for column in _own(table)}


def _own(table: Table) -> list[Column[Any]]:
    """Returns a table's columns without keys and references."""
    return [column for column in table.columns if not column.primary_key and not column.foreign_keys]


def _queries(connection: Connection, name: str) -> dict[Table, Select[Any]]:
    """Returns for each table the query for a study's rows, in the order in which they were recorded.

    Parent tables come before the tables that refer to them.
    """
    study_id = _study_id(connection, name)
    if study_id is None:
        raise UserError(f"study '{name}': it was deleted meanwhile")
    batches, trials, configurations = schema.batches, schema.trials, schema.configurations
    batch = batches.c.number.label("batch")
    configuration = configurations.c.digest.label("configuration")
    studies = select(*_own(schema.studies), *_own(schema.experiments)).join(schema.experiments)
    of_configurations, of_batches = select(*_own(configurations)), select(*_own(batches))
    of_trials = select(batch, configuration, *_own(trials)).join_from(trials, batches).join(configurations)
    of_measurements = (
        select(batch, trials.c.position, configuration, *_own(schema.measurements))
        .join_from(schema.measurements, trials)
        .join(batches)
        .join(configurations, configurations.c.id == schema.measurements.c.configuration_id)
    )
    of_events = select(*_own(schema.events))
    read = {
        schema.studies: studies.where(schema.studies.c.id == study_id),
        configurations: of_configurations.where(configurations.c.study_id == study_id),
        batches: of_batches.where(batches.c.study_id == study_id),
        trials: of_trials.where(batches.c.study_id == study_id),
        schema.measurements: of_measurements.where(schema.measurements.c.study_id == study_id),
        schema.events: of_events.where(schema.events.c.study_id == study_id),
    }
    return {table: query.order_by(*table.primary_key) for table, query in read.items()}


def _read(connection: Connection, query: Select[Any]) -> Generator[Sequence[StudyRow], None, None]:
    """Yields a query's rows in lists of a hundred, because a large study does not fit into memory."""
    with connection.execute(query, execution_options={"yield_per": _ROWS_AT_ONCE}) as result:
        for rows in result.mappings().partitions():
            yield [dict(row) for row in rows]


def _all_rows(connection: Connection, name: str) -> Generator[StudyRow, None, None]:
    """Yields all rows of a study, table by table."""
    for query in _queries(connection, name).values():
        with closing(_read(connection, query)) as parts:
            for rows in parts:
                yield from rows


def _count(connection: Connection, query: Select[Any]) -> int:
    """Returns the number of rows of a query."""
    return int(connection.scalar(query.order_by(None).with_only_columns(func.count())) or 0)


def _study_id(connection: Connection, name: str) -> int | None:
    """Returns a study's key by its name; None if there is no such study."""
    return connection.scalar(select(schema.studies.c.id).where(schema.studies.c.name == name))
