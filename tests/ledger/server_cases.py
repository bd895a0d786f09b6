"""What holds for a ledger on a server beyond what holds for every ledger."""

import multiprocessing
import sys
from collections.abc import Callable, Iterator

import pytest
from sqlalchemy import URL, make_url
from tests.servers import PASSWORD, DatabaseServer

from rocktune.errors import UserError
from rocktune.ledger import Ledger, StudyRecord, open_ledger
from rocktune.testing.ledgers import FIRST, LedgerConformance, lock_when_freed
from rocktune.testing.synthetic import synthetic_window
from rocktune.trial import Status, Trial

TRIAL = Trial(FIRST, 1.0)


def refusal(url: URL | str) -> str:
    """Returns the one line, without the password, with which a URL is refused."""
    text = url if isinstance(url, str) else url.render_as_string(hide_password=False)
    with pytest.raises(UserError) as error:
        open_ledger(text)
    assert "\n" not in str(error.value)
    for secret in (PASSWORD, "p%40ss", "rd%25", "ss:w", "wrong"):
        assert secret not in str(error.value)
    return str(error.value)


def open_once(url: str) -> int:
    with open_ledger(url) as ledger:
        return len(ledger.studies())


class ServerLedger(LedgerConformance):
    """Subclass it with a fixture `server`."""

    driver: str

    @pytest.fixture
    def ledger_url(self, server: DatabaseServer) -> Iterator[str]:
        with server.database() as url:
            yield url

    @pytest.fixture(autouse=True)
    def _nothing_is_logged(self, caplog: pytest.LogCaptureFixture) -> Iterator[None]:
        """What a library logs where nobody listens is printed, below our one line."""
        yield
        assert [record.getMessage() for record in caplog.get_records("call")] == []

    def test_a_wrong_password(self, ledger_url: str) -> None:
        url = make_url(ledger_url)
        line = refusal(url.set(password="wrong"))
        shown = url.render_as_string(hide_password=True)
        assert line.startswith(f"ledger {shown}: ")
        assert "password" in line

    def test_a_password_among_the_parameters(self, ledger_url: str) -> None:
        url = make_url(ledger_url)
        moved = url.set(password="").update_query_dict({"password": PASSWORD})
        with open_ledger(moved.render_as_string(hide_password=False)) as ledger:
            assert ledger.studies() == []
            assert "password=hidden" in ledger.url
            assert "p%40ss" not in ledger.url
        assert "password=hidden" in refusal(moved.update_query_dict({"password": "wrong"}))

    def test_nobody_listens(self, ledger_url: str) -> None:
        assert "refused" in refusal(make_url(ledger_url).set(port=1))

    def test_an_unknown_host(self, ledger_url: str) -> None:
        assert "unknown.invalid" in refusal(make_url(ledger_url).set(host="unknown.invalid"))

    def test_a_missing_database(self, server: DatabaseServer) -> None:
        assert "no_such_database" in refusal(server.url("no_such_database"))

    def test_an_empty_database_is_made_a_ledger_only_to_be_written(self, ledger_url: str) -> None:
        with pytest.raises(UserError, match="does not exist"):
            open_ledger(ledger_url, create=False)
        open_ledger(ledger_url).close()
        open_ledger(ledger_url, create=False).close()

    def test_another_program_s_database(self, server: DatabaseServer, ledger_url: str) -> None:
        database = make_url(ledger_url).database
        server.execute("CREATE TABLE albums (id INTEGER)", database)
        assert "belongs to another program (it has a table 'albums')" in refusal(ledger_url)
        server.execute("INSERT INTO albums VALUES (1)", database)
        assert server.execute("SELECT * FROM albums", database) == [(1,)]
        listed = "SELECT table_name FROM information_schema.tables WHERE table_schema IN "
        listed += f"('public', '{database}')"
        assert server.execute(listed, database) == [("albums",)]

    def test_a_missing_driver(self, ledger_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, self.driver, None)
        assert f"needs the Python package '{self.driver}" in refusal(ledger_url)

    def test_several_processes_may_make_the_ledger_at_once(self, ledger_url: str) -> None:
        with multiprocessing.get_context("spawn").Pool(3) as pool:
            assert pool.map(open_once, [ledger_url] * 6) == [0] * 6

    def test_reading_survives_a_dropped_connection(
        self, server: DatabaseServer, ledger: Ledger, study: StudyRecord, ledger_url: str
    ) -> None:
        server.drop_connections(ledger_url)
        assert ledger.studies() == [study]

    def test_nothing_is_written_once_the_lock_is_lost(
        self, server: DatabaseServer, ledger: Ledger, study: StudyRecord, ledger_url: str
    ) -> None:
        with ledger.lock(study):
            ledger.plan_batch(study, "search", 0, [TRIAL])
            server.drop_connections(ledger_url)
            with open_ledger(ledger_url) as other, other.lock(study):
                writes: tuple[Callable[[], None], ...] = (
                    lambda: ledger.plan_batch(study, "search", 1, [TRIAL]),
                    lambda: ledger.record(study, 0, 0, TRIAL, synthetic_window(0.0, 1.0), Status.OK),
                    lambda: ledger.set_state(study, "lost"),
                    lambda: ledger.set_outcome(study, {}),
                    lambda: ledger.add_event(study, "lost", {}),
                )
                for write in writes:
                    with pytest.raises(
                        UserError, match=r"^ledger .*lock is lost.* continue with 'rocktune resume'$"
                    ) as error:
                        write()
                    assert "\n" not in str(error.value)
                    assert PASSWORD not in str(error.value)
                other.record(study, 0, 0, TRIAL, synthetic_window(0.0, 1.0), Status.OK)
        with ledger.lock(study):
            ledger.add_event(study, "again", {})
        assert ledger.study("study").state == "created"
        assert [event.kind for event in ledger.events(study)] == ["again"]
        assert len(ledger.trials(study)) == 1

    def test_a_lock_whose_connection_is_lost_unnoticed_ends_quietly(
        self, server: DatabaseServer, ledger: Ledger, study: StudyRecord, ledger_url: str
    ) -> None:
        with ledger.lock(study):
            server.drop_connections(ledger_url)

        def dropped_and_failed() -> None:
            server.drop_connections(ledger_url)
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError), ledger.lock(study):
            dropped_and_failed()
        with ledger.lock(study):
            pass

    def test_a_query_that_is_given_up_takes_the_lock_with_it(
        self, ledger: Ledger, study: StudyRecord
    ) -> None:
        # As a second Ctrl-C in the middle of one does.
        with ledger.lock(study):
            ledger._lock_connections[study.id]._connection.invalidate()
            with pytest.raises(UserError, match=r"^ledger: the connection was given up .*lock is lost"):
                ledger.set_state(study, "lost")
        lock_when_freed(ledger, study)

    def test_a_stopped_server_is_one_line_until_it_is_back(
        self, server: DatabaseServer, ledger: Ledger, study: StudyRecord
    ) -> None:
        with ledger.lock(study):
            ledger.plan_batch(study, "search", 0, [TRIAL])
            server.stop()
            try:
                attempts: tuple[Callable[[], object], ...] = (
                    lambda: ledger.trials(study),
                    lambda: ledger.set_state(study, "lost"),
                    lambda: ledger.study("study"),
                )
                for attempt in attempts:
                    with pytest.raises(UserError, match=r"^ledger [^\n]*$") as error:
                        attempt()
                    assert PASSWORD not in str(error.value)
            finally:
                server.start()
        with ledger.lock(study):
            ledger.record(study, 0, 0, TRIAL, synthetic_window(0.0, 1.0), Status.OK)
        assert len(ledger.trials(study)) == 1
