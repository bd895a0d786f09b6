import shutil
import subprocess
from pathlib import Path

import pytest

from rocktune.errors import UserError
from rocktune.space import load_space, options_file_text

OPTIONS = {
    "db": {"max_background_flushes": "2", "max_background_compactions": "3"},
    "cf": {"write_buffer_size": "67108864"},
    "table": {"block_size": "8192", "block_cache": "1048576"},
}


def test_text() -> None:
    text = options_file_text(OPTIONS, "7.8.3", ["Made by rocktune.", "", "1.4 times\nthe baseline"])
    assert (
        text
        == """\
# Made by rocktune.
#
# 1.4 times
# the baseline

[Version]
  rocksdb_version=7.8.3
  options_file_version=1.1

[DBOptions]
  max_background_flushes=2
  max_background_compactions=3

[CFOptions "default"]
  write_buffer_size=67108864

[TableOptions/BlockBasedTable "default"]
  block_size=8192
  block_cache=1048576
"""
    )


def test_without_comment_or_options_the_sections_remain() -> None:
    assert options_file_text({}, "7.8.3").startswith("[Version]\n")
    assert "[DBOptions]\n\n[CFOptions" in options_file_text({}, "7.8.3")


@pytest.mark.parametrize("value", ["a#b", "a\nb"])
def test_text_that_the_file_cannot_carry_is_refused(value: str) -> None:
    with pytest.raises(UserError, match="wal_dir"):
        options_file_text({"db": {"wal_dir": value}}, "7.8.3")


@pytest.mark.skipif(
    shutil.which("db_bench") is None, reason="db_bench (Debian: rocksdb-tools) is not installed"
)
def test_rocksdb_reads_what_was_written(tmp_path: Path) -> None:
    space = load_space("dremel", None, 1e7)
    options = space.options(space.default().replaced({"num_levels": 5, "block_size": 8192}))
    file = tmp_path / "OPTIONS"
    file.write_text(options_file_text(options, "7.8.3", ["a comment"]))
    store = tmp_path / "store"
    command = ["db_bench", "--benchmarks=fillseq", "--num=1", f"--options_file={file}", f"--db={store}"]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    (written,) = store.glob("OPTIONS-*")
    read_back = dict(line.strip().split("=", 1) for line in written.read_text().splitlines() if "=" in line)
    for section in options.values():
        for name, value in section.items():
            # RocksDB never writes block_cache, and doubles with six decimals.
            if name != "block_cache":
                assert read_back[name].removesuffix(".000000") == value, name
