"""Converts rows to records, and finds or inserts the rows that others refer to."""

import contextlib
import hashlib
import json
import platform
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from sqlalchemy import ColumnElement, Connection, CursorResult, Row, insert, select
from sqlalchemy.exc import IntegrityError

from rocktune.ledger import schema
from rocktune.ledger.records import StudyRecord, TrialRecord
from rocktune.ledger.windows import join_window
from rocktune.trial import Configuration, Measurement, Status, Trial


class AlreadyRecordedError(Exception):
    """A batch, a trial or a window of a run is recorded already; the call has changed nothing."""


@contextlib.contextmanager
def recorded_once(what: str) -> Iterator[None]:
    """Turns a violated unique constraint in the context into AlreadyRecordedError; `what` is its subject."""
    try:
        yield
    except IntegrityError:
        raise AlreadyRecordedError(f"{what} is recorded already") from None


RowProgress = Callable[[str, int, int], None]
"""Is called with a study's name, the number of rows done, and the number of all rows."""

STUDIES = select(schema.studies, schema.experiments.c.host, schema.experiments.c.engine_version).join_from(
    schema.studies, schema.experiments
)

TRIALS = (
    select(schema.trials, schema.batches.c.phase, schema.batches.c.number, schema.configurations.c["values"])
    .join_from(schema.trials, schema.batches)
    .join(schema.configurations, schema.configurations.c.id == schema.trials.c.configuration_id)
)


def is_batch(study: StudyRecord, number: int) -> ColumnElement[bool]:
    """Returns the condition that selects one batch of a study."""
    return (schema.batches.c.study_id == study.id) & (schema.batches.c.number == number)


def digest_of(value: Any) -> str:
    """Returns the SHA-256 of a JSON value. It does not depend on the order of names in objects."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, allow_nan=False).encode()).hexdigest()


def study_record(row: Row[Any]) -> StudyRecord:
    """Returns the record of a row of `STUDIES`."""
    return StudyRecord(row.id, row.name, row.spec, row.state, row.created_at, row.host, row.engine_version)


def trial_of(row: Row[Any]) -> Trial:
    """Returns the trial of a row of `TRIALS`."""
    return Trial(Configuration(row._mapping["values"]), row.until_s, row.replicate)


def trial_record(row: Row[Any], figures: Measurement | None, window: Measurement | None) -> TrialRecord:
    """Returns the record of a row of `TRIALS` with a status.

    Args:
        row: the row.
        figures: the run's figures from age 0 to the trial's age, if any.
        window: the window that ends at the trial's age, if any.
    """
    status = Status(row.status)
    return TrialRecord(
        phase=row.phase,
        batch=row.number,
        index=row.position,
        trial=trial_of(row),
        status=status,
        message=row.message,
        measured_s=row.measured_s,
        repeated_s=row.repeated_s,
        options=row.options,
        measurement=figures if status is Status.OK else None,
        window=window if status is Status.OK else None,
        recorded_at=row.recorded_at,
    )


def inserted_id(result: CursorResult[Any]) -> int:
    """Returns the key that the database assigned to the row that was just inserted."""
    key = result.inserted_primary_key
    assert key is not None, "only single-row INSERTs are executed"
    return int(key[0])


def experiment_id(connection: Connection, spec: Mapping[str, Any], engine_version: str) -> int:
    """Returns the key of a study's experiment. Studies under equal conditions share one."""
    conditions: dict[str, Any] = {
        "workload": spec.get("workload", {}),
        "device": spec.get("device", {}),
        "scale": spec.get("scale", 1),
        "engine_version": engine_version,
        "host": platform.node(),
    }
    return experiment_key(connection, conditions | {"digest": digest_of(conditions)})


def experiment_key(connection: Connection, row: Mapping[str, Any]) -> int:
    """Returns the key of an experiment by its digest, and inserts the row if it is missing."""
    query = select(schema.experiments.c.id).where(schema.experiments.c.digest == row["digest"])
    if connection.scalar(query) is None:
        # Another process may insert the same row at the same moment. Rows are never deleted, so the query
        # below finds one.
        with contextlib.suppress(IntegrityError), connection.begin_nested():
            connection.execute(insert(schema.experiments).values(row))
    return int(connection.execute(query).scalar_one())


def configuration_ids(
    connection: Connection, study_id: int, wanted: Iterable[Configuration]
) -> dict[str, int]:
    """Returns the database keys of configurations of a study by `Configuration.key`; inserts new ones."""
    table = schema.configurations
    by_digest = {digest_of(dict(configuration)): configuration for configuration in wanted}
    query = select(table.c.digest, table.c.id).where(
        table.c.study_id == study_id, table.c.digest.in_(by_digest)
    )
    known = {row.digest: row.id for row in connection.execute(query)}
    for digest, configuration in by_digest.items():
        if digest not in known:
            row = {"study_id": study_id, "digest": digest, "values": dict(configuration)}
            known[digest] = inserted_id(connection.execute(insert(table).values(row)))
    return {configuration.key: known[digest] for digest, configuration in by_digest.items()}


def windows_of(connection: Connection, run: Mapping[str, Any]) -> list[tuple[float, Measurement]]:
    """Returns (age at its end in seconds, window) for each recorded window of a run, in order of age.

    Args:
        connection: a connection in a transaction.
        run: values of the columns `study_id`, `configuration_id` and `replicate`.
    """
    table = schema.measurements
    query = (
        select(table)
        .where(*(table.c[name] == value for name, value in run.items()))
        .order_by(table.c.until_s)
    )
    return [(row.until_s, join_window(row.scalars, row.distributions)) for row in connection.execute(query)]
