import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.servers import DatabaseServer, MariadbServer, PostgresqlServer

from rocktune.engine.worker import WORKER_NAME, find_worker
from rocktune.errors import UserError

BUILDS = Path(__file__).parents[1] / "build"


@pytest.fixture(scope="session")
def real_worker() -> tuple[str, ...]:
    """The command of the real worker; skips only where none is built."""
    try:
        return find_worker()
    except UserError as failure:
        if "ROCKTUNE_WORKER" in os.environ:
            raise
        built = sorted(BUILDS.glob(f"*/{WORKER_NAME}"), key=lambda path: path.stat().st_mtime)
        if not built:
            pytest.skip(str(failure))
        return (str(built[-1]),)


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[DatabaseServer]:
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    server = PostgresqlServer()
    yield server
    server.remove()


@pytest.fixture(scope="session")
def mariadb_server() -> Iterator[DatabaseServer]:
    pytest.importorskip("pymysql", reason="pymysql is not installed")
    server = MariadbServer()
    yield server
    server.remove()
