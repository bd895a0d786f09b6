"""Checks that a study can be read and that its rows are consistent."""

import json
import math
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from itertools import groupby
from typing import Any

from sqlalchemy import (
    JSON,
    Column,
    ColumnElement,
    Connection,
    LargeBinary,
    Select,
    String,
    Table,
    Text,
    and_,
    cast,
    func,
    null,
    select,
    type_coerce,
)

from rocktune.ledger import schema
from rocktune.ledger.rows import digest_of
from rocktune.ledger.windows import join_window
from rocktune.trial import Status

SpecProblem = Callable[[Mapping[str, Any]], str | None]
"""Returns what is wrong with a study's specification, in one line; None if nothing is."""

_ROWS_AT_ONCE = 100
_UNREADABLE = (ValueError, TypeError, KeyError, AttributeError, zlib.error)

_batch, _trial, _window = schema.batches.c, schema.trials.c, schema.measurements.c


class StudyCheck:
    """Checks one study; `problems` may be called once.

    Attributes:
        windows: number of windows that were read.
    """

    def __init__(self, connection: Connection, study_id: int, progress: Callable[[int], None]) -> None:
        """Creates a check.

        Args:
            connection: a snapshot transaction.
            study_id: key of the study.
            progress: is called from time to time with the number of windows read.
        """
        self.windows = 0
        self._progress = progress
        self._connection = connection
        self._study_id = study_id
        self._found: list[str] = []

    def problems(self, spec_problem: SpecProblem) -> list[str]:
        """Reads all rows of the study and returns its problems, one line each."""
        self._check_study(spec_problem)
        self._check_configurations()
        self._check_batches()
        self._check_trials()
        self._check_windows()
        self._check_events()
        return self._found

    def _check_study(self, spec_problem: SpecProblem) -> None:
        """Checks the study's own row and its experiment."""
        studies, experiments = schema.studies, schema.experiments
        for study in self._read(studies, select(), studies.c.id == self._study_id, lambda _: "the study"):
            spec = study["spec"]
            wrong = spec_problem(spec) if isinstance(spec, dict) else "its specification is not a JSON object"
            if wrong is not None:
                self._found.append(wrong)
        used = select(studies.c.experiment_id).where(studies.c.id == self._study_id)
        for experiment in self._read(
            experiments, select(), experiments.c.id.in_(used), lambda _: "its experiment"
        ):
            names = ("workload", "device", "scale", "engine_version", "host")
            self._compare_digest("its experiment", {name: experiment[name] for name in names}, experiment)

    def _check_configurations(self) -> None:
        """Checks that configurations match their digests."""
        table = schema.configurations

        def name_of(row: Mapping[str, Any]) -> str:
            return f"configuration {row['digest'][:12]}"

        for row in self._read(table, select(), table.c.study_id == self._study_id, name_of):
            self._compare_digest(name_of(row), row["values"], row)

    def _compare_digest(self, called: str, value: Any, row: Mapping[str, Any]) -> None:
        """Adds a problem if a value does not match the digest of its row."""
        try:
            matches = digest_of(value) == row["digest"]
        except ValueError:
            matches = False
        if not matches:
            self._found.append(f"{called} does not match its digest")

    def _check_batches(self) -> None:
        """Checks that no batch lacks trials."""
        table, study = schema.batches, _batch.study_id == self._study_id
        for _ in self._read(table, select(), study, lambda row: f"batch {row['number']}"):
            pass
        counted = (
            select(_batch.number, func.count().label("count"), func.max(_trial.position).label("last"))
            .join_from(schema.trials, schema.batches)
            .where(study)
            .group_by(_batch.number)
            .order_by(_batch.number)
        )
        for batch in self._connection.execute(counted).all():
            if batch.last + 1 != batch.count:
                self._found.append(f"batch {batch.number} lacks {batch.last + 1 - batch.count} trials")

    def _check_trials(self) -> None:
        """Checks statuses, and that each `ok` trial has a window at its age."""
        query = select(_batch.number).join_from(schema.trials, schema.batches)
        for row in self._read(schema.trials, query, _batch.study_id == self._study_id, _trial_name):
            if row["status"] not in (None, *Status):
                self._found.append(f"{_trial_name(row)} has the unknown status '{row['status']}'")
        window = schema.measurements.alias()
        same_run = and_(
            window.c.configuration_id == _trial.configuration_id,
            window.c.replicate == _trial.replicate,
            window.c.until_s == _trial.until_s,
        )
        unanswered = (
            select(_batch.number, _trial.position, _trial.until_s)
            .join_from(schema.trials, schema.batches)
            .outerjoin(window, and_(same_run, window.c.study_id == _batch.study_id))
            .where(_batch.study_id == self._study_id, _trial.status == Status.OK.value)
            .where(window.c.trial_id.is_(null()))
        )
        for batch, position, until_s in self._connection.execute(
            unanswered.order_by(_batch.number, _trial.position)
        ).all():
            self._found.append(
                f"trial {position} of batch {batch} is ok, but no window ends at its age, {until_s:g} s"
            )

    def _check_windows(self) -> None:
        """Checks that windows belong to their trials and follow each other."""
        table = schema.measurements
        own_trial = and_(
            _trial.configuration_id == _window.configuration_id,
            _trial.replicate == _window.replicate,
            _trial.until_s == _window.until_s,
            _trial.status == Status.OK.value,
            _batch.study_id == _window.study_id,
        )
        query = (
            select(_batch.number, _trial.position, own_trial.label("fits"))
            .join_from(table, schema.trials, schema.trials.c.id == _window.trial_id)
            .join(schema.batches)
            .order_by(_window.configuration_id, _window.replicate, _window.until_s)
        )
        rows = self._read(table, query, _window.study_id == self._study_id, _window_name)
        for _, run in groupby(rows, lambda row: (row["configuration_id"], row["replicate"])):
            self._check_run(run)

    def _check_run(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Checks that each window of a run begins where the one before ended; they come in order of age."""
        end_s = 0.0
        for row in rows:
            if self.windows % _ROWS_AT_ONCE == 0:
                self._progress(self.windows)
            self.windows += 1
            called = _window_name(row)
            if not row["fits"]:
                self._found.append(f"{called} does not belong to the run of its trial")
            try:
                window = join_window(row["scalars"], row["distributions"])
                from_s, until_s = window.from_s, window.until_s
            except _UNREADABLE as error:
                self._found.append(f"{called} cannot be used: {_short(error)}")
                continue
            # A window that begins at 0 replaces all before it: its engine cannot pause runs.
            if from_s != 0 and not math.isclose(from_s, end_s, abs_tol=1e-6):
                self._found.append(f"{called} begins at {from_s:g} s, but the one before ends at {end_s:g} s")
            end_s = until_s

    def _check_events(self) -> None:
        """Checks that events can be read."""
        events = schema.events

        def name_of(row: Mapping[str, Any]) -> str:
            return f"event {row['id']} ({row['kind']})"

        for _ in self._read(events, select(), events.c.study_id == self._study_id, name_of):
            pass

    def _read(
        self,
        table: Table,
        query: Select[Any],
        condition: ColumnElement[bool],
        name_of: Callable[[Mapping[str, Any]], str],
    ) -> Iterator[dict[str, Any]]:
        """Yields the readable rows of a table with decoded values, and adds a problem for each other row.

        Args:
            table: the table; all its columns are read.
            query: selects further columns.
            condition: selects the rows.
            name_of: returns a name for a row in messages, from its stored values.
        """
        raw = [_raw(column, self._connection.dialect.name) for column in table.columns]
        wanted = query.add_columns(*raw).where(condition)
        options = {"yield_per": _ROWS_AT_ONCE}
        with self._connection.execute(wanted, execution_options=options) as result:
            for stored in result.mappings():
                row: dict[str, Any] = dict(stored)
                try:
                    for column in table.columns:
                        row[column.name] = _decoded(column, row[column.name])
                except _UNREADABLE as error:
                    self._found.append(f"{name_of(row)}: '{column.name}' cannot be read: {_short(error)}")
                else:
                    yield row


def _trial_name(row: Mapping[str, Any]) -> str:
    """Returns a trial's name for messages."""
    return f"trial {row['position']} of batch {row['number']}"


def _window_name(row: Mapping[str, Any]) -> str:
    """Returns a window's name for messages."""
    return f"the window of {_trial_name(row)}"


def _short(error: BaseException) -> str:
    """Returns an error's text on one line of at most 100 characters."""
    text = " ".join(str(error).split())
    return text if len(text) <= 100 else f"{text[:100]}..."


def _raw(column: Column[Any], dialect: str) -> ColumnElement[Any]:
    """Returns an expression for a column's stored value.

    Decoding it in Python lets one broken value be reported without hiding the others.
    """
    if isinstance(column.type, schema.CompressedJson):
        return type_coerce(column, LargeBinary).label(column.name)
    if isinstance(column.type, schema.UtcTime):
        return type_coerce(column, String).label(column.name)
    if isinstance(column.type, JSON):
        # Only SQLite can hold text that is not UTF-8; as bytes it can be read.
        return cast(column, LargeBinary if dialect == "sqlite" else Text).label(column.name)
    return column


def _decoded(column: Column[Any], stored: Any) -> Any:
    """Returns a column's value from its stored form; raises if it is damaged."""
    if stored is None:
        return None
    if isinstance(column.type, schema.CompressedJson):
        return json.loads(zlib.decompress(stored))
    if isinstance(column.type, schema.UtcTime):
        return datetime.fromisoformat(stored)
    return json.loads(stored) if isinstance(column.type, JSON) else stored
