import pytest
from sqlalchemy import make_url
from tests.ledger.server_cases import ServerLedger, refusal
from tests.servers import DatabaseServer

from rocktune.ledger import open_ledger
from rocktune.ledger.schema import VERSION_TABLE


class TestMariadb(ServerLedger):
    driver = "pymysql"

    @pytest.fixture
    def server(self, mariadb_server: DatabaseServer) -> DatabaseServer:
        return mariadb_server

    def holder(self, pid: int) -> str:
        # The server knows its clients' addresses, but not their processes.
        return r"the server's connection \d+, from 127\.0\.0\.1:\d+"

    def test_a_url_without_a_database(self, ledger_url: str) -> None:
        assert "names no database" in refusal(make_url(ledger_url).set(database=""))

    def test_mysql_in_a_url_means_the_same(self, ledger_url: str) -> None:
        url = make_url(ledger_url).set(drivername="mysql").render_as_string(hide_password=False)
        with open_ledger(url) as ledger:
            names = ["name", "Name", "name "]
            for name in names:
                ledger.create_study(name, {})
            assert [study.name for study in ledger.studies()] == names
        with open_ledger(ledger_url) as ledger:
            assert len(ledger.studies()) == 3

    def test_making_a_ledger_that_was_interrupted_begins_again(
        self, server: DatabaseServer, ledger_url: str
    ) -> None:
        open_ledger(ledger_url).close()
        database = make_url(ledger_url).database
        server.execute("DROP TABLE events", database)
        server.execute(f"DELETE FROM {VERSION_TABLE}", database)
        with open_ledger(ledger_url) as ledger:
            study = ledger.create_study("study", {})
            ledger.add_event(study, "note", {})

    def test_foreign_keys_hold_whatever_the_server_s_engine(
        self, server: DatabaseServer, ledger_url: str
    ) -> None:
        open_ledger(ledger_url).close()
        query = "SELECT DISTINCT engine FROM information_schema.tables WHERE table_name = 'trials'"
        assert server.execute(query) == [("InnoDB",)]
