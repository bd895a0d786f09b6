"""Locks of the operating system or the database server, lost with their holder, even by kill -9."""

import contextlib
import fcntl
import hashlib
import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from sqlalchemy import Connection, Engine, text

from rocktune.errors import UserError

SCHEMA_LOCK = 0
"""The number of the lock under which the schema is upgraded; a study's lock has the study's id, from 1."""


class LockHeldError(Exception):
    """Somebody else holds the lock.

    Attributes:
        holder: who, in a few words ("pid 4711"); "" if that cannot be found out.
    """

    def __init__(self, holder: str) -> None:
        super().__init__(holder)
        self.holder = holder


class LockConnection:
    """The connection that a lock lives and dies with. Usable from several threads.

    What the lock guards is written over it, so that a write cannot happen once the lock is lost and somebody
    else may hold it.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._one_at_a_time = threading.Lock()
        self._lost = "ledger: the connection was given up in the middle of a query"

    @contextlib.contextmanager
    def begin(self) -> Iterator[Connection]:
        """Begins a transaction, which is committed at the end of the context.

        Raises:
            UserError: the connection is lost, now or since long.
        """
        with self._one_at_a_time:
            # SQLAlchemy would connect again, but the new connection would not have the lock.
            if self._connection.invalidated:
                raise self._lock_lost()
            try:
                with self._connection.begin():
                    yield self._connection
            except UserError as error:
                if not self._connection.invalidated:
                    raise
                self._lost = str(error)
                raise self._lock_lost() from None

    def _lock_lost(self) -> UserError:
        return UserError(
            f"{self._lost}; the study's lock is lost with that connection; 'rocktune resume' goes on"
        )

    def let_go(self, statement: str, parameters: dict[str, object]) -> None:
        """Executes what gives the lock back. Never fails: the server does it when the connection ends."""
        if self._connection.invalidated:
            return
        try:
            with self._connection.begin():
                self._connection.execute(text(statement), parameters)
        except UserError:
            self._connection.invalidate()


class Locks(Protocol):
    """The locks of one ledger, by number. Safe to use from several threads and processes."""

    def hold(self, number: int, *, wait: bool) -> contextlib.AbstractContextManager[LockConnection | None]:
        """Holds a lock while the context lasts.

        Args:
            number: which; not reentrant, not even in one process.
            wait: whether to wait for its holder.

        Returns:
            What to write over; None where a lock can be lost only with the whole process.

        Raises:
            LockHeldError: it is held and `wait` is false.
        """
        ...


def locks_of(engine: Engine) -> Locks:
    """Returns the locks for a ledger in `engine`'s database."""
    if engine.dialect.name == "sqlite":
        return FileLocks(Path(f"{engine.url.database}-locks"))
    return PostgresqlLocks(engine) if engine.dialect.name == "postgresql" else MysqlLocks(engine)


class FileLocks:
    """flock on one small file per lock. Files stay: with one removed, two processes could hold two inodes."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    @contextlib.contextmanager
    def hold(self, number: int, *, wait: bool) -> Iterator[None]:
        """See `Locks.hold`."""
        self._directory.mkdir(exist_ok=True)
        # Python opens files close-on-exec, so that no child process keeps the lock of a killed parent.
        with (self._directory / f"{number}.lock").open("a+") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            except BlockingIOError:
                file.seek(0)
                pid = file.read().strip()
                raise LockHeldError(f"pid {pid}" if pid else "") from None
            file.truncate(0)
            file.write(f"{os.getpid()}\n")
            file.flush()
            yield


class ServerLocks(ABC):
    """Locks of a database server, each on a connection of its own, which the server ends with its client."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @contextlib.contextmanager
    def hold(self, number: int, *, wait: bool) -> Iterator[LockConnection]:
        """See `Locks.hold`."""
        parameters = self._parameters(number)
        with self._engine.connect() as connection:
            with connection.begin():
                if not self._taken(connection, parameters, wait):
                    raise LockHeldError(self._holder(connection, parameters))
            held = LockConnection(connection)
            try:
                yield held
            finally:
                held.let_go(self._giving_back, parameters)

    _giving_back: str

    @abstractmethod
    def _parameters(self, number: int) -> dict[str, object]:
        """Returns what a lock is called."""

    @abstractmethod
    def _taken(self, connection: Connection, parameters: dict[str, object], wait: bool) -> bool:
        """Takes a lock until the connection ends, if it can be had."""

    @abstractmethod
    def _holder(self, connection: Connection, parameters: dict[str, object]) -> str:
        """See `LockHeldError.holder`."""


class PostgresqlLocks(ServerLocks):
    """Advisory locks."""

    # The first of the lock's two keys: the letters "rktn", to stay clear of other programs' locks.
    _CLASS = 0x726B746E
    _giving_back = "SELECT pg_advisory_unlock(:class, :number)"

    def _parameters(self, number: int) -> dict[str, object]:
        return {"class": self._CLASS, "number": number}

    def _taken(self, connection: Connection, parameters: dict[str, object], wait: bool) -> bool:
        name = {"name": f"rocktune pid {os.getpid()}"}
        connection.execute(text("SELECT set_config('application_name', :name, false)"), name)
        if wait:
            connection.execute(text("SELECT pg_advisory_lock(:class, :number)"), parameters)
            return True
        return bool(connection.scalar(text("SELECT pg_try_advisory_lock(:class, :number)"), parameters))

    def _holder(self, connection: Connection, parameters: dict[str, object]) -> str:
        query = text(
            "SELECT a.application_name, host(a.client_addr)"
            " FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid"
            " WHERE l.locktype = 'advisory' AND l.granted AND l.classid = :class AND l.objid = :number"
            " AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())"
        )
        row = connection.execute(query, parameters).first()
        if row is None:
            return ""
        return str(row[0]).removeprefix("rocktune ") + (f" on {row[1]}" if row[1] else "")


class MysqlLocks(ServerLocks):
    """GET_LOCK of MySQL and MariaDB."""

    _giving_back = "SELECT RELEASE_LOCK(:name)"

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        # Such locks belong to the server, not to a database, and their names end at 64 characters.
        self._prefix = "rocktune-" + hashlib.sha256((engine.url.database or "").encode()).hexdigest()[:16]

    def _parameters(self, number: int) -> dict[str, object]:
        return {"name": f"{self._prefix}-{number}"}

    def _taken(self, connection: Connection, parameters: dict[str, object], wait: bool) -> bool:
        seconds = 3600 if wait else 0
        return bool(connection.scalar(text(f"SELECT GET_LOCK(:name, {seconds})"), parameters))

    def _holder(self, connection: Connection, parameters: dict[str, object]) -> str:
        query = text("SELECT id, host FROM information_schema.processlist WHERE id = IS_USED_LOCK(:name)")
        row = connection.execute(query, parameters).first()
        return "" if row is None else f"the server's connection {row[0]}, from {row[1]}"
