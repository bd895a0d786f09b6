import errno
import os
import zlib
from pathlib import Path

import pytest

from rocktune.deploy import read_watched, watched_text, write_watched
from rocktune.errors import UserError


def test_the_text_is_what_the_documentation_says() -> None:
    text = watched_text(
        {"db": {"max_background_jobs": "4"}, "cf:a": {"ttl": "1"}, "table:a": {"block_size": "8192"}}, "12-ab"
    )
    body = (
        "# rocktune options, format 1\n[Database]\n  id=12-ab\n[DBOptions]\n  max_background_jobs=4\n"
        '[CFOptions "a"]\n  ttl=1\n[TableOptions/BlockBasedTable "a"]\n  block_size=8192\n'
    )
    assert text == f"{body}# end crc32={zlib.crc32(body.encode()):08x}\n"


def test_a_line_break_is_refused() -> None:
    with pytest.raises(UserError, match="it has a line break"):
        watched_text({"cf:a\nb": {"ttl": "1"}})


def test_writing_replaces_the_file_and_leaves_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "ROCKTUNE_OPTIONS"
    path.write_text(watched_text({"cf:a": {"ttl": "1"}}))
    path.chmod(0o640)
    write_watched(path, "new\n")
    assert path.read_text() == "new\n"
    assert list(tmp_path.iterdir()) == [path]
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_directory_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"ROCKTUNE_OPTIONS: cannot be written: No such file"):
        write_watched(tmp_path / "none" / "ROCKTUNE_OPTIONS", "")


def test_reading_gives_back_what_was_written(tmp_path: Path) -> None:
    path = tmp_path / "ROCKTUNE_OPTIONS"
    assert read_watched(path) == {}
    live = {
        "db": {"max_background_jobs": "4"},
        'cf:a "b"]': {"ttl": "1", "x": "{a=1;b=2}"},
        "table:a": {"y": ""},
    }
    write_watched(path, watched_text(live, "12-ab"))
    assert read_watched(path) == live


@pytest.mark.parametrize("cut", [1, 5, 40, 1000])
def test_a_file_that_is_cut_short_is_refused(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "ROCKTUNE_OPTIONS"
    path.write_text(watched_text({"cf:a": {"ttl": "1"}})[: -cut - 1])
    with pytest.raises(UserError, match="it is no complete watched file"):
        read_watched(path)


def test_a_file_that_is_no_watched_file_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "CURRENT"
    path.write_text("MANIFEST-000005\n")
    with pytest.raises(UserError, match="CURRENT: it is no watched file, and is not overwritten"):
        write_watched(path, "new\n")
    assert path.read_text() == "MANIFEST-000005\n"
    # One that was cut short is.
    path.write_text("# rocktune opt")
    write_watched(path, "new\n")
    assert path.read_text() == "new\n"


def test_the_file_that_a_link_names_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    link, target = tmp_path / "ROCKTUNE_OPTIONS", tmp_path / "elsewhere" / "options"
    link.symlink_to(target)
    for text in (watched_text({"cf:a": {"ttl": "1"}}), "new\n"):
        write_watched(link, text)
        assert link.is_symlink()
        assert target.read_text() == text
    assert list((tmp_path / "elsewhere").iterdir()) == [target]


def test_what_is_no_regular_file_is_refused(tmp_path: Path) -> None:
    pipe, directory, loop = tmp_path / "pipe", tmp_path / "directory", tmp_path / "loop"
    os.mkfifo(pipe)
    directory.mkdir()
    loop.symlink_to(loop)
    for path in (pipe, directory, Path("/dev/null"), Path("/"), Path()):
        for use in (read_watched, lambda path: write_watched(path, "")):
            with pytest.raises(UserError, match="it is no regular file"):
                use(path)
    for use in (read_watched, lambda path: write_watched(path, "")):
        with pytest.raises(UserError, match="loop: cannot be"):
            use(loop)
    assert sorted(tmp_path.iterdir()) == [directory, loop, pipe]
    assert list(directory.iterdir()) == []


def test_nothing_is_left_of_a_file_that_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "ROCKTUNE_OPTIONS"

    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("rocktune.deploy.watched.os.fsync", full)
    with pytest.raises(UserError, match="cannot be written: No space left on device"):
        write_watched(path, "new\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "body",
    [
        '[Other "a"]\n  ttl=1\n',
        "[CFOptions]\n  ttl=1\n",
        '[DBOptions "a"]\n',
        "ttl=1\n",
        "[DBOptions]\nttl\n",
    ],
)
def test_a_complete_file_with_a_line_that_means_nothing_is_refused(tmp_path: Path, body: str) -> None:
    path = tmp_path / "ROCKTUNE_OPTIONS"
    path.write_text(_ended(f"# rocktune options, format 1\n{body}"))
    with pytest.raises(UserError, match=r"line [23] means nothing in a watched file"):
        read_watched(path)


def test_what_people_write_by_hand_is_read_as_the_watcher_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "ROCKTUNE_OPTIONS"
    body = '# rocktune options, format 1\n\n# mine\n[Database]\nid=12\n\t[CFOptions "a\x85b"] \nttl = 1\n'
    path.write_text(_ended(body))
    assert read_watched(path) == {"cf:a\x85b": {"ttl": "1"}}
    # The watcher reads no CRLF.
    path.write_bytes(_ended(body).replace("\n", "\r\n").encode())
    with pytest.raises(UserError, match="it is no complete watched file"):
        read_watched(path)


def _ended(body: str) -> str:
    return f"{body}# end crc32={zlib.crc32(body.encode()):08x}\n"
