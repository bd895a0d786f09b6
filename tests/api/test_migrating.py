"""New options for which a closed database's data is rewritten, with the worker and RocksDB's own tool."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.common.stores import FAMILIES, dumped, files_of, made_store

from rocktune import api
from rocktune.deploy import Migration
from rocktune.engine.worker import WORKER_VARIABLE
from rocktune.errors import UserError
from rocktune.importing import read_options_document


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory, real_worker: tuple[str, ...]) -> Path:
    """A closed database of the worker's RocksDB with three column families."""
    if shutil.which("ldb") is None:
        pytest.skip("ldb is not installed")
    directory = tmp_path_factory.mktemp("store")
    made = made_store(directory / "db", entries=500)
    # The tool may be of an older RocksDB.
    (directory / "NEW").write_text('[CFOptions "default"]\n')
    with pytest.MonkeyPatch.context() as changed:
        changed.setenv(WORKER_VARIABLE, real_worker[0])
        api.copy_with_options(made, directory / "NEW", directory / "copy")
    return directory / "copy"


@pytest.fixture
def database(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, real_worker: tuple[str, ...]
) -> Path:
    monkeypatch.setenv(WORKER_VARIABLE, real_worker[0])
    return Path(shutil.copytree(store, tmp_path / "db"))


def new_file(database: Path, options: str) -> Path:
    path = database.parent / "NEW"
    path.write_text(options)
    return path


CHANGE = (
    '[CFOptions "default"]\ncompaction_style=kCompactionStyleUniversal\n[CFOptions "second"]\nnum_levels=3\n'
)


def option(directory: Path, family: str, name: str) -> str:
    """Returns an option in the newest OPTIONS file of a database."""
    newest = max(directory.glob("OPTIONS-*"), key=lambda path: int(path.name.partition("-")[2]))
    (found,) = [each for each in read_options_document(newest).families if each.name == family]
    return next(each.text for each in found.options if each.name == name)


def expect_new_options(found: Migration) -> None:
    assert [family.name for family in found.families] == list(FAMILIES)
    assert {family.entries for family in found.families} == {500}
    directory = Path(found.directory)
    assert option(directory, "default", "compaction_style") == "kCompactionStyleUniversal"
    assert option(directory, "second", "num_levels") == "3"
    assert option(directory, "third", "num_levels") == "7"


def test_a_copy_has_the_entries_and_the_new_options(database: Path, tmp_path: Path) -> None:
    content = dumped(database)  # the tool opens the database, which changes it
    before = files_of(database)
    found = api.copy_with_options(database, new_file(database, CHANGE), tmp_path / "copy", bandwidth="1GiB")
    assert files_of(database) == before
    expect_new_options(found)
    assert dumped(tmp_path / "copy") == content


def test_a_database_is_rewritten_in_place(database: Path) -> None:
    content = dumped(database)
    expect_new_options(api.rewrite_with_options(database, new_file(database, CHANGE)))
    assert dumped(database) == content


def test_a_finished_copy_is_not_written_again(database: Path, tmp_path: Path) -> None:
    new = new_file(database, CHANGE)
    api.copy_with_options(database, new, tmp_path / "copy")
    with pytest.raises(UserError, match=r"copy: is not empty; choose another directory"):
        api.copy_with_options(database, new, tmp_path / "copy")


def test_a_class_of_the_application_is_named(database: Path, tmp_path: Path) -> None:
    new = new_file(database, '[TableOptions/BlockBasedTable "third"]\nfilter_policy=my.Filter\n')
    found = api.copy_with_options(database, new, tmp_path / "copy")
    assert [(left.where, left.name, left.given, left.why) for left in found.left_out] == [
        ("table third", "filter_policy", "my.Filter", "only your program has it")
    ]


def test_a_comparator_of_the_application_is_refused(database: Path, tmp_path: Path) -> None:
    """The copy would be sorted by another one, and the program could not open it."""
    new = new_file(database, '[CFOptions "third"]\ncomparator=my.Order\n')
    with pytest.raises(UserError, match=r"'third': only your program has the comparator 'my\.Order'"):
        api.copy_with_options(database, new, tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


def test_directories_that_a_copy_does_not_take_over_are_named(database: Path, tmp_path: Path) -> None:
    new = new_file(database, f"[DBOptions]\nwal_dir={tmp_path}/wal\ndb_log_dir=/log\nmax_background_jobs=3\n")
    found = api.copy_with_options(database, new, tmp_path / "copy")
    assert [(left.name, left.given) for left in found.left_out] == [
        ("wal_dir", f"{tmp_path}/wal"), ("db_log_dir", "/log"),
    ]  # fmt: skip
    assert not (tmp_path / "wal").exists()


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("db/below", r"db/below: is inside of the database .*/db; choose another directory"),
        ("db/a/b", r"db/a/b: is inside of the database .*/db; choose another directory"),
        ("link/below", r"link/below: is inside of the database .*/db; choose another directory"),
        ("NEW", r"NEW: is no directory; choose another one"),
        ("dangling", r"dangling: is no directory; choose another one"),
        ("missing/below", r"missing/below: the directory .*/missing is missing; make it first"),
        ("\udcff", r"its name is no UTF-8 text"),
        ("x" * 300, "File name too long"),
    ],
)
def test_a_target_that_cannot_be_is_refused_before_any_work(
    database: Path, tmp_path: Path, target: str, message: str
) -> None:
    new = new_file(database, CHANGE)
    (tmp_path / "link").symlink_to(database)
    (tmp_path / "dangling").symlink_to(tmp_path / "nothing" / "there")
    before = files_of(database)
    with pytest.raises(UserError, match=message):
        api.copy_with_options(database, new, tmp_path / target)
    assert files_of(database) == before
    assert not (tmp_path / "missing").exists()


HOLDER = """
import fcntl, sys, time
file = open(sys.argv[1], "r+")
fcntl.lockf(file, fcntl.LOCK_EX)  # as an open database does
time.sleep(600)
"""


def test_an_open_database_is_refused(database: Path, tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", HOLDER, database / "LOCK"]) as held:
        try:
            while not api.plan_options(database, new_file(database, CHANGE)).is_open:
                assert held.poll() is None
            with pytest.raises(
                UserError, match=r"db is open or cannot be locked .*; close it, or copy a check"
            ):
                api.copy_with_options(database, new_file(database, CHANGE), tmp_path / "copy")
            with pytest.raises(UserError, match=r"db is open or cannot be locked"):
                api.rewrite_with_options(database, new_file(database, CHANGE))
        finally:
            held.kill()


def test_another_version_of_rocksdb_does_not_write_into_a_database(database: Path) -> None:
    newest = max(database.glob("OPTIONS-*"), key=lambda path: int(path.name.partition("-")[2]))
    text = newest.read_text()
    own = next(line for line in text.splitlines() if line.strip().startswith("rocksdb_version="))
    newest.write_text(text.replace(own, "  rocksdb_version=10.2.1"))
    with pytest.raises(UserError, match=r"runs RocksDB 10\.2\.1, and the nearest installed one is"):
        api.rewrite_with_options(database, new_file(database, CHANGE))


def test_another_comparator_is_impossible_in_place(database: Path) -> None:
    new = new_file(database, '[CFOptions "third"]\ncomparator=rocksdb.ReverseBytewiseComparator\n')
    with pytest.raises(UserError, match=r"cf third comparator cannot change"):
        api.rewrite_with_options(database, new)
