"""The ledger: the database of studies, their trials and their measurements."""

import contextlib
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Self

from sqlalchemy import Connection, Engine, Row, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from rocktune.errors import UserError, unknown_name
from rocktune.ledger import schema
from rocktune.ledger.checking import Check, check
from rocktune.ledger.copying import copy_study, is_same
from rocktune.ledger.locking import LockHeldError, locks_of
from rocktune.ledger.opening import masked_url, open_database, snapshot
from rocktune.ledger.records import EventRecord, StudyRecord
from rocktune.ledger.rows import STUDIES, RowProgress, digest_of, experiment_id, study_record
from rocktune.ledger.study_check import SpecProblem
from rocktune.ledger.trial_store import TrialStore

_MAX_NAME = 200


def open_ledger(url: str | None = None, create: bool = True) -> "Ledger":
    """Opens a ledger. Makes it if it does not exist, and upgrades an old schema.

    Args:
        url: a SQLAlchemy URL, the path of a SQLite file, or None for the user's own ledger.
        create: make a ledger if none exists; otherwise a missing ledger is an error.

    Raises:
        UserError: the database cannot be reached, read or written, or is not a ledger. The message is one
            line without passwords.
    """
    return Ledger(open_database(url, create))


class Ledger(TrialStore):
    """Studies with their batches, trials, windows and events. Thread-safe.

    Each method that writes is one transaction. Once it has returned, the change survives a kill of this
    process. Anyone may read; writing to a study requires its `lock`.

    Attributes:
        url: the ledger's URL with passwords masked.
    """

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self._locks = locks_of(engine)
        self.url: str = masked_url(engine.url)

    def __repr__(self) -> str:
        return f"Ledger({self.url!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections to the database. Idempotent."""
        self._engine.dispose()

    # Studies

    def create_study(self, name: str, spec: Mapping[str, Any], engine_version: str = "") -> StudyRecord:
        """Creates a study, or returns the existing study of this name if its specification is equal.

        Args:
            name: name of the study, 1 to 200 characters.
            spec: the specification as JSON. Its `workload`, `device` and `scale` identify the experiment,
                together with the host and the engine's version.
            engine_version: the system under test, such as "RocksDB 7.8.3, assertions on".

        Raises:
            UserError: a study with another specification has this name, or the name is too short or too long.
        """
        if not name.strip() or len(name) > _MAX_NAME:
            raise UserError(f"study: a name has 1 to {_MAX_NAME} characters, not {len(name.strip())}")
        # Another process may create the same study at the same moment; whoever comes second reads it below.
        with contextlib.suppress(IntegrityError), self._writer.begin() as connection:
            if _study_row(connection, name) is None:
                connection.execute(
                    insert(schema.studies).values(
                        name=name,
                        spec=dict(spec),
                        state="created",
                        created_at=datetime.now(UTC),
                        experiment_id=experiment_id(connection, spec, engine_version),
                    )
                )
        record = self.study(name)
        if digest_of(dict(record.spec)) != digest_of(dict(spec)):
            raise UserError(
                f"study '{name}': the name is taken by a study with other settings"
                f" ({_first_difference(record.spec, spec)}); choose another name or delete that study"
            )
        return record

    def study(self, name: str) -> StudyRecord:
        """Returns a study by its name.

        Raises:
            UserError: no study has that name. The message suggests the nearest name.
        """
        with self._engine.begin() as connection:
            row = _study_row(connection, name)
        if row is None:
            names = [record.name for record in self.studies()]
            raise (
                unknown_name("study", name, names)
                if names
                else UserError(f"ledger {self.url}: has no study yet")
            )
        return study_record(row)

    def studies(self) -> list[StudyRecord]:
        """Returns all studies, oldest first."""
        with self._engine.begin() as connection:
            return [study_record(row) for row in connection.execute(STUDIES.order_by(schema.studies.c.id))]

    def delete_study(self, name: str) -> None:
        """Deletes a study with all its records.

        Its row of `experiments` stays, because other studies may use it.

        Raises:
            UserError: no study has that name, or another process runs it.
        """
        record = self.study(name)
        with self.lock(record), self._writing(record) as connection:
            connection.execute(delete(schema.studies).where(schema.studies.c.id == record.id))

    def has_same(self, study: StudyRecord, other: "Ledger", progress: RowProgress) -> bool | None:
        """Returns whether another ledger has an identical study, with all its records.

        Args:
            study: a study of this ledger.
            other: another ledger.
            progress: is called with the study's name, the rows compared, and all rows.

        Returns:
            True or False; None if the other ledger has no study of this name.
        """
        with snapshot(self._engine) as ours, snapshot(other._engine) as theirs:
            return is_same(ours, theirs, study.name, progress)

    def copy_study(self, study: StudyRecord, target: "Ledger", progress: RowProgress) -> None:
        """Copies a study with all its records into another ledger, in one transaction.

        If the study is being run, the copy holds the trials that are recorded by now.

        Args:
            study: a study of this ledger.
            target: another ledger without a study of this name.
            progress: is called with the study's name, the rows copied, and all rows.

        Raises:
            UserError: the target has a study of this name.
        """
        try:
            with snapshot(self._engine) as reading, target._writer.begin() as writing:
                copy_study(reading, writing, study.name, progress)
        except IntegrityError:
            raise UserError(
                f"study '{study.name}': ledger {target.url} already has a study of this name"
            ) from None

    def check(self, spec_problem: SpecProblem, progress: RowProgress) -> Check:
        """Reads the whole ledger and returns its problems; changes nothing.

        Args:
            spec_problem: see `SpecProblem`.
            progress: is called with the present study's name, the windows read, and the windows in the
                ledger.
        """
        with snapshot(self._engine) as connection:
            return check(connection, spec_problem, progress)

    @contextlib.contextmanager
    def lock(self, study: StudyRecord) -> Iterator[None]:
        """Holds a study's lock during the context, which is required for writing to the study.

        A process that dies loses its locks, even by kill -9. If the connection to a database server is lost,
        the lock is lost too: every later write to the study in this context raises UserError, and the caller
        has to leave the context and take the lock again.

        Raises:
            UserError: another process holds the lock. The message names it if it is known.
        """
        with contextlib.ExitStack() as stack:
            try:
                held = stack.enter_context(self._locks.hold(study.id, wait=False))
            except LockHeldError as held:
                holder = f" ({held.holder})" if held.holder else ""
                raise UserError(f"study '{study.name}' is being run by another process{holder}") from None
            if held is not None:
                self._lock_connections[study.id] = held
                stack.callback(self._lock_connections.pop, study.id)
            yield

    def set_state(self, study: StudyRecord, state: str) -> None:
        """Sets the state of a study, such as "search"; at most 32 characters."""
        self._update_study(study, state=state)

    def set_outcome(self, study: StudyRecord, outcome: Mapping[str, Any]) -> None:
        """Stores the outcome of a study as JSON and replaces an earlier one."""
        self._update_study(study, outcome=dict(outcome))

    def outcome(self, study: StudyRecord) -> dict[str, Any] | None:
        """Returns the stored outcome; None if there is none."""
        with self._engine.begin() as connection:
            outcome = connection.scalar(
                select(schema.studies.c.outcome).where(schema.studies.c.id == study.id)
            )
        return None if outcome is None else dict(outcome)

    def add_event(self, study: StudyRecord, kind: str, payload: Mapping[str, Any]) -> None:
        """Records an event of a study.

        Args:
            study: the study, whose lock the caller holds.
            kind: kind of the event, at most 64 characters.
            payload: data of the event, JSON.
        """
        row = {"study_id": study.id, "kind": kind, "payload": dict(payload), "recorded_at": datetime.now(UTC)}
        with self._writing(study) as connection:
            connection.execute(insert(schema.events).values(row))

    def events(self, study: StudyRecord, kind: str | None = None) -> list[EventRecord]:
        """Returns a study's events in the order of recording: those of one kind, or all if `kind` is None."""
        query = select(schema.events).where(schema.events.c.study_id == study.id).order_by(schema.events.c.id)
        if kind is not None:
            query = query.where(schema.events.c.kind == kind)
        with self._engine.begin() as connection:
            return [EventRecord(row.kind, row.payload, row.recorded_at) for row in connection.execute(query)]

    def _update_study(self, study: StudyRecord, **values: Any) -> None:
        """Sets columns of a study's row."""
        with self._writing(study) as connection:
            connection.execute(update(schema.studies).where(schema.studies.c.id == study.id).values(values))


def _study_row(connection: Connection, name: str) -> Row[Any] | None:
    """Returns the row of a study by its name; None if there is none."""
    return connection.execute(STUDIES.where(schema.studies.c.name == name)).first()


def _first_difference(recorded: Mapping[str, Any], given: Mapping[str, Any]) -> str:
    """Returns a text on the first setting that differs."""
    for name in sorted({*recorded, *given}):
        before, now = (repr(spec.get(name, "nothing")) for spec in (recorded, given))
        if before != now:
            short = all(len(text) <= 40 for text in (before, now))
            return f"{name} was {before}, now {now}" if short else f"{name} differs"
    return "they differ"
