import os
import uuid
from collections.abc import Iterator

import pytest
from sqlalchemy import create_engine, make_url, text

from rocktune.testing.ledgers import LedgerConformance

URL = os.environ.get("ROCKTUNE_TEST_POSTGRESQL_URL", "")


@pytest.mark.skipif(
    not URL, reason="PostgreSQL: set ROCKTUNE_TEST_POSTGRESQL_URL, of a user who may create databases"
)
class TestPostgresql(LedgerConformance):
    @pytest.fixture
    def ledger_url(self) -> Iterator[str]:
        url = make_url(URL).set(drivername="postgresql+psycopg")
        server = create_engine(url, isolation_level="AUTOCOMMIT")
        name = f"rocktune_test_{uuid.uuid4().hex}"
        with server.connect() as connection:
            connection.execute(text(f"CREATE DATABASE {name}"))
            yield url.set(database=name).render_as_string(hide_password=False)
            connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
        server.dispose()
