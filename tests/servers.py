"""Private PostgreSQL and MariaDB servers for tests, from the programs of Debian's packages."""

import contextlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import uuid
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar

import pytest
from sqlalchemy import URL, create_engine, make_url, text
from sqlalchemy.exc import OperationalError

USER = "rocktune"
PASSWORD = "p@ss:w/rd%"
"""Has every character that a URL has a use of its own for."""

_PATIENCE_S = 60.0


class DatabaseServer(ABC):
    """A server on a data directory of its own, at a free port of 127.0.0.1, which it keeps. It dies with us.

    Attributes:
        package: the Debian package, or packages, that its programs come from.
        port: where it listens.
    """

    package: ClassVar[str]
    _drivername: ClassVar[str]
    _account: ClassVar[str]
    _own_database: ClassVar[str]
    _stop_signal: ClassVar[signal.Signals]

    def __init__(self) -> None:
        self._programs = self._find_programs()
        if self._programs is None:
            pytest.skip(f"the Debian package {self.package} is not installed")
        self._directory = Path(tempfile.mkdtemp(prefix="rocktune-server-"))
        self._data = self._directory / "data"
        self._log = self._directory / "log"
        self.port = _free_port()
        if os.geteuid() == 0:
            shutil.chown(self._directory, self._account)
        self._make_data()
        self.start()

    @abstractmethod
    def _find_programs(self) -> Path | None:
        """Returns where the server's programs are, None if they are not."""

    @abstractmethod
    def _make_data(self) -> None:
        """Makes the data directory, and a user who may do everything."""

    @abstractmethod
    def _command(self) -> Sequence[str]:
        """Returns the server's command line."""

    _connections: ClassVar[str]
    """Selects the numbers of a database's connections; `{name}` stands for it."""
    _drop: ClassVar[str]
    """Ends the connection of number `{number}`."""

    def drop_connections(self, url: str) -> None:
        """Ends every connection to the database of a URL, as an operator or a firewall may, and waits."""
        query = self._connections.format(name=make_url(url).database)
        for (number,) in self.execute(query):
            # It may end by itself in between.
            with contextlib.suppress(OperationalError):
                self.execute(self._drop.format(number=number))
        deadline = time.monotonic() + _PATIENCE_S
        while self.execute(query):
            assert time.monotonic() < deadline, self._log.read_text()
            time.sleep(0.01)

    def start(self) -> None:
        """Starts the server and waits until it answers."""
        self._process = self._spawned(self._command())
        deadline = time.monotonic() + _PATIENCE_S
        while True:
            try:
                self.execute("SELECT 1")
            except OperationalError:
                assert self._process.poll() is None, self._log.read_text()
                assert time.monotonic() < deadline, self._log.read_text()
                time.sleep(0.05)
            else:
                return

    def stop(self) -> None:
        """Stops the server as an operator would: it ends its connections first."""
        self._process.send_signal(self._stop_signal)
        self._process.wait(_PATIENCE_S)

    def remove(self) -> None:
        """Stops the server and removes its data."""
        self.stop()
        shutil.rmtree(self._directory)

    def url(self, database: str | None) -> URL:
        """Returns the URL of one of its databases."""
        return URL.create(self._drivername, USER, PASSWORD, "127.0.0.1", self.port, database)

    @contextlib.contextmanager
    def database(self) -> Iterator[str]:
        """Makes an empty database, gives its URL, password included, and drops it."""
        name = f"test_{uuid.uuid4().hex}"
        self.execute(f"CREATE DATABASE {name}")
        url = self.url(name).render_as_string(hide_password=False)
        yield url
        self.drop_connections(url)
        self.execute(f"DROP DATABASE {name}")

    def execute(self, statement: str, database: str | None = None) -> list[tuple[object, ...]]:
        """Executes a statement in the server's own database or another one, and returns its rows."""
        engine = create_engine(self.url(database or self._own_database), isolation_level="AUTOCOMMIT")
        try:
            with engine.connect() as connection:
                result = connection.execute(text(statement))
                return [tuple(row) for row in result] if result.returns_rows else []
        finally:
            engine.dispose()

    def _spawned(self, command: Sequence[str]) -> subprocess.Popen[bytes]:
        """Starts a program, under the server's account where we are root, as which these refuse to run."""
        group = str(pwd.getpwnam(self._account).pw_gid)
        as_account = ["--reuid", self._account, "--regid", group, "--clear-groups"]
        dying_with_us = ["setpriv", "--pdeathsig", self._stop_signal.name.removeprefix("SIG")]
        prefix = dying_with_us + (as_account if os.geteuid() == 0 else [])
        # The account may not be allowed to write where we have our temporary files.
        environment = os.environ | {"TMPDIR": str(self._directory)}
        with self._log.open("ab") as log:
            return subprocess.Popen(
                [*prefix, *command],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self._directory,
                env=environment,
            )

    def _run(self, *command: str) -> None:
        assert self._spawned(command).wait(_PATIENCE_S) == 0, self._log.read_text()


class PostgresqlServer(DatabaseServer):
    """PostgreSQL."""

    package = "postgresql"
    _drivername = "postgresql+psycopg"
    _account = "postgres"
    _own_database = "postgres"
    _connections = "SELECT pid FROM pg_stat_activity WHERE datname = '{name}'"
    _drop = "SELECT pg_terminate_backend({number})"
    _stop_signal = signal.SIGINT

    def _find_programs(self) -> Path | None:
        found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
        return found[-1].parent if found else None

    def _make_data(self) -> None:
        password_file = self._directory / "password"
        password_file.write_text(PASSWORD)
        if os.geteuid() == 0:
            shutil.chown(password_file, self._account)
        self._run(
            f"{self._programs}/initdb", "--pgdata", str(self._data), "--username", USER, "--no-sync",
            "--auth", "scram-sha-256", "--pwfile", str(password_file), "--encoding", "UTF8",
        )  # fmt: skip

    def _command(self) -> Sequence[str]:
        settings = [
            "listen_addresses=127.0.0.1",
            f"unix_socket_directories={self._directory}",
            "fsync=off",
        ]
        options = [word for setting in settings for word in ("-c", setting)]
        return [f"{self._programs}/postgres", "-D", str(self._data), "-p", str(self.port), *options]


class MariadbServer(DatabaseServer):
    """MariaDB."""

    package = "mariadb-server-core or mariadb-client-core"
    _drivername = "mariadb+pymysql"
    _account = "nobody"  # mysql comes only with the package that starts a server for the whole machine
    _own_database = "mysql"
    _connections = "SELECT id FROM information_schema.processlist WHERE db = '{name}'"
    _drop = "KILL {number}"
    _stop_signal = signal.SIGTERM

    def _find_programs(self) -> Path | None:
        # my_print_defaults, which mariadb-install-db calls, is in mariadb-client-core.
        needed = ("mariadbd", "mariadb-install-db", "my_print_defaults")
        found = [shutil.which(program, path="/usr/sbin:/usr/bin") for program in needed]
        return Path(str(found[0])).parent if all(found) else None

    def _make_data(self) -> None:
        password = PASSWORD.replace("'", "''")
        self._users = self._directory / "users.sql"
        self._users.write_text(
            f"CREATE USER IF NOT EXISTS '{USER}'@'127.0.0.1' IDENTIFIED BY '{password}';\n"
            f"GRANT ALL ON *.* TO '{USER}'@'127.0.0.1';\n"
        )
        self._run(
            "mariadb-install-db", "--no-defaults", f"--datadir={self._data}", "--skip-test-db",
            "--skip-name-resolve",
        )  # fmt: skip

    def _command(self) -> Sequence[str]:
        return [
            f"{self._programs}/mariadbd", "--no-defaults", f"--datadir={self._data}",
            f"--socket={self._directory}/socket", f"--pid-file={self._directory}/pid",
            "--skip-networking=0", "--bind-address=127.0.0.1", f"--port={self.port}", "--skip-name-resolve",
            f"--init-file={self._users}", "--innodb-flush-log-at-trx-commit=0",
            "--loose-innodb-flush-method=nosync", "--loose-sync-frm=0",
        ]  # fmt: skip


def _free_port() -> int:
    """Returns a port below those that the system gives to outgoing connections, so that it stays free."""
    for port in range(20000 + os.getpid() % 10000, 32768):
        with socket.socket() as candidate, contextlib.suppress(OSError):
            candidate.bind(("127.0.0.1", port))
            return port
    raise AssertionError("no free port")
