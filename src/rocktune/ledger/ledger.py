"""The experiment store: what was asked of which system under what conditions, and what came back."""

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
    """Opens a ledger, which is made where there is none and upgraded where it is old.

    Args:
        url: a SQLAlchemy URL, a path of a SQLite file, or None for the user's own ledger.
        create: whether to make a ledger where there is none; otherwise that is an error.

    Raises:
        UserError: it cannot be reached, read or written, or is none; one line without passwords.
    """
    return Ledger(open_database(url, create))


class Ledger(TrialStore):
    """Studies with their batches, trials, windows and events.

    Every change is one transaction, which outlives the death of this process once the method has returned.
    Reading is open to everybody; whoever writes to a study holds its `lock`. Usable from several threads.
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
        """Closes the connections. Idempotent."""
        self._engine.dispose()

    # Studies

    def create_study(self, name: str, spec: Mapping[str, Any], engine_version: str = "") -> StudyRecord:
        """Creates a study, or returns the one that has this name and this very specification.

        Args:
            name: 1 to 200 characters.
            spec: JSON; its `workload`, `device` and `scale` make, with the host and the engine's version, the
                experiment: the conditions under which figures compare.
            engine_version: what is measured.

        Raises:
            UserError: the name is taken by a study with another specification, or is no name.
        """
        if not name.strip() or len(name) > _MAX_NAME:
            raise UserError(f"study: a name has 1 to {_MAX_NAME} characters, not {len(name.strip())}")
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
        """Returns a study.

        Raises:
            UserError: there is none of that name; the nearest one is suggested.
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
        """Deletes a study with everything recorded in it; its experiment stays, for others may refer to it.

        Raises:
            UserError: there is none of that name, or it is being run.
        """
        record = self.study(name)
        with self.lock(record), self._writing(record) as connection:
            connection.execute(delete(schema.studies).where(schema.studies.c.id == record.id))

    def has_same(self, study: StudyRecord, other: "Ledger", progress: RowProgress) -> bool | None:
        """Says whether another ledger has the very same study, with all that is recorded in it.

        Args:
            study: one of this ledger.
            other: any other ledger.
            progress: is told the study's name and how many of how many rows are compared.

        Returns:
            None if the other ledger has no study of this name.
        """
        with snapshot(self._engine) as ours, snapshot(other._engine) as theirs:
            return is_same(ours, theirs, study.name, progress)

    def copy_study(self, study: StudyRecord, target: "Ledger", progress: RowProgress) -> None:
        """Copies a study with all that is recorded in it into another ledger, in one transaction.

        Of a study that is being run it copies what is recorded so far.

        Args:
            study: one of this ledger.
            target: any other ledger without a study of this name.
            progress: is told the study's name and how many of how many rows are copied.

        Raises:
            UserError: the target has a study of this name.
        """
        try:
            with snapshot(self._engine) as reading, target._writer.begin() as writing:
                copy_study(reading, writing, study.name, progress)
        except IntegrityError:
            raise UserError(f"study '{study.name}': {target.url} has one of this name already") from None

    def check(self, spec_problem: SpecProblem, progress: RowProgress) -> Check:
        """Reads everything and says what is not whole; nothing is changed.

        Args:
            spec_problem: says what is wrong with a study's specification, None if nothing is.
            progress: is told the present study's name, and how many of how many windows have been read.
        """
        with snapshot(self._engine) as connection:
            return check(connection, spec_problem, progress)

    @contextlib.contextmanager
    def lock(self, study: StudyRecord) -> Iterator[None]:
        """Holds the right to write to a study; whoever dies loses it, whatever killed them.

        Where it is lost with its connection to a server, every write to the study raises a UserError from
        then on; it is for the caller to end, and to take the lock afresh.

        Raises:
            UserError: somebody else holds it; says who where that is known.
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
        """Says how far a study is, in at most 32 characters."""
        self._update_study(study, state=state)

    def set_outcome(self, study: StudyRecord, outcome: Mapping[str, Any]) -> None:
        """Stores what came out of a study, JSON; an earlier outcome is replaced."""
        self._update_study(study, outcome=dict(outcome))

    def outcome(self, study: StudyRecord) -> dict[str, Any] | None:
        """Returns what `set_outcome` stored."""
        with self._engine.begin() as connection:
            outcome = connection.scalar(
                select(schema.studies.c.outcome).where(schema.studies.c.id == study.id)
            )
        return None if outcome is None else dict(outcome)

    def add_event(self, study: StudyRecord, kind: str, payload: Mapping[str, Any]) -> None:
        """Records something that is no trial; `kind` in at most 64 characters, `payload` JSON."""
        row = {"study_id": study.id, "kind": kind, "payload": dict(payload), "recorded_at": datetime.now(UTC)}
        with self._writing(study) as connection:
            connection.execute(insert(schema.events).values(row))

    def events(self, study: StudyRecord, kind: str | None = None) -> list[EventRecord]:
        """Returns a study's events in order, of one kind or of all."""
        query = select(schema.events).where(schema.events.c.study_id == study.id).order_by(schema.events.c.id)
        if kind is not None:
            query = query.where(schema.events.c.kind == kind)
        with self._engine.begin() as connection:
            return [EventRecord(row.kind, row.payload, row.recorded_at) for row in connection.execute(query)]

    def _update_study(self, study: StudyRecord, **values: Any) -> None:
        with self._writing(study) as connection:
            connection.execute(update(schema.studies).where(schema.studies.c.id == study.id).values(values))


def _study_row(connection: Connection, name: str) -> Row[Any] | None:
    return connection.execute(STUDIES.where(schema.studies.c.name == name)).first()


def _first_difference(recorded: Mapping[str, Any], given: Mapping[str, Any]) -> str:
    for name in sorted({*recorded, *given}):
        before, now = (repr(spec.get(name, "nothing")) for spec in (recorded, given))
        if before != now:
            short = all(len(text) <= 40 for text in (before, now))
            return f"{name} was {before}, now {now}" if short else f"{name} differs"
    return "they differ"
