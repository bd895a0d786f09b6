"""Reads a study row by row without the database's own keys, to compare or copy it between ledgers."""

from collections.abc import Generator, Sequence
from contextlib import closing
from itertools import zip_longest
from typing import Any

from sqlalchemy import Column, Connection, Select, Table, func, insert, select

from rocktune.errors import UserError
from rocktune.ledger import schema
from rocktune.ledger.rows import RowProgress, experiment_key, inserted_id

_ROWS_AT_ONCE = 100

StudyRow = dict[str, Any]
"""A row by column; instead of keys it has `configuration` (its digest), `batch` (its number), `position`."""


def is_same(connection: Connection, other: Connection, name: str, progress: RowProgress) -> bool | None:
    """Says whether two ledgers have the very same study; None if the other one has none of that name.

    Args:
        connection: in a transaction whose reads all see the same state.
        other: likewise.
        name: the study's.
        progress: is told after every hundred rows.
    """
    if _study_id(other, name) is None:
        return None
    total = sum(_count(connection, query) for query in _queries(connection, name).values())
    with closing(_all_rows(connection, name)) as rows, closing(_all_rows(other, name)) as others:
        for done, (row, there) in enumerate(zip_longest(rows, others)):
            if row != there:
                return False
            if done % _ROWS_AT_ONCE == 0:
                progress(name, done, total)
    return True


def copy_study(source: Connection, target: Connection, name: str, progress: RowProgress) -> None:
    """Copies a study into another ledger that has none of that name, in the order in which it was recorded.

    Args:
        source: in a transaction whose reads all see the same state.
        target: in a transaction that writes.
        name: the study's.
        progress: is told after every hundred rows.

    Raises:
        UserError: there is no such study.
        IntegrityError: the target has one of this name.
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
    """Inserts a study's rows under keys of the target's own, found again by what the rows say."""

    def __init__(self, target: Connection) -> None:
        self._target = target
        self._study_id = 0
        self._keys: dict[Table, dict[Any, int]] = {}

    def insert(self, table: Table, rows: Sequence[StudyRow]) -> None:
        """Inserts rows of a table whose parents' rows are all there."""
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
        key = experiment_key(self._target, _of(schema.experiments, row))
        values = _of(schema.studies, row) | {"experiment_id": key}
        self._study_id = inserted_id(self._target.execute(insert(schema.studies).values(values)))

    def _key(self, reference: Column[Any], row: StudyRow) -> int:
        if reference.name == "study_id":
            return self._study_id
        table = next(iter(reference.foreign_keys)).column.table
        if table not in self._keys:
            self._keys[table] = self._inserted(table)
        names = {"configurations": ("configuration",), "batches": ("batch",), "trials": ("batch", "position")}
        return self._keys[table][tuple(row[name] for name in names[table.name])]

    def _inserted(self, table: Table) -> dict[Any, int]:
        """Returns the keys of a table's rows of this study, all of which have been inserted."""
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
    return {column.name: row[column.name] for column in _own(table)}


def _own(table: Table) -> list[Column[Any]]:
    """Returns the columns that say something themselves."""
    return [column for column in table.columns if not column.primary_key and not column.foreign_keys]


def _queries(connection: Connection, name: str) -> dict[Table, Select[Any]]:
    """Returns for each table what reads a study's rows in the order in which they were recorded."""
    study_id = _study_id(connection, name)
    if study_id is None:
        raise UserError(f"study '{name}': there is none of that name any more")
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
    """Reads rows by the hundred; the results of a large study do not fit into memory."""
    with connection.execute(query, execution_options={"yield_per": _ROWS_AT_ONCE}) as result:
        for rows in result.mappings().partitions():
            yield [dict(row) for row in rows]


def _all_rows(connection: Connection, name: str) -> Generator[StudyRow, None, None]:
    for query in _queries(connection, name).values():
        with closing(_read(connection, query)) as parts:
            for rows in parts:
                yield from rows


def _count(connection: Connection, query: Select[Any]) -> int:
    return int(connection.scalar(query.order_by(None).with_only_columns(func.count())) or 0)


def _study_id(connection: Connection, name: str) -> int | None:
    return connection.scalar(select(schema.studies.c.id).where(schema.studies.c.name == name))
