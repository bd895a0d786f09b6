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
    path.write_text("old")
    write_watched(path, "new\n")
    assert path.read_text() == "new\n"
    assert list(tmp_path.iterdir()) == [path]


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
