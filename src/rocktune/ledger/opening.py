"""Finds, opens and upgrades a ledger's database; every failure is one line without passwords."""

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
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, NoSuchModuleError

from rocktune.errors import UserError
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
# What brings a driver with all that it needs, where that is not its own name.
_PACKAGES = {"psycopg": "psycopg[binary]"}
_NONE_THERE = "there is none; 'rocktune tune --ledger ...' makes one"
_BUSY_TIMEOUT_S = 30.0
_CONNECT_TIMEOUT_S = 10


def default_ledger_url() -> str:
    """Returns the URL of the user's own ledger, a SQLite file under their data directory."""
    return f"sqlite:///{platformdirs.user_data_path('rocktune') / 'ledger.sqlite'}"


def masked_url(url: URL) -> str:
    """Writes a URL with every password in it replaced, those among its parameters too."""
    hidden = dict.fromkeys(_secret_parameters(url), "hidden")
    return url.update_query_dict(hidden).render_as_string(hide_password=True)


def _secret_parameters(url: URL) -> list[str]:
    return [name for name in url.query if "pass" in name.lower() or "pwd" in name.lower()]


def _without_passwords(reason: str, url: URL) -> str:
    """Masks the passwords of a URL in what a driver says, as they are and as they are written in URLs."""
    given = [url.password, *(url.query[name] for name in _secret_parameters(url))]
    secrets = {str(secret) for secret in given if secret}
    secrets |= {form(secret) for secret in secrets for form in (quote, quote_plus, partial(quote, safe=""))}
    # The longest first: one may be a part of another.
    for secret in sorted(secrets, key=len, reverse=True):
        reason = reason.replace(secret, "***")
    return reason


def open_database(url: str | None, create: bool) -> Engine:
    """Connects to the ledger's database, with its schema made or brought up to date.

    Args:
        url: a SQLAlchemy URL (`sqlite:///FILE`, `postgresql://...`, `mysql://...`), a plain path of a SQLite
            file, or None for the user's own.
        create: whether to make a ledger where there is none: no SQLite file, or an empty database.

    Raises:
        UserError: the URL is malformed, the database cannot be reached or written, its driver is missing, or
            it holds something else than a ledger that this version knows.
    """
    parsed = _parsed(url or default_ledger_url())
    if parsed.get_backend_name() == "sqlite" and url is None:
        Path(str(parsed.database)).parent.mkdir(parents=True, exist_ok=True)
    if parsed.get_backend_name() == "sqlite" and not create and not Path(str(parsed.database)).exists():
        raise UserError(f"ledger {parsed.database}: {_NONE_THERE}")
    engine = _connected(parsed)
    try:
        _bring_up_to_date(engine, create)
    except UserError:
        engine.dispose()
        raise
    return engine


def _parsed(given: str) -> URL:
    if "://" not in given:
        return URL.create("sqlite", database=str(Path(given).expanduser().absolute()))
    try:
        url = make_url(given)
    except (ArgumentError, ValueError):
        # The text itself might show a password.
        raise UserError(
            "ledger: malformed URL; write sqlite:///FILE or postgresql://USER:PASSWORD@HOST/DATABASE"
        ) from None
    if url.get_backend_name() != "sqlite" and given.count("@") > 1:
        # Whatever follows the first one would be taken for the host, and shown.
        raise UserError("ledger: malformed URL; write an @ in a name or password as %40, a % as %25")
    if url.drivername in _DRIVERS:
        url = url.set(drivername=_DRIVERS[url.drivername])
    if url.get_backend_name() in ("mysql", "mariadb") and not url.database:
        raise UserError(f"ledger {masked_url(url)}: names no database; write one behind the host, after a /")
    if url.get_backend_name() != "sqlite":
        return url
    if not url.database or url.database == ":memory:":
        raise UserError("ledger: a SQLite ledger needs a file, such as sqlite:///ledger.sqlite")
    return url.set(database=str(Path(url.database).expanduser().absolute()))


def _connected(url: URL) -> Engine:
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
        raise UserError(f"ledger: the driver {url.drivername} does not load: {_reason(error)}") from None
    _translate_errors(engine)
    if engine.dialect.name == "sqlite":
        _set_up_sqlite(engine)
    return engine


def _arguments(url: URL) -> dict[str, Any]:
    if url.get_backend_name() == "sqlite":
        return {"connect_args": {"timeout": _BUSY_TIMEOUT_S}}
    arguments: dict[str, Any] = {"pool_pre_ping": True, "isolation_level": "READ COMMITTED"}
    if "connect_timeout" not in url.query:
        arguments["connect_args"] = {"connect_timeout": _CONNECT_TIMEOUT_S}
    return arguments


def _translate_errors(engine: Engine) -> None:
    """Turns whatever the database refuses into one line; violated constraints and bad values stay so."""

    @event.listens_for(engine, "handle_error")
    def _translate(context: ExceptionContext) -> None:
        if not isinstance(context.sqlalchemy_exception, DBAPIError):
            raise context.original_exception
        if isinstance(context.sqlalchemy_exception, IntegrityError) or _is_a_question(context):
            return  # its caller knows what it means
        reason = _without_passwords(_reason(context.original_exception), engine.url)
        raise UserError(f"ledger {masked_url(engine.url)}: {reason}") from None


def _reason(error: BaseException) -> str:
    """Returns what a driver says, on one line."""
    match error.args:
        case (int(number), str(text)):  # as MySQL's drivers put it
            said = f"{text} (error {number})"
        case _:
            said = str(error)
    return " ".join(said.split()) or type(error).__name__


def _is_a_question(context: ExceptionContext) -> bool:
    """Says whether SQLAlchemy asks whether a connection is alive, or a table there; "no" is an error."""
    execution = context.execution_context
    asks_for_table = execution is not None and "skip_user_error_events" in execution.execution_options
    return context.is_pre_ping or asks_for_table


def _set_up_sqlite(engine: Engine) -> None:
    @event.listens_for(engine, "connect")
    def _configure(connection: sqlite3.Connection, _record: Any) -> None:
        # SQLAlchemy says BEGIN below; the driver would leave DDL and reads outside of transactions.
        connection.isolation_level = None
        # In WAL mode a commit then lies in the kernel's page cache, which outlives a killed process. Only a
        # power cut can take the last trials, and never the database's integrity; FULL would add an fsync to
        # every trial.
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("PRAGMA foreign_keys=ON")

    @event.listens_for(engine, "begin")
    def _begin(connection: Any) -> None:
        connection.exec_driver_sql(connection.get_execution_options().get("begin", "BEGIN"))


def writing(engine: Engine) -> Engine:
    """Returns the same database for transactions that write.

    SQLite must know that from the start: a transaction that read first and finds that another study's process
    has written meanwhile could only fail, not wait.
    """
    return engine.execution_options(begin="BEGIN IMMEDIATE")


@contextlib.contextmanager
def snapshot(engine: Engine) -> Iterator[Connection]:
    """Begins a transaction whose reads all see the same state, and that disturbs nobody's writing."""
    with engine.connect() as connection:
        if engine.dialect.name != "sqlite":  # where every transaction is so
            connection.execution_options(isolation_level="REPEATABLE READ")
        with connection.begin():
            yield connection


def _bring_up_to_date(engine: Engine, create: bool) -> None:
    version = _version(engine)
    if version == SCHEMA_VERSION:
        return
    if version is None and not create:
        raise UserError(f"ledger {masked_url(engine.url)}: {_NONE_THERE}")
    with locks_of(engine).hold(SCHEMA_LOCK, wait=True):
        if _version(engine) != SCHEMA_VERSION:
            _use_write_ahead_log(engine)
            _upgrade(engine)


def _version(engine: Engine) -> str | None:
    """Returns the schema's version, None for an empty database."""
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
    """Lets others read a SQLite ledger while a study writes to it; the file remembers."""
    if engine.dialect.name == "sqlite":
        connection = engine.raw_connection()
        connection.cursor().execute("PRAGMA journal_mode=WAL")
        connection.close()


def _upgrade(engine: Engine) -> None:
    # Imported here because it costs as much as opening the ledger ten times, and is rarely needed.
    from alembic import command
    from alembic.config import Config
    from alembic.util import CommandError

    config = Config()
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
