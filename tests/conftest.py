from collections.abc import Iterator

import pytest
from tests.servers import DatabaseServer, MariadbServer, PostgresqlServer


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
