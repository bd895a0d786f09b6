import os
import subprocess
import sys
from pathlib import Path

import pytest

from rocktune.engine.local import scratch_directory as module
from rocktune.engine.local.locks import locked
from rocktune.engine.local.scratch_directory import checked_parent, scratch_directory
from rocktune.errors import UserError

NAME = "rocktune-measure"


def test_the_directory_is_empty_and_vanishes(tmp_path: Path) -> None:
    with scratch_directory(tmp_path) as scratch:
        assert list(scratch.path.iterdir()) == []
        assert (tmp_path / NAME / ".rocktune-data").is_file()
        (scratch.path / "file").write_text("x")
    assert list(tmp_path.iterdir()) == []


def test_a_failure_leaves_nothing_either(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), scratch_directory(tmp_path) as scratch:
        (scratch.path / "file").write_text(str(1 / 0))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("deleted", [(), ("files",), ("files", "lock")])
def test_what_a_killed_process_left_is_removed(tmp_path: Path, deleted: tuple[str, ...]) -> None:
    left = tmp_path / NAME
    left.mkdir()
    (left / ".rocktune-data").write_text("marker")
    (left / "lock").touch()
    (left / "files").mkdir()
    (left / "files" / "filled.sst").write_text("x")
    for name in deleted:
        (left / name).rename(tmp_path / f"gone-{name}")
    with scratch_directory(tmp_path) as scratch:
        assert list(scratch.path.iterdir()) == []
    assert not left.exists()


def test_the_users_own_directory_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / NAME).mkdir()
    (tmp_path / NAME / "precious").write_text("mine")
    with (
        pytest.raises(UserError, match="not rocktune's; remove or rename it"),
        scratch_directory(tmp_path),
    ):
        pass
    assert (tmp_path / NAME / "precious").read_text() == "mine"


def test_a_file_that_appears_meanwhile_stays(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be removed"), scratch_directory(tmp_path):
        (tmp_path / NAME / "precious").write_text("mine")
    assert (tmp_path / NAME / "precious").read_text() == "mine"


def test_links_are_not_followed(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "precious").write_text("mine")
    disk = tmp_path / "disk"
    disk.mkdir()
    (disk / NAME).symlink_to(elsewhere)
    with pytest.raises(UserError, match="symbolic link"), scratch_directory(disk):
        pass
    (disk / NAME).unlink()
    (disk / NAME).mkdir()
    (disk / NAME / ".rocktune-data").write_text("marker")
    (disk / NAME / "files").symlink_to(elsewhere)
    with pytest.raises(UserError), scratch_directory(disk):
        pass
    assert (elsewhere / "precious").read_text() == "mine"


def test_two_at_once_are_refused(tmp_path: Path) -> None:
    with scratch_directory(tmp_path) as scratch:
        with pytest.raises(UserError, match="another measurement"), scratch_directory(tmp_path):
            pass
        assert scratch.path.is_dir()


def test_a_worker_that_lives_keeps_the_directory(tmp_path: Path) -> None:
    """The driver is gone, a process that inherited its lock is not."""
    left = tmp_path / NAME
    (left / "files").mkdir(parents=True)
    (left / ".rocktune-data").write_text("marker")
    command = [sys.executable, "-c", "import sys; sys.stdin.read()"]
    with locked(left / "lock") as lock:
        worker = subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=(lock,))
    with worker, pytest.raises(UserError, match="another measurement"), scratch_directory(tmp_path):
        pass
    with scratch_directory(tmp_path):
        pass
    assert not left.exists()


def test_unsafe_directories_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    database = tmp_path / "db"
    database.mkdir()
    (database / "CURRENT").write_text("MANIFEST-000001\n")
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    for path, message in (
        (tmp_path / "missing", "is not a directory; name an existing directory"),
        (tmp_path / "file", "is not a directory"),
        (loop, "loop"),
        (database, "is a RocksDB database"),
        (Path("/etc"), "is a system or home directory"),
        (Path("/proc/self"), "is a system or home directory"),
        (Path("/home"), "is a system or home directory"),
    ):
        if path == Path("/home") and not path.exists():
            continue
        with pytest.raises(UserError, match=message):
            checked_parent(path, 1000)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["db", "file", "loop"]
    assert checked_parent(tmp_path, 1000) == tmp_path.resolve()


def test_a_full_disk_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="are needed in addition to a reserve of 256MiB"):
        checked_parent(tmp_path, 1 << 60)


def test_a_directory_that_cannot_be_written_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Root may write everywhere, so permissions would not do.
    def fail(*_: object) -> None:
        raise OSError(30, os.strerror(30))

    monkeypatch.setattr(module, "claim", fail)
    with (
        pytest.raises(UserError, match=r"cannot be written: Read-only file system; name"),
        scratch_directory(tmp_path),
    ):
        pass
