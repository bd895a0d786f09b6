"""Sums of blob files."""

import struct
from pathlib import Path

import pytest

from rocktune.engine.blob_files import FamilyBlobs, read_blob_files
from rocktune.errors import UserError

MAGIC = 2395959


def blob_file(family: int, values: int, value_bytes: int) -> bytes:
    """Returns a blob file of RocksDB with keys of eight bytes."""
    head = struct.pack("<IIIBBQQ", MAGIC, 1, family, 0, 0, 0, 0)
    record = bytes(32 + 8 + value_bytes)
    return head + values * record + struct.pack("<IQQQI", MAGIC, values, 0, 0, 0)


def test_files_are_summed_up_by_family(tmp_path: Path) -> None:
    (tmp_path / "000007.blob").write_bytes(blob_file(0, 10, 1_000))
    (tmp_path / "000008.blob").write_bytes(blob_file(0, 30, 2_000))
    (tmp_path / "000009.blob").write_bytes(blob_file(3, 1, 5))
    found = read_blob_files([tmp_path])
    assert found == {0: FamilyBlobs(2, 40, 10 * 1_008 + 30 * 2_008), 3: FamilyBlobs(1, 1, 13)}
    assert found[0].value_bytes(8) == 1_750


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"x" * 20,
        b"x" * 200,
        blob_file(0, 3, 100)[:-9],
        blob_file(0, 3, 100)[:-32] + blob_file(0, 900, 0)[-32:],
    ],
)
def test_files_that_are_being_written_or_damaged_do_not_count(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "000007.blob").write_bytes(content)
    (tmp_path / "000008.blob").mkdir()
    assert read_blob_files([tmp_path]) == {}


def test_a_missing_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be listed"):
        read_blob_files([tmp_path / "missing"])
