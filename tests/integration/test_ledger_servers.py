"""Whole studies with their ledger on PostgreSQL and MariaDB: the same as on SQLite, and nothing lost."""

import json
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from sqlalchemy import make_url
from tests.servers import PASSWORD, DatabaseServer

from rocktune.api import tuning
from rocktune.cli.main import main
from rocktune.engine import EngineSpec
from rocktune.errors import UserError
from rocktune.ledger import TrialRecord, open_ledger
from rocktune.study import Observer, StudySpec, run_study
from rocktune.study.specs.resolving import resolve
from rocktune.study.specs.study_file import make_request
from rocktune.testing.synthetic_engine import Fault, SyntheticEngine, no_fault
from rocktune.trial import Configuration, Result, Status

SMALL = {"finalists": 2, "pick_runs": 1, "ablation_pairs": 2, "prune_attempts": 1}
TIMES = ("opening", "loading", "other", "total", "repeated")
NEVER = datetime(1970, 1, 1, tzinfo=UTC)


def _spec() -> StudySpec:
    given = {"workload": "dremel-write-heavy", "device": "ssd-100mb", "tuner": "random", "scale": "1/64"}
    request = make_request(given | {"protocol": "short", "seed": 3, "budget": 7.5, "verification": SMALL})
    return resolve(request, "study")


def _response(configuration: Configuration) -> float:
    return 20_000 + float(configuration.get("write_buffer_size", 0)) / (1 << 14)


def _some_crash(configuration: Configuration, seed: int, until_s: float) -> Status | None:
    """Makes a third of the search's runs fail, some of them when they are already old."""
    late = bool(until_s) and seed % 2
    return Status.CRASHED if len(configuration.key) % 3 == 0 and late else None


def _engine(fault: Fault = _some_crash) -> SyntheticEngine:
    return SyntheticEngine(_response, fault, own_noise=0.002)


def _timeless(outcome: dict[str, Any]) -> dict[str, Any]:
    seconds = {name: value for name, value in outcome["seconds"].items() if name not in TIMES}
    return outcome | {"seconds": seconds, "ledger": ""}


def _recorded(url: str) -> list[TrialRecord]:
    with open_ledger(url) as ledger:
        return [replace(record, recorded_at=NEVER) for record in ledger.trials(ledger.study("study"))]


def _run(url: str, observer: Observer | None = None) -> dict[str, Any]:
    with open_ledger(url) as ledger:
        return _timeless(run_study(_spec(), _engine(), ledger, observer).to_json())


class _Disturbs(Observer):
    """Does something when some number of trials have been recorded."""

    def __init__(self, after: int, disturb: Callable[[], None]) -> None:
        self._left = after
        self._disturb = disturb

    def trial_finished(self, result: Result) -> None:
        self._left -= 1
        if self._left == 0:
            self._disturb()


@pytest.fixture(params=["postgresql", "mariadb"])
def server(request: pytest.FixtureRequest) -> DatabaseServer:
    found: DatabaseServer = request.getfixturevalue(f"{request.param}_server")
    return found


@pytest.fixture
def url(server: DatabaseServer) -> Iterator[str]:
    with server.database() as url:
        yield url


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], list[TrialRecord]]:
    """Outcome and trials of the study on SQLite."""
    url = str(tmp_path_factory.mktemp("undisturbed") / "ledger.sqlite")
    return _run(url), _recorded(url)


Undisturbed = tuple[dict[str, Any], list[TrialRecord]]


def test_the_same_study_is_the_same_on_every_database(url: str, undisturbed: Undisturbed) -> None:
    outcome, records = undisturbed
    assert outcome["recommended"] == "best"
    assert {record.status for record in records} == {Status.OK, Status.CRASHED}
    assert _run(url) == outcome
    found = _recorded(url)
    assert len(found) == len(records)
    for here, there in zip(found, records, strict=True):
        assert here == there
        # Equal is not enough for floats: -0.0 == 0, and 1 == 1.0.
        assert repr(here.measurement and here.measurement.raw) == repr(
            there.measurement and there.measurement.raw
        )


# Nothing but the one line may be seen of a failure, so nothing may be logged either: what is logged where
# nobody listens is printed.


@pytest.mark.parametrize("trials", [1, 4, 11])
def test_a_study_whose_server_stops_goes_on_when_resumed(
    server: DatabaseServer,
    url: str,
    undisturbed: Undisturbed,
    trials: int,
    caplog: pytest.LogCaptureFixture,
) -> None:
    with ExitStack() as stack:
        stack.callback(server.start)
        with pytest.raises(UserError, match=r"^ledger [^\n]*$") as error:
            _run(url, _Disturbs(trials, server.stop))
    assert PASSWORD not in str(error.value)
    assert caplog.records == []
    assert len(_recorded(url)) == trials
    assert _run(url) == undisturbed[0]
    # What had been parked is lost, and its load repeated.
    assert [replace(record, repeated_s=0.0) for record in _recorded(url)] == undisturbed[1]


@pytest.mark.parametrize("trials", [1, 4, 11])
def test_a_study_whose_connections_are_dropped_goes_on_when_resumed(
    server: DatabaseServer,
    url: str,
    undisturbed: Undisturbed,
    trials: int,
    caplog: pytest.LogCaptureFixture,
) -> None:
    with pytest.raises(UserError, match=r"^ledger [^\n]*lock is lost[^\n]*$"):
        _run(url, _Disturbs(trials, lambda: server.drop_connections(url)))
    assert caplog.records == []
    assert len(_recorded(url)) == trials
    assert _run(url) == undisturbed[0]
    # What had been parked is lost, and its load repeated.
    assert [replace(record, repeated_s=0.0) for record in _recorded(url)] == undisturbed[1]


class _Died(BaseException):
    """Stands for kill -9: nothing may catch it."""


def _die() -> None:
    raise _Died


def test_a_study_goes_on_where_it_has_been_copied_to(
    url: str, undisturbed: Undisturbed, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(_Died):
        _run(url, _Disturbs(5, _die))
    here = str(tmp_path / "here.sqlite")
    assert main(["ledger", "copy", url, here]) == 0
    assert _run(here) == undisturbed[0]
    assert main(["ledger", "copy", here, url]) == 2
    assert main(["delete", "study", "--ledger", url]) == 0
    assert main(["ledger", "copy", here, url]) == 0
    assert _recorded(url) == _recorded(here)
    for ledger in (here, url):
        assert main(["ledger", "check", ledger]) == 0
    assert "p%40ss" not in "".join(capsys.readouterr())


class _CommandLine:
    """Runs commands with an engine that may be disturbed, and keeps all that they write."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.everything = ""
        self.out = self.error = ""
        self.fault: Fault = no_fault
        self._capsys = capsys

    @contextmanager
    def engine(self, spec: EngineSpec, figures: Sequence[str] = ()) -> Iterator[SyntheticEngine]:
        engine = _engine(lambda *asked: self.fault(*asked))
        engine.version = "RocksDB 7.8.3, assertions on"
        yield engine

    def __call__(self, line: str, url: str) -> int:
        code = main([*line.split(), "--ledger", url])
        self.out, self.error = self._capsys.readouterr()
        self.everything += self.out + self.error
        return code


@pytest.fixture
def command_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> _CommandLine:
    command_line = _CommandLine(capsys)
    monkeypatch.setattr(tuning, "opened_engine", command_line.engine)
    monkeypatch.chdir(tmp_path)
    return command_line


TUNE = "tune --workload dremel-write-heavy --tuner random --scale 1/64 --budget 7s --study mine"


@pytest.mark.parametrize("place", ["user part", "parameters"])
def test_the_password_is_nowhere(
    server: DatabaseServer,
    url: str,
    command_line: _CommandLine,
    place: str,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    if place == "parameters":
        moved = make_url(url).set(password="").update_query_dict({"password": PASSWORD})
        url = moved.render_as_string(hide_password=False)
    once = iter([None] * 8 + [signal.SIGINT])

    def interrupted(*_: object) -> None:
        if next(once, None):
            signal.raise_signal(signal.SIGINT)

    command_line.fault = interrupted
    assert command_line(TUNE, url) == 130
    assert "To continue: rocktune resume mine --ledger" in command_line.error
    stops = iter([None] * 8 + ["stop"])

    def stopped(*_: object) -> None:
        if next(stops, None):
            server.stop()

    command_line.fault = stopped
    try:
        assert command_line("resume mine", url) == 2
        assert command_line.error.startswith("rocktune: error: ledger ")
        assert command_line.error.count("\n") == 1
        assert command_line("show mine", url) == 2
    finally:
        server.start()
    command_line.fault = no_fault
    for line in ("resume mine --json", "show mine --json", "show mine", "studies", "report mine"):
        assert command_line(line, url) == 0, command_line.error
    assert command_line("show nine", url) == 2
    assert command_line("show mine", url.replace("p%40ss", "wrong")) == 2
    assert command_line("show mine", url.replace("127.0.0.1", "127.0.0.1:port")) == 2
    written = "".join(path.read_text() for path in tmp_path.rglob("*") if path.is_file())
    with open_ledger(url) as ledger:
        record = ledger.study("mine")
        kept = json.dumps([dict(record.spec), ledger.outcome(record)])
        kept += repr([ledger, record, ledger.events(record), ledger.trials(record)])
    assert "127.0.0.1" in written
    assert "127.0.0.1" in kept
    everything = command_line.everything + written + kept + caplog.text
    for form in (PASSWORD, quote(PASSWORD), quote(PASSWORD, safe=""), "p@ss", "ss:w/rd", "ss%3Aw"):
        assert form not in everything
