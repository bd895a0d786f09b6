"""Locks of the operating system or the database server, which end with their holder, even by kill -9."""

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
"""Number of the lock for upgrading the schema. A study's lock has the study's id as its number, from 1."""


class LockHeldError(Exception):
    """Another process or context holds the lock.

    Attributes:
        holder: the holder in a few words, such as "pid 4711"; "" if unknown.
    """

    def __init__(self, holder: str) -> None:
        super().__init__(holder)
        self.holder = holder


class LockConnection:
    """The database connection that holds a lock. Thread-safe.

    Data that the lock protects is written over this connection. If the connection is lost, so is the lock,
    and no write can happen while another process may hold it.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._one_at_a_time = threading.Lock()
        self._lost = "ledger: the connection was given up in the middle of a query"

    @contextlib.contextmanager
    def begin(self) -> Iterator[Connection]:
        """Begins a transaction and commits it at the end of the context.

        Raises:
            UserError: the connection was lost, now or earlier.
        """
        with self._one_at_a_time:
            # SQLAlchemy would connect again by itself, but the new connection would not hold the lock.
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
        """Returns the error for a write after the lock was lost."""
        return UserError(
            f"{self._lost}; the study's lock is lost with that connection; continue with 'rocktune resume'"
        )

    def release(self, statement: str, parameters: dict[str, object]) -> None:
        """Executes the statement that releases the lock. Never raises.

        If the statement fails, the connection is dropped, and the server then releases the lock.
        """
        if self._connection.invalidated:
            return
        try:
            with self._connection.begin():
                self._connection.execute(text(statement), parameters)
        except UserError:
            self._connection.invalidate()


class Locks(Protocol):
    """The locks of one ledger, identified by numbers. They exclude threads and processes."""

    def hold(self, number: int, *, wait: bool) -> contextlib.AbstractContextManager[LockConnection | None]:
        """Holds a lock during the context.

        Args:
            number: number of the lock. A lock is not reentrant, not even in one thread.
            wait: wait until the holder releases the lock.

        Returns:
            A context manager that yields the connection to write over. It yields None if the lock can be lost
            only by the end of this process, so that any connection is safe.

        Raises:
            LockHeldError: the lock is held and `wait` is false.
        """
        ...


def locks_of(engine: Engine) -> Locks:
    """Returns the locks of the ledger in `engine`'s database."""
    if engine.dialect.name == "sqlite":
        return FileLocks(Path(f"{engine.url.database}-locks"))
    return PostgresqlLocks(engine) if engine.dialect.name == "postgresql" else MysqlLocks(engine)


class FileLocks:
    """Locks of a SQLite ledger: flock on one small file for each lock.

    The files are never removed. Otherwise two processes could each lock an inode of the same name.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    @contextlib.contextmanager
    def hold(self, number: int, *, wait: bool) -> Iterator[None]:
        """See `Locks.hold`."""
        self._directory.mkdir(exist_ok=True)
        # Python opens files close-on-exec, so a worker does not inherit the lock and outlive its driver with
        # it.
        # Opened for appending: truncating here would erase the pid of a holder that we have yet to find.
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
    """Locks of a database server. Each has its own connection, whose end releases the lock."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @contextlib.contextmanager
    def hold(self, number: int, *, wait: bool) -> Iterator[LockConnection]:
        """See `Locks.hold`."""
        parameters = self._parameters(number)
        with self._engine.connect() as connection:
            with connection.begin():
                if not self._acquire(connection, parameters, wait):
                    raise LockHeldError(self._holder(connection, parameters))
            held = LockConnection(connection)
            try:
                yield held
            finally:
                held.release(self._release_statement, parameters)

    _release_statement: str
    """SQL that releases a lock, with the parameters of `_parameters`."""

    @abstractmethod
    def _parameters(self, number: int) -> dict[str, object]:
        """Returns the SQL parameters that identify a lock."""

    @abstractmethod
    def _acquire(self, connection: Connection, parameters: dict[str, object], wait: bool) -> bool:
        """Tries to take a lock, which lasts until it is released or the connection ends; returns success."""

    @abstractmethod
    def _holder(self, connection: Connection, parameters: dict[str, object]) -> str:
        """See `LockHeldError.holder`."""


class PostgresqlLocks(ServerLocks):
    """Locks of PostgreSQL: advisory locks of the session."""

    # The first of the two keys of an advisory lock: the letters "rktn", unlikely in other programs.
    _CLASS = 0x726B746E
    _release_statement = "SELECT pg_advisory_unlock(:class, :number)"

    def _parameters(self, number: int) -> dict[str, object]:
        return {"class": self._CLASS, "number": number}

    def _acquire(self, connection: Connection, parameters: dict[str, object], wait: bool) -> bool:
        # A refused process finds the holder's pid by this name.
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
    """Locks of MySQL and MariaDB: GET_LOCK."""

    _release_statement = "SELECT RELEASE_LOCK(:name)"

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        # These locks belong to the whole server, so their names include a hash of the database's name. A name
        # has at most 64 characters.
        self._prefix = "rocktune-" + hashlib.sha256((engine.url.database or "").encode()).hexdigest()[:16]

    def _parameters(self, number: int) -> dict[str, object]:
        return {"name": f"{self._prefix}-{number}"}

    def _acquire(self, connection: Connection, parameters: dict[str, object], wait: bool) -> bool:
        # GET_LOCK has no endless wait that all versions accept.
        seconds = 3600 if wait else 0
        return bool(connection.scalar(text(f"SELECT GET_LOCK(:name, {seconds})"), parameters))

    def _holder(self, connection: Connection, parameters: dict[str, object]) -> str:
        query = text("SELECT id, host FROM information_schema.processlist WHERE id = IS_USED_LOCK(:name)")
        row = connection.execute(query, parameters).first()
        return "" if row is None else f"the server's connection {row[0]}, from {row[1]}"
