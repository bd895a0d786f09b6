"""Finds, opens and upgrades a ledger's database. Failures are messages of one line without passwords."""

import contextlib
import sqlite3
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import platformdirs
from sqlalchemy import URL, Connection, Engine, create_engine, event, inspect, make_url, text
from sqlalchemy.engine import ExceptionContext
from sqlalchemy.exc import (
    ArgumentError,
    DBAPIError,
    IntegrityError,
    InterfaceError,
    NoSuchModuleError,
    OperationalError,
)

from rocktune.errors import TransientError, UserError
from rocktune.ledger.locking import SCHEMA_LOCK, locks_of
from rocktune.ledger.schema import SCHEMA_VERSION, VERSION_TABLE, to_json

MIGRATIONS = Path(__file__).parent / "migrations"

_DRIVERS = {
    "sqlite": "sqlite",
    "postgresql": "postgresql+psycopg",
    "postgres": "postgresql+psycopg",
    "mysql": "mysql+pymysql",
    "mariadb": "mariadb+pymysql",
}
# The package to install for a driver, if it is not named like the driver.
_PACKAGES = {"psycopg": "psycopg[binary]"}
_MISSING = "does not exist; 'rocktune tune --ledger ...' creates it"
_BUSY_TIMEOUT_S = 30.0
_CONNECT_TIMEOUT_S = 10


def default_ledger_url() -> str:
    """Returns the URL of the user's own ledger, a SQLite file in their data directory."""
    return f"sqlite:///{platformdirs.user_data_path('rocktune') / 'ledger.sqlite'}"


def masked_url(url: URL) -> str:
    """Returns a URL as text with all passwords masked, also those in its parameters."""
    hidden = dict.fromkeys(_secret_parameters(url), "hidden")
    return url.update_query_dict(hidden).render_as_string(hide_password=True)


def _secret_parameters(url: URL) -> list[str]:
    """Returns the names of a URL's parameters that hold passwords."""
    return [name for name in url.query if "pass" in name.lower() or "pwd" in name.lower()]


def _without_passwords(reason: str, url: URL) -> str:
    """Returns a driver's message with the URL's passwords masked, in plain and in URL-quoted form."""
    given = [url.password, *(url.query[name] for name in _secret_parameters(url))]
    secrets = {str(secret) for secret in given if secret}
    secrets |= {form(secret) for secret in secrets for form in (quote, quote_plus, partial(quote, safe=""))}
    # The longest first, because one secret may be a part of another.
    for secret in sorted(secrets, key=len, reverse=True):
        reason = reason.replace(secret, "***")
    return reason


def open_database(url: str | None, create: bool) -> Engine:
    """Connects to the ledger's database and creates or upgrades its schema.

    Args:
        url: a SQLAlchemy URL (`sqlite:///FILE`, `postgresql://...`, `mysql://...`), the path of a SQLite
            file, or None for the user's own ledger.
        create: create a ledger if the SQLite file is missing or the database is empty.

    Raises:
        UserError: the URL is malformed, the database cannot be reached or written, its driver is missing, or
            it is not a ledger that this version knows.
    """
    if url is not None and not url.strip():
        raise UserError("ledger: the URL is empty; give one, or leave it out for your own ledger")
    parsed = _parsed(default_ledger_url() if url is None else url)
    if parsed.get_backend_name() == "sqlite" and url is None:
        Path(str(parsed.database)).parent.mkdir(parents=True, exist_ok=True)
    if parsed.get_backend_name() == "sqlite" and not create and not Path(str(parsed.database)).exists():
        raise UserError(f"ledger {parsed.database}: {_MISSING}")
    engine = _connected(parsed)
    try:
        _bring_up_to_date(engine, create)
    except UserError:
        engine.dispose()
        raise
    return engine


def _parsed(given: str) -> URL:
    """Returns the URL that a user's text stands for; raises UserError if it is malformed."""
    if "://" not in given:
        return URL.create("sqlite", database=str(Path(given).expanduser().absolute()))
    try:
        url = make_url(given)
    except (ArgumentError, ValueError):
        # The message must not repeat the text, which may contain a password.
        raise UserError(
            "ledger: malformed URL; write sqlite:///FILE or postgresql://USER:PASSWORD@HOST/DATABASE"
        ) from None
    if url.get_backend_name() != "sqlite" and given.count("@") > 1:
        # The text after the first @ would be taken for the host and shown, although it may be a password.
        raise UserError("ledger: malformed URL; write an @ in a name or password as %40, a % as %25")
    if url.drivername in _DRIVERS:
        url = url.set(drivername=_DRIVERS[url.drivername])
    if url.get_backend_name() in ("mysql", "mariadb") and not url.database:
        raise UserError(f"ledger {masked_url(url)}: names no database; write its name after the host and a /")
    if url.get_backend_name() != "sqlite":
        return url
    if not url.database or url.database == ":memory:":
        raise UserError("ledger: a SQLite ledger needs a file, such as sqlite:///ledger.sqlite")
    return url.set(database=str(Path(url.database).expanduser().absolute()))


def _connected(url: URL) -> Engine:
    """Returns an engine for a URL; raises UserError if its driver is missing."""
    if url.get_backend_name() == "sqlite" and not Path(str(url.database)).parent.is_dir():
        raise UserError(f"ledger: the directory {Path(str(url.database)).parent} does not exist")
    try:
        engine = create_engine(url, json_serializer=to_json, **_arguments(url))
    except NoSuchModuleError:
        raise UserError(
            f"ledger: unknown kind of database '{url.drivername}'; use sqlite, postgresql, mysql or mariadb"
        ) from None
    except ModuleNotFoundError as error:
        package = _PACKAGES.get(str(error.name), error.name)
        raise UserError(
            f"ledger: {url.get_backend_name()} needs the Python package '{package}'; install it with pip"
        ) from None
    except ImportError as error:
        raise UserError(f"ledger: the driver {url.drivername} cannot be loaded: {_reason(error)}") from None
    _translate_errors(engine)
    if engine.dialect.name == "sqlite":
        _set_up_sqlite(engine)
    return engine


def _arguments(url: URL) -> dict[str, Any]:
    """Returns the arguments with which SQLAlchemy connects to a kind of database."""
    if url.get_backend_name() == "sqlite":
        return {"connect_args": {"timeout": _BUSY_TIMEOUT_S}}
    # Servers drop idle connections, and a study can measure for minutes between two records. The servers'
    # default isolation levels differ.
    arguments: dict[str, Any] = {"pool_pre_ping": True, "isolation_level": "READ COMMITTED"}
    if "connect_timeout" not in url.query:
        arguments["connect_args"] = {"connect_timeout": _CONNECT_TIMEOUT_S}
    return arguments


def _translate_errors(engine: Engine) -> None:
    """Turns errors of the database into UserErrors, except violated constraints and bad values."""

    @event.listens_for(engine, "handle_error")
    def _translate(context: ExceptionContext) -> None:
        if not isinstance(context.sqlalchemy_exception, DBAPIError):
            raise context.original_exception
        if isinstance(context.sqlalchemy_exception, IntegrityError) or _is_a_question(context):
            return  # the caller handles it
        reason = _without_passwords(_reason(context.original_exception), engine.url)
        # Such as a server that does not answer, a full disk, or a lock that is held for too long.
        may_pass = isinstance(context.sqlalchemy_exception, OperationalError | InterfaceError)
        kind = TransientError if may_pass else UserError
        raise kind(f"ledger {masked_url(engine.url)}: {reason}") from None


def _reason(error: BaseException) -> str:
    """Returns a driver's message on one line."""
    match error.args:
        case (int(number), str(text)):  # the form of MySQL's drivers
            message = f"{text} (error {number})"
        case _:
            message = str(error)
    return " ".join(message.split()) or type(error).__name__


def _is_a_question(context: ExceptionContext) -> bool:
    """Returns whether an error only answers a probe of SQLAlchemy for a live connection or a table."""
    execution = context.execution_context
    asks_for_table = execution is not None and "skip_user_error_events" in execution.execution_options
    return context.is_pre_ping or asks_for_table


def _set_up_sqlite(engine: Engine) -> None:
    """Sets up transactions and durability of SQLite's connections."""

    @event.listens_for(engine, "connect")
    def _configure(connection: sqlite3.Connection, _record: Any) -> None:
        # We begin transactions ourselves, below: the driver would not begin one for DDL and reads.
        connection.isolation_level = None
        # In WAL mode a commit is then in the kernel's page cache, which survives a kill of this process. A
        # power cut can lose the last trials, but never damages the database. FULL would add an fsync to each
        # trial.
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("PRAGMA foreign_keys=ON")

    @event.listens_for(engine, "begin")
    def _begin(connection: Any) -> None:
        connection.exec_driver_sql(connection.get_execution_options().get("begin", "BEGIN"))


def writing(engine: Engine) -> Engine:
    """Returns an engine for writing transactions on the same database.

    SQLite has to know at the start that a transaction writes. A transaction that reads first and then writes
    fails, instead of waiting, if another process has written in between.
    """
    return engine.execution_options(begin="BEGIN IMMEDIATE")


@contextlib.contextmanager
def snapshot(engine: Engine) -> Iterator[Connection]:
    """Begins a snapshot transaction: all its reads see the same state, and it does not block writers."""
    with engine.connect() as connection:
        if engine.dialect.name != "sqlite":  # whose transactions are all snapshots
            connection.execution_options(isolation_level="REPEATABLE READ")
        with connection.begin():
            yield connection


def _bring_up_to_date(engine: Engine, create: bool) -> None:
    """Creates or upgrades the schema if needed, under a lock against other processes that do the same."""
    version = _version(engine)
    if version == SCHEMA_VERSION:
        return
    if version is None and not create:
        raise UserError(f"ledger {masked_url(engine.url)}: {_MISSING}")
    with locks_of(engine).hold(SCHEMA_LOCK, wait=True):
        if _version(engine) != SCHEMA_VERSION:
            _use_write_ahead_log(engine)
            _upgrade(engine)


def _version(engine: Engine) -> str | None:
    """Returns the schema's version; None for an empty database.

    Raises:
        UserError: the database has tables of another program.
    """
    tables = inspect(engine).get_table_names()
    if VERSION_TABLE in tables:
        with engine.connect() as connection:
            return str(connection.scalar(text(f"SELECT version_num FROM {VERSION_TABLE}")))
    if tables:
        raise UserError(
            f"ledger {masked_url(engine.url)}: this database belongs to another program (it has a table "
            f"'{sorted(tables)[0]}'); give rocktune one of its own"
        )
    return None


def _use_write_ahead_log(engine: Engine) -> None:
    """Lets other processes read a SQLite ledger while a study writes to it.

    The setting is kept in the file.
    """
    if engine.dialect.name == "sqlite":
        connection = engine.raw_connection()
        connection.cursor().execute("PRAGMA journal_mode=WAL")
        connection.close()


def _upgrade(engine: Engine) -> None:
    """Runs all migrations that a database lacks."""
    # Imported here because it takes ten times as long as opening a ledger, and is rarely needed.
    from alembic import command
    from alembic.config import Config
    from alembic.util import CommandError

    config = Config()
    # Alembic's configuration interpolates %.
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    with writing(engine).begin() as connection:
        config.attributes["connection"] = connection
        try:
            command.upgrade(config, "head")
        except CommandError:
            raise UserError(
                f"ledger {masked_url(engine.url)}: written by a newer rocktune;"
                " upgrade rocktune or give another ledger"
            ) from None
