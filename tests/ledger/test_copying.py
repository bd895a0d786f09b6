from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text
from tests.servers import DatabaseServer

from rocktune.errors import UserError
from rocktune.ledger import Ledger, open_ledger
from rocktune.testing.ledgers import AWKWARD, FIRST, SECOND, SPEC
from rocktune.testing.synthetic import synthetic_window
from rocktune.trial import Status, Trial

KINDS = ("sqlite", "postgresql", "mariadb")


def quietly(_study: str, _done: int, _total: int) -> None: ...


@pytest.fixture(params=KINDS)
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ledger]:
    yield from ledger_of(request.param, "source", request, tmp_path)


@pytest.fixture(params=KINDS)
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ledger]:
    yield from ledger_of(request.param, "target", request, tmp_path)


def ledger_of(kind: str, name: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ledger]:
    if kind == "sqlite":
        with open_ledger(str(tmp_path / f"{name}.sqlite")) as ledger:
            yield ledger
    else:
        server: DatabaseServer = request.getfixturevalue(f"{kind}_server")
        with server.database() as url, open_ledger(url) as ledger:
            yield ledger


def record_study(ledger: Ledger, name: str = "study") -> None:
    """Records one of everything that a study may hold."""
    study = ledger.create_study(name, SPEC | {"name": name}, "RocksDB 7.8.3")
    trials = [Trial(FIRST, 1 / 3), Trial(SECOND, 1.0), Trial(SECOND, 2.0, 7), Trial(FIRST, 0.1 + 0.2, 1)]
    ledger.plan_batch(study, "search", 0, trials, [(FIRST, 0)])
    window = synthetic_window(0.0, 1 / 3, 12345.678)
    window.raw["tickers"] |= AWKWARD
    options = {"db": {"a": "1"}, "cf": {}, "table": {}}
    ledger.record(study, 0, 0, trials[0], window, Status.OK, "", 1 / 3, options, 0.1)
    ledger.record(study, 0, 1, trials[1], None, Status.CRASHED, "it said 'no' \\ \N{SNOWMAN}", 0.5)
    ledger.plan_batch(study, "search", 1, [Trial(FIRST, 1.0), Trial(FIRST, 1.0)])
    window = synthetic_window(1 / 3, 1.0)
    ledger.record(study, 1, 0, Trial(FIRST, 1.0), window, Status.OK, "", 2 / 3)
    ledger.record(study, 1, 1, Trial(FIRST, 1.0), None, Status.OK)
    ledger.plan_batch(study, "prove", 2, [])
    for number in range(150):
        ledger.add_event(study, "note", {"number": number, "third": 1 / 3})
    ledger.set_outcome(study, {"ratio": 0.1 + 0.2, "none": None})
    ledger.set_state(study, "finished")


def assert_same(source: Ledger, target: Ledger, name: str = "study") -> None:
    ours, theirs = source.study(name), target.study(name)
    for field in ("name", "spec", "state", "created_at", "host", "engine_version"):
        assert getattr(ours, field) == getattr(theirs, field)
    assert source.trials(ours) == target.trials(theirs)
    assert source.events(ours) == target.events(theirs)
    assert source.outcome(ours) == target.outcome(theirs)
    for batch in range(3):
        assert source.planned_batch(ours, batch) == target.planned_batch(theirs, batch)
        assert source.result(ours, batch, 0) == target.result(theirs, batch, 0)


def test_a_copy_reads_back_as_the_original(source: Ledger, target: Ledger) -> None:
    other = target.create_study("other", SPEC)
    record_study(source, "first")
    record_study(source)
    seen: list[tuple[str, int, int]] = []
    study = source.study("study")
    assert source.has_same(study, target, quietly) is None
    source.copy_study(study, target, lambda *progress: seen.append(progress))
    assert_same(source, target)
    assert source.has_same(study, target, quietly) is True
    assert seen[-1] == ("study", 1 + 2 + 3 + 6 + 2 + 150, 1 + 2 + 3 + 6 + 2 + 150)
    assert [record.name for record in target.studies()] == ["other", "study"]
    assert target.trials(other) == []
    # A copy is a study like any other: it can be gone on with, and differs then.
    copied = target.study("study")
    with target.lock(copied):
        target.record(copied, 0, 3, Trial(FIRST, 0.1 + 0.2, 1), None, Status.TIMED_OUT, "", 0.3)
    assert source.has_same(study, target, quietly) is False
    assert target.has_same(copied, source, quietly) is False
    with pytest.raises(UserError, match=r"already has a study of this name"):
        source.copy_study(study, target, quietly)
    assert len(source.trials(study)) == 4


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[tuple[Ledger, Ledger]]:
    paths = (tmp_path / "source.sqlite", tmp_path / "target.sqlite")
    with open_ledger(str(paths[0])) as source, open_ledger(str(paths[1])) as target:
        record_study(source)
        yield source, target


# What a single statement changes in a study of the target, whatever it is, makes it another study.
CHANGES = [
    "UPDATE studies SET state = 'running'",
    "UPDATE studies SET created_at = '2026-01-01T00:00:00.000000+00:00'",
    "UPDATE studies SET outcome = NULL",
    "UPDATE experiments SET host = 'elsewhere'",
    "UPDATE configurations SET digest = 'x' WHERE id = 1",
    "UPDATE batches SET phase = 'other' WHERE number = 2",
    "DELETE FROM batches WHERE number = 2",
    "UPDATE trials SET repeated_s = 0.2 WHERE repeated_s > 0",
    "UPDATE trials SET recorded_at = '2026-01-01T00:00:00.000000+00:00' WHERE status = 'crashed'",
    "UPDATE trials SET options = NULL WHERE status = 'crashed'",
    "UPDATE measurements SET scalars = '{}' WHERE trial_id = 1",
    "DELETE FROM measurements WHERE trial_id = 1",
    "UPDATE events SET payload = '{}' WHERE id = 150",
    "DELETE FROM events WHERE id = 150",
]


@pytest.mark.parametrize("change", CHANGES)
def test_every_difference_is_seen(pair: tuple[Ledger, Ledger], tmp_path: Path, change: str) -> None:
    source, target = pair
    study = source.study("study")
    source.copy_study(study, target, quietly)
    engine = create_engine(f"sqlite:///{tmp_path}/target.sqlite")
    with engine.begin() as connection:
        assert connection.execute(text(change)).rowcount == 1
    engine.dispose()
    assert source.has_same(study, target, quietly) is False


def test_a_copy_that_fails_leaves_nothing(pair: tuple[Ledger, Ledger]) -> None:
    source, target = pair

    def fail(_study: str, done: int, _total: int) -> None:
        if done > 100:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        source.copy_study(source.study("study"), target, fail)
    assert target.studies() == []
    source.copy_study(source.study("study"), target, quietly)
    assert_same(source, target)


def test_a_study_that_is_being_run_is_copied_as_far_as_it_is(pair: tuple[Ledger, Ledger]) -> None:
    source, target = pair
    study = source.study("study")
    with source.lock(study):
        source.copy_study(study, target, lambda *_: source.add_event(study, "meanwhile", {}))
    assert len(target.events(target.study("study"))) == 150
