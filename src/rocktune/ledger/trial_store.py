"""The part of the ledger that stores batches, trials and windows."""

import contextlib
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from sqlalchemy import Connection, Engine, func, insert, select, update

from rocktune.ledger import schema
from rocktune.ledger.locking import LockConnection
from rocktune.ledger.opening import writing
from rocktune.ledger.records import StudyRecord, TrialRecord
from rocktune.ledger.rows import (
    TRIALS,
    AlreadyRecordedError,
    configuration_ids,
    digest_of,
    inserted_id,
    is_batch,
    recorded_once,
    trial_of,
    trial_record,
    windows_of,
)
from rocktune.ledger.windows import cumulative, join_window, split_window
from rocktune.trial import Batch, Configuration, Measurement, OptionMaps, Result, Status, Trial


class TrialStore:
    """Stores batches and trials of studies; see `rocktune.ledger.Ledger`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._writer = writing(engine)
        self._lock_connections: dict[int, LockConnection] = {}

    def _writing(self, study: StudyRecord) -> contextlib.AbstractContextManager[Connection]:
        """Begins a transaction that writes to a study, over the connection of its lock if there is one."""
        return self._lock_connections.get(study.id, self._writer).begin()

    def plan_batch(
        self,
        study: StudyRecord,
        phase: str,
        index: int,
        trials: Sequence[Trial],
        release: Iterable[tuple[Configuration, int]] = (),
    ) -> None:
        """Records a batch before it is measured, so that a resumed study does not ask its tuner again.

        Args:
            study: the study, whose lock the caller holds.
            phase: phase of the study, at most 32 characters.
            index: number of the batch, from 0, counted through all phases.
            trials: the trials in order.
            release: the runs that are ended before the batch.

        Raises:
            AlreadyRecordedError: the study has a batch with this number.
        """
        released = [[dict(configuration), replicate] for configuration, replicate in release]
        with recorded_once(f"batch {index}"), self._writing(study) as connection:
            batch = {"study_id": study.id, "number": index, "phase": phase, "released": released}
            batch_id = inserted_id(connection.execute(insert(schema.batches).values(batch)))
            ids = configuration_ids(connection, study.id, [trial.configuration for trial in trials])
            rows = [
                {
                    "batch_id": batch_id,
                    "position": position,
                    "configuration_id": ids[trial.configuration.key],
                    "replicate": trial.replicate,
                    "until_s": trial.until_s,
                }
                for position, trial in enumerate(trials)
            ]
            if rows:
                connection.execute(insert(schema.trials), rows)

    def planned_batch(self, study: StudyRecord, index: int) -> Batch | None:
        """Returns a recorded batch; None if the study has no batch with this number."""
        batches = schema.batches
        with self._engine.begin() as connection:
            batch = connection.execute(
                select(batches.c.id, batches.c.released).where(is_batch(study, index))
            ).first()
            if batch is None:
                return None
            rows = connection.execute(
                TRIALS.where(batches.c.id == batch.id).order_by(schema.trials.c.position)
            )
            released = tuple((Configuration(values), int(replicate)) for values, replicate in batch.released)
            return Batch(tuple(trial_of(row) for row in rows), released)

    def record(
        self,
        study: StudyRecord,
        batch: int,
        index: int,
        trial: Trial,
        window: Measurement | None,
        status: Status,
        message: str = "",
        seconds: float = 0.0,
        options: OptionMaps | None = None,
        repeated_s: float = 0.0,
    ) -> None:
        """Records how a planned trial ended.

        Args:
            study: the study, whose lock the caller holds.
            batch: number of the batch.
            index: index of the trial in the batch.
            trial: the trial, equal to the planned one.
            window: the window since the run's last recorded age. None for a failed trial, and for a trial at
                an age at which a recorded window ends.
            status: how the trial ended.
            message: message of a failed run.
            seconds: cost of the trial in seconds of measuring.
            options: all options in effect in the store.
            repeated_s: seconds of load that were repeated because the run had been lost.

        Raises:
            AlreadyRecordedError: the trial has a result, or a window of the run that ends at this age is
                recorded.
            ValueError: the planned trial is a different one, an `ok` trial has no figures, a failed one has
                some, or a figure is NaN or infinite.
        """
        if status is not Status.OK and window is not None:
            raise ValueError(f"a trial that ended as {status} has no figures")
        trials = schema.trials
        with recorded_once(f"trial {index} of batch {batch}"), self._writing(study) as connection:
            row = connection.execute(TRIALS.where(is_batch(study, batch), trials.c.position == index)).first()
            if row is None or trial_of(row) != trial:
                raise ValueError(f"trial {index} of batch {batch} was not planned as {trial}")
            if row.status is not None:
                raise AlreadyRecordedError(f"trial {index} of batch {batch} is recorded already")
            connection.execute(
                update(trials)
                .where(trials.c.id == row.id)
                .values(
                    status=status.value,
                    # PostgreSQL's type text cannot hold NUL.
                    message=message.replace("\0", "\N{REPLACEMENT CHARACTER}"),
                    measured_s=seconds,
                    repeated_s=repeated_s,
                    options=options or {},
                    recorded_at=datetime.now(UTC),
                )
            )
            run = {
                "study_id": study.id,
                "configuration_id": row.configuration_id,
                "replicate": trial.replicate,
            }
            if window is not None:
                scalars, distributions = split_window(window)
                figures = {"until_s": trial.until_s, "scalars": scalars, "distributions": distributions}
                connection.execute(insert(schema.measurements).values(trial_id=row.id, **run, **figures))
            elif status is Status.OK and trial.until_s not in [age for age, _ in windows_of(connection, run)]:
                raise ValueError(f"no recorded window of {trial} ends at its age")

    def result(self, study: StudyRecord, batch: int, index: int) -> Result | None:
        """Returns a trial's result with the run's figures from age 0; None if it has no result yet."""
        with self._engine.begin() as connection:
            row = connection.execute(
                TRIALS.where(is_batch(study, batch), schema.trials.c.position == index)
            ).first()
            if row is None or row.status is None:
                return None
            status = Status(row.status)
            if status is not Status.OK:
                return Result(trial_of(row), status, None, row.message)
            run = {"study_id": study.id, "configuration_id": row.configuration_id, "replicate": row.replicate}
            windows = [window for age, window in windows_of(connection, run) if age <= row.until_s]
        return Result(trial_of(row), status, cumulative(windows), row.message)

    def run_age(self, study: StudyRecord, configuration: Configuration, replicate: int) -> float:
        """Returns the age in seconds up to which a run is recorded; 0 if no window is."""
        measurements, configurations = schema.measurements, schema.configurations
        query = (
            select(func.max(measurements.c.until_s))
            .join(configurations, configurations.c.id == measurements.c.configuration_id)
            .where(
                measurements.c.study_id == study.id,
                configurations.c.digest == digest_of(dict(configuration)),
                measurements.c.replicate == replicate,
            )
        )
        with self._engine.begin() as connection:
            return float(connection.scalar(query) or 0.0)

    def trials(self, study: StudyRecord) -> list[TrialRecord]:
        """Returns all recorded trials of a study, in the order of batches and their trials."""
        batches, trials, measurements = schema.batches, schema.trials, schema.measurements
        query = TRIALS.where(batches.c.study_id == study.id, trials.c.status.is_not(None))
        with self._engine.begin() as connection:
            rows = connection.execute(query.order_by(batches.c.number, trials.c.position)).all()
            windows = connection.execute(
                select(measurements)
                .where(measurements.c.study_id == study.id)
                .order_by(measurements.c.configuration_id, measurements.c.replicate, measurements.c.until_s)
            ).all()
        measured: dict[tuple[int, int, float], tuple[Measurement, Measurement]] = {}
        # Added up window by window: summing each trial's windows again would take quadratic time.
        so_far: dict[tuple[int, int], Measurement] = {}
        for row in windows:
            run = (row.configuration_id, row.replicate)
            window = join_window(row.scalars, row.distributions)
            so_far[run] = cumulative([so_far[run], window]) if run in so_far else window
            measured[(*run, row.until_s)] = so_far[run], window
        nothing = (None, None)
        return [
            trial_record(row, *measured.get((row.configuration_id, row.replicate, row.until_s), nothing))
            for row in rows
        ]

    def spent_s(self, study: StudyRecord, phase: str) -> float:
        """Returns the cost of a phase's recorded trials in seconds of measuring."""
        batches, trials = schema.batches, schema.trials
        query = (
            select(func.sum(trials.c.measured_s))
            .join(batches)
            .where(batches.c.study_id == study.id, batches.c.phase == phase)
        )
        with self._engine.begin() as connection:
            return float(connection.scalar(query) or 0.0)
