"""Locks of the operating system or the database server, lost with their holder, even by kill -9."""

import contextlib
import fcntl
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from sqlalchemy import Connection, Engine, text

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


class Locks(Protocol):
    """The locks of one ledger, by number. Safe to use from several threads and processes."""

    def hold(self, number: int, *, wait: bool) -> contextlib.AbstractContextManager[None]:
        """Holds a lock while the context lasts.

        Args:
            number: which; not reentrant, not even in one process.
            wait: whether to wait for its holder.

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


class PostgresqlLocks:
    """Advisory locks, each on a connection of its own, which the server ends with its client."""

    # The first of the lock's two keys: the letters "rktn", to stay clear of other programs' locks.
    _CLASS = 0x726B746E

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @contextlib.contextmanager
    def hold(self, number: int, *, wait: bool) -> Iterator[None]:
        """See `Locks.hold`."""
        keys = {"class": self._CLASS, "number": number}
        with self._engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(
                text("SELECT set_config('application_name', :name, false)"),
                {"name": f"rocktune pid {os.getpid()}"},
            )
            if wait:
                connection.execute(text("SELECT pg_advisory_lock(:class, :number)"), keys)
            elif not connection.scalar(text("SELECT pg_try_advisory_lock(:class, :number)"), keys):
                raise LockHeldError(self._holder(connection, keys))
            try:
                yield
            finally:
                connection.execute(text("SELECT pg_advisory_unlock(:class, :number)"), keys)

    def _holder(self, connection: Connection, keys: dict[str, int]) -> str:
        query = text(
            "SELECT a.application_name, host(a.client_addr)"
            " FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid"
            " WHERE l.locktype = 'advisory' AND l.granted AND l.classid = :class AND l.objid = :number"
            " AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())"
        )
        row = connection.execute(query, keys).first()
        if row is None:
            return ""
        return str(row[0]).removeprefix("rocktune ") + (f" on {row[1]}" if row[1] else "")


class MysqlLocks:
    """GET_LOCK of MySQL and MariaDB, each on its own connection, which the server ends with its client."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        # Such locks belong to the server, not to a database, and their names end at 64 characters.
        self._prefix = "rocktune-" + hashlib.sha256((engine.url.database or "").encode()).hexdigest()[:16]

    @contextlib.contextmanager
    def hold(self, number: int, *, wait: bool) -> Iterator[None]:
        """See `Locks.hold`."""
        name = {"name": f"{self._prefix}-{number}"}
        seconds = 3600 if wait else 0
        with self._engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            if connection.scalar(text(f"SELECT GET_LOCK(:name, {seconds})"), name) != 1:
                holder = connection.scalar(text("SELECT IS_USED_LOCK(:name)"), name)
                raise LockHeldError(f"the server's connection {holder}" if holder else "")
            try:
                yield
            finally:
                connection.scalar(text("SELECT RELEASE_LOCK(:name)"), name)
