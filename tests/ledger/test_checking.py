import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, text
from tests.ledger.test_copying import KINDS, ledger_of, quietly, record_study

from rocktune.errors import UserError
from rocktune.ledger import Ledger, open_ledger
from rocktune.testing.ledgers import FIRST, SPEC
from rocktune.testing.synthetic import synthetic_window
from rocktune.trial import Status, Trial


def any_spec(_spec: Mapping[str, Any]) -> None: ...


@pytest.fixture(params=KINDS)
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ledger]:
    yield from ledger_of(request.param, "ledger", request, tmp_path)


def found(ledger: Ledger) -> list[str]:
    return [f"{problem.study}: {problem.what}" for problem in ledger.check(any_spec, quietly).problems]


def test_a_whole_ledger_has_no_problem(ledger: Ledger) -> None:
    assert ledger.check(any_spec, quietly).problems == ()
    record_study(ledger, "first")
    record_study(ledger, "second")
    seen: list[tuple[str, int, int]] = []
    check = ledger.check(any_spec, lambda *progress: seen.append(progress))
    assert check.problems == ()
    assert (check.studies, check.windows) == (2, 4)
    assert seen == [("first", 0, 4), ("second", 2, 4)]


def test_what_is_wrong_is_named_on_every_database(ledger: Ledger) -> None:
    record_study(ledger, "first")
    record_study(ledger, "second")
    second = ledger.study("second")
    change(ledger, f"DELETE FROM measurements WHERE study_id = {second.id} AND until_s < 0.5")
    assert found(ledger) == [
        "second: trial 0 of batch 0 is ok, but no window ends at its age, 0.333333 s",
        "second: the window of trial 0 of batch 1 begins at 0.333333 s, but the one before ends at 0 s",
    ]
    change(ledger, "UPDATE configurations SET digest = 'none'" + f" WHERE study_id = {second.id} AND id > 3")
    change(ledger, "UPDATE measurements SET distributions = 'x'")
    lines = found(ledger)
    assert "second: configuration none does not match its digest" in lines
    unread = "first: the window of trial 0 of batch 0: 'distributions' cannot be read: "
    assert any(line.startswith(unread) for line in lines)


def test_one_that_has_been_measured_afresh_begins_at_0(ledger: Ledger) -> None:
    study = ledger.create_study("study", SPEC)
    for batch, until_s in enumerate((1.0, 3.0)):
        ledger.plan_batch(study, "search", batch, [Trial(FIRST, until_s)])
        ledger.record(study, batch, 0, Trial(FIRST, until_s), synthetic_window(0.0, until_s), Status.OK)
    assert found(ledger) == []


def change(ledger: Ledger, statement: str) -> None:
    with ledger._writer.begin() as connection:
        connection.execute(text(statement))


# Of a SQLite file anything can be made.
BROKEN = [
    ("UPDATE studies SET spec = '{'", "'spec' cannot be read"),
    ("UPDATE studies SET spec = '[]'", "its specification is not a JSON object"),
    ("UPDATE studies SET outcome = x'ff'", "'outcome' cannot be read"),
    ("UPDATE studies SET created_at = 'yesterday'", "'created_at' cannot be read"),
    ("UPDATE studies SET experiment_id = 99", "1 of studies refer to experiments that are missing"),
    ("UPDATE experiments SET scale = 1", "its experiment does not match its digest"),
    ("UPDATE experiments SET device = ''", "its experiment: 'device' cannot be read"),
    ('UPDATE configurations SET "values" = \'{"a":2}\' WHERE id = 1', "does not match its digest"),
    ('UPDATE configurations SET "values" = \'{"a":NaN}\' WHERE id = 1', "does not match its digest"),
    ("UPDATE configurations SET \"values\" = x'ffff' WHERE id = 1", "'values' cannot be read"),
    ("DELETE FROM configurations WHERE id = 1", "4 of trials refer to configurations that are missing"),
    ("UPDATE batches SET released = '' WHERE id = 1", "batch 0: 'released' cannot be read"),
    ("DELETE FROM batches WHERE id = 1", "refer to batches that are missing"),
    ("DELETE FROM trials WHERE position = 1 AND batch_id = 1", "batch 0 lacks 1 trials"),
    ("UPDATE trials SET status = 'fine' WHERE id = 2", "trial 1 of batch 0 has the unknown status 'fine'"),
    ("UPDATE trials SET options = x'00' WHERE id = 2", "trial 1 of batch 0: 'options' cannot be read"),
    ("UPDATE trials SET recorded_at = '' WHERE id = 2", "trial 1 of batch 0: 'recorded_at' cannot be read"),
    ("UPDATE trials SET until_s = 9 WHERE id = 1", "trial 0 of batch 0 is ok, but no window ends at its age"),
    ("UPDATE trials SET status = 'crashed' WHERE id = 1", "does not belong to the run of its trial"),
    ("UPDATE measurements SET replicate = 5 WHERE trial_id = 1", "does not belong to the run of its trial"),
    (
        "UPDATE measurements SET scalars = '{}' WHERE trial_id = 1",
        "the window of trial 0 of batch 0 cannot be used",
    ),
    (
        "UPDATE measurements SET scalars = 'null' WHERE trial_id = 1",
        "window of trial 0 of batch 0 cannot be used",
    ),
    ("UPDATE measurements SET distributions = x'12' WHERE trial_id = 1", "'distributions' cannot be read"),
    ("DELETE FROM measurements WHERE trial_id = 1", "but the one before ends at 0 s"),
    ("UPDATE measurements SET study_id = 99", "2 of measurements refer to studies that are missing"),
    ("UPDATE events SET payload = 'x' WHERE id = 7", "event 7 (note): 'payload' cannot be read"),
    ("UPDATE events SET recorded_at = 'x' WHERE id = 7", "event 7 (note): 'recorded_at' cannot be read"),
]


@pytest.mark.parametrize(("statement", "problem"), BROKEN, ids=[statement for statement, _ in BROKEN])
def test_whatever_is_broken_is_found(tmp_path: Path, statement: str, problem: str) -> None:
    path = tmp_path / "ledger.sqlite"
    with open_ledger(str(path)) as ledger:
        record_study(ledger)
        engine = create_engine(f"sqlite:///{path}")
        with engine.begin() as connection:
            assert connection.exec_driver_sql(statement).rowcount >= 1
        engine.dispose()
        lines = found(ledger)
    assert any(problem in line for line in lines), lines
    assert all("\n" not in line for line in lines)
    assert any(line.startswith("study: ") for line in lines) or "that are missing" in problem


@pytest.mark.parametrize(
    ("statement", "line"),
    [
        ("DROP TABLE events", ": table events is missing"),
        ("ALTER TABLE events DROP COLUMN recorded_at", ": column recorded_at of events is missing"),
    ],
)
def test_a_table_or_column_that_is_missing(tmp_path: Path, statement: str, line: str) -> None:
    path = tmp_path / "ledger.sqlite"
    with open_ledger(str(path)) as ledger:
        with sqlite3.connect(path) as connection:
            connection.execute(statement)
        connection.close()
        assert found(ledger) == [line]


def test_a_damaged_file(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    with open_ledger(str(path)) as ledger:
        record_study(ledger)
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        index = connection.execute("SELECT rootpage FROM sqlite_master WHERE name LIKE 'ix_events%'")
        (page,) = index.fetchone()
        (page_bytes,) = connection.execute("PRAGMA page_size").fetchone()
    connection.close()
    whole = path.read_bytes()
    begin = (page - 1) * page_bytes + page_bytes // 2
    path.write_bytes(whole[:begin] + bytes(page_bytes // 4) + whole[begin + page_bytes // 4 :])
    with open_ledger(str(path)) as ledger:
        assert found(ledger)


def test_a_specification_that_nobody_knows(tmp_path: Path) -> None:
    with open_ledger(str(tmp_path / "ledger.sqlite")) as ledger:
        record_study(ledger)
        check = ledger.check(lambda spec: f"{spec['name']} is no study", quietly)
    assert [(problem.study, problem.what) for problem in check.problems] == [("study", "study is no study")]


def test_an_empty_database_is_no_ledger_to_check(tmp_path: Path) -> None:
    (tmp_path / "empty.sqlite").touch()
    with pytest.raises(UserError, match="does not exist"):
        open_ledger(str(tmp_path / "empty.sqlite"), create=False)
    assert (tmp_path / "empty.sqlite").read_bytes() == b""
