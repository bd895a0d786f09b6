import zlib
from pathlib import Path

import pytest

from rocktune.deploy import watched_text, write_watched
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
