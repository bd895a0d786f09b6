import fcntl
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from rocktune.engine.local.data_directory import DataDirectory, default_data_directory, directory_bytes
from rocktune.engine.local.locks import is_locked_by_another, locked
from rocktune.errors import UserError

HOLD_A_RUN = (
    "import sys, time\n"
    "from pathlib import Path\n"
    "from rocktune.engine.local.data_directory import DataDirectory\n"
    "data = DataDirectory(Path(sys.argv[1]))\n"
    "run = data.new_directory()\n"
    "(run / 'file').write_text('x' * 1000)\n"
    "print(run, flush=True)\n"
    "time.sleep(600)\n"
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data"


def contents(path: Path) -> set[str]:
    return {str(entry.relative_to(path)) for entry in path.rglob("*")}


def test_claiming_and_leaving(path: Path) -> None:
    data = DataDirectory(path)
    run = data.new_directory()
    assert run != data.new_directory()
    (run / "file").write_text("x")
    data.close()
    data.close()
    assert contents(path) == {".rocktune-data", "lock", "runs", "bases"}
    DataDirectory(path).close()


def test_an_empty_directory_may_be_claimed(path: Path) -> None:
    path.mkdir()
    DataDirectory(path).close()
    assert (path / ".rocktune-data").is_file()


@pytest.mark.parametrize(
    "directory", ["/", "/etc", "/etc/rocktune", "/usr/lib/x", "/home", "/home/someone", "/var", "/dev/x", "~"]
)
def test_system_and_home_directories_are_refused(
    directory: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(UserError, match="is a system or home directory; name an empty or new directory"):
        DataDirectory(Path(directory))
    assert contents(tmp_path) == set()


def test_a_link_to_a_system_directory_is_refused(path: Path) -> None:
    path.symlink_to("/etc")
    with pytest.raises(UserError, match="data directory /etc: is a system"):
        DataDirectory(path)


def test_a_foreign_directory_is_refused_and_left_alone(path: Path) -> None:
    path.mkdir()
    (path / "thesis.txt").write_text("x")
    with pytest.raises(UserError, match="holds files that are not rocktune's"):
        DataDirectory(path)
    assert contents(path) == {"thesis.txt"}


@pytest.mark.parametrize("below", ["", "sub"])
@pytest.mark.parametrize("marked", [False, True])
def test_a_database_is_refused_marker_or_not(path: Path, below: str, marked: bool) -> None:
    path.mkdir()
    for name in ("CURRENT", "LOCK", *([".rocktune-data"] if marked else [])):
        (path / name).write_text("")
    before = contents(path)
    with pytest.raises(UserError, match=f"{path} is a RocksDB database; name"):
        DataDirectory(path / below)
    assert contents(path) == before


def test_a_live_database_is_called_so(path: Path) -> None:
    path.mkdir()
    (path / "CURRENT").write_text("")
    text = (
        "import fcntl, sys\n"
        "file = open(sys.argv[1], 'w')\n"
        "fcntl.lockf(file, fcntl.LOCK_EX)\n"
        "print(flush=True)\n"
        "sys.stdin.read()\n"
    )
    command = [sys.executable, "-c", text, str(path / "LOCK")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        # Reading it suffices.
        (path / "LOCK").chmod(0o444)
        with pytest.raises(UserError, match="is a RocksDB database, which another process has open"):
            DataDirectory(path)
    assert not is_locked_by_another(path / "LOCK")


def test_asking_for_a_lock_takes_none(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def taken(*_given: object) -> None:
        raise AssertionError

    path.mkdir()
    (path / "LOCK").touch()
    monkeypatch.setattr("rocktune.engine.local.locks.fcntl.lockf", taken)
    assert not is_locked_by_another(path / "LOCK")
    assert not is_locked_by_another(path / "missing")


def test_a_file_is_refused(path: Path) -> None:
    path.write_text("x")
    with pytest.raises(UserError, match="not a directory"):
        DataDirectory(path)
    with pytest.raises(UserError, match="cannot be written: Not a directory"):
        DataDirectory(path / "below")


def test_linked_parts_are_refused(path: Path, tmp_path: Path) -> None:
    """What a link leads to is not ours to delete."""
    DataDirectory(path).close()
    precious = tmp_path / "precious"
    (precious / "deep").mkdir(parents=True)
    (path / "runs").rmdir()
    (path / "runs").symlink_to(precious)
    with pytest.raises(UserError, match="runs is a symbolic link"):
        DataDirectory(path)
    assert contents(precious) == {"deep"}


@pytest.fixture
def without_rights() -> Iterator[None]:
    """Takes root's rights away for the test's time."""
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    yield
    os.seteuid(user)


@pytest.fixture
def unwritable() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as directory:
        Path(directory).chmod(0o555)
        yield Path(directory)
        Path(directory).chmod(0o755)


def test_an_unwritable_directory_is_refused(unwritable: Path, without_rights: None) -> None:
    for directory in (unwritable, unwritable / "new"):
        with pytest.raises(UserError, match="cannot be written: Permission denied; name an empty or new"):
            DataDirectory(directory)


def test_room_is_made_sure_of(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = DataDirectory(path)
    monkeypatch.setattr(DataDirectory, "free_bytes", lambda self: 2 << 20)
    data.require_free(2 << 20)
    with pytest.raises(
        UserError, match="3MiB are needed in addition to a reserve of 256MiB, and 258MiB are free"
    ):
        data.require_free(3 << 20)
    data.close()


def test_the_default_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROCKTUNE_DATA", "/data/elsewhere")
    assert default_data_directory() == Path("/data/elsewhere")
    monkeypatch.delenv("ROCKTUNE_DATA")
    monkeypatch.setenv("XDG_CACHE_HOME", "/cache")
    assert default_data_directory() == Path("/cache/rocktune/data")


def test_what_a_killed_driver_left_is_tidied_away(path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD_A_RUN, str(path)], stdout=subprocess.PIPE, text=True
    ) as driver:
        assert driver.stdout is not None
        run = Path(driver.stdout.readline().strip())
        data = DataDirectory(path)
        assert data.tidied_bytes == 0
        assert (run / "file").is_file()
        data.close()
        driver.send_signal(signal.SIGKILL)
    data = DataDirectory(path)
    assert data.tidied_bytes == 1000
    assert not run.parent.exists()
    data.close()


def test_a_worker_that_lives_keeps_its_run(path: Path) -> None:
    """The driver is gone, a process that inherited its lock is not."""
    data = DataDirectory(path)
    run = data.new_directory()
    command = [sys.executable, "-c", "import sys; sys.stdin.read()"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=(data.lock_descriptor,)):
        data._held.close()
        DataDirectory(path).close()
        assert run.is_dir()
    DataDirectory(path).close()
    assert not run.exists()


def test_directory_bytes(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    for name, size in (("x", 10), ("a/y", 7)):
        (tmp_path / name).write_text("." * size)
    assert directory_bytes(tmp_path) == 17
    assert directory_bytes(tmp_path / "absent") == 0


def test_a_lock_whose_file_was_removed_by_its_holder(tmp_path: Path) -> None:
    """Whoever waited for the removed file takes the new one, and excludes those who open that."""
    lock = tmp_path / "lock"
    with locked(lock), pytest.raises(BlockingIOError), locked(lock, wait=False):
        pass
    stale = os.open(lock, os.O_RDWR)
    with locked(lock):
        lock.unlink()
    fcntl.flock(stale, fcntl.LOCK_EX | fcntl.LOCK_NB)
    with locked(lock, wait=False):
        assert lock.exists()
    os.close(stale)
