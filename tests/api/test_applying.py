from pathlib import Path

import pytest

from rocktune import api
from rocktune.deploy import Way
from rocktune.engine.worker import WORKER_VARIABLE
from rocktune.errors import UserError


@pytest.fixture
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, real_worker: tuple[str, ...]) -> Path:
    monkeypatch.setenv(WORKER_VARIABLE, real_worker[0])
    directory = tmp_path / "db"
    directory.mkdir()
    (directory / "CURRENT").touch()
    (directory / "IDENTITY").write_text("12-ab")
    (directory / "OPTIONS-000007").write_text(
        '[DBOptions]\nmax_background_jobs=2\n[CFOptions "default"]\nwrite_buffer_size=67108864\n'
        "comparator=leveldb.BytewiseComparator\n"
    )
    return directory


def new_file(database: Path, options: str) -> Path:
    path = database.parent / "NEW"
    path.write_text(f'[CFOptions "default"]\n{options}\n')
    return path


def test_a_plan_writes_nothing(database: Path) -> None:
    before = sorted(database.iterdir())
    plan = api.plan_options(database, new_file(database, "write_buffer_size=1M"))
    assert [change.way for change in plan.changes] == [Way.LIVE]
    assert not plan.is_open
    assert sorted(database.iterdir()) == before


def test_what_a_program_can_take_is_written(database: Path) -> None:
    plan = api.apply_options(database, new_file(database, "write_buffer_size=1M\nnum_levels=8"))
    text = (database / "ROCKTUNE_OPTIONS").read_text()
    assert text.startswith("# rocktune options, format 1\n[Database]\n  id=12-ab\n")
    assert "write_buffer_size=1048576" in text
    assert "num_levels" not in text
    assert {change.name for change in plan.of_way(Way.REOPEN)} == {"num_levels"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("comparator=my.Own", "comparator cannot change from leveldb.BytewiseComparator to my.Own"),
        ("num_levels=8", "no option that can be changed while the database is open"),
    ],
)
def test_what_no_program_can_take_is_refused(database: Path, options: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        api.apply_options(database, new_file(database, options))
    assert not (database / "ROCKTUNE_OPTIONS").exists()


def test_a_file_that_a_watcher_would_refuse_is_not_written(database: Path) -> None:
    late = new_file(database, "level0_file_num_compaction_trigger=80")
    assert "level0_slowdown_writes_trigger must not be below" in api.plan_options(database, late).refused
    with pytest.raises(
        UserError, match=r"would refuse it: .*level0_slowdown_writes_trigger must not be below"
    ):
        api.apply_options(database, late)
    assert not (database / "ROCKTUNE_OPTIONS").exists()
    later = (
        "level0_file_num_compaction_trigger=80\nlevel0_slowdown_writes_trigger=90\n"
        "level0_stop_writes_trigger=100"
    )
    assert api.apply_options(database, new_file(database, later)).refused == ""


def test_a_database_with_classes_of_the_application_is_tried_without_them(database: Path) -> None:
    options = database / "OPTIONS-000007"
    text = options.read_text().replace("leveldb.BytewiseComparator", "acme.Comparator")
    options.write_text(
        text + "merge_operator=acme.Merge\nprefix_extractor=acme.Prefix\n"
        '[CFOptions "second"]\ncomparator=acme.Second\n'
    )
    plan = api.apply_options(database, new_file(database, "write_buffer_size=1M"))
    assert (plan.refused, plan.notes) == ("", ())
    late = api.plan_options(database, new_file(database, "level0_file_num_compaction_trigger=80"))
    assert "must not be below" in late.refused


def test_capacities_of_the_applications_objects_are_not_tried(database: Path) -> None:
    path = new_file(database, "write_buffer_size=1M")
    path.write_text(path.read_text() + "[DBOptions]\nrate_limiter_bytes_per_sec=1000000\n")
    assert api.plan_options(database, path).refused == ""
