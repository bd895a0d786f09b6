import pytest
from sqlalchemy import make_url
from tests.ledger.server_cases import ServerLedger, refusal
from tests.servers import DatabaseServer


class TestPostgresql(ServerLedger):
    driver = "psycopg"

    @pytest.fixture
    def server(self, postgresql_server: DatabaseServer) -> DatabaseServer:
        return postgresql_server

    def test_a_missing_database_is_named(self, ledger_url: str) -> None:
        # Without a name PostgreSQL takes the user's.
        assert 'database "rocktune" does not exist' in refusal(make_url(ledger_url).set(database=""))
