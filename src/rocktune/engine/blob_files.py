"""Reads what blob files say of themselves: their family, and the number of their values."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from struct import Struct

from rocktune.errors import UserError

# RocksDB's db/blob/blob_log_format.h: magic number, version, family, flags, compression, two times; and
# magic number, values, two times, checksum.
_HEADER = Struct("<IIIBBQQ")
_FOOTER = Struct("<IQQQI")
_MAGIC = 2395959
_RECORD_HEADER_BYTES = 32


@dataclass(frozen=True)
class FamilyBlobs:
    """The blob files of one column family, summed up, without those that are still being written.

    Attributes:
        files: their number.
        values: values in them, those that newer ones replaced included.
        record_bytes: bytes of keys and values as stored, which may be compressed.
    """

    files: int
    values: int
    record_bytes: int

    def value_bytes(self, key_bytes: float) -> float:
        """Returns the mean bytes of a value as stored, for keys of a mean size; 0 without values."""
        return max(0.0, self.record_bytes / self.values - key_bytes) if self.values else 0.0


def read_blob_files(directories: Sequence[Path]) -> dict[int, FamilyBlobs]:
    """Returns the sums of the blob files in directories by the number of their column family.

    Only the first and the last bytes of each file are read, which hold neither keys nor values.

    Raises:
        UserError: a directory cannot be listed.
    """
    found: dict[int, FamilyBlobs] = {}
    for directory in directories:
        try:
            paths = [path for path in directory.iterdir() if path.suffix == ".blob"]
        except OSError as failure:
            raise UserError(f"{directory}: cannot be listed: {failure.strerror}") from None
        for path in paths:
            if (read := _read(path)) is not None:
                family, values, record_bytes = read
                before = found.get(family, FamilyBlobs(0, 0, 0))
                found[family] = FamilyBlobs(
                    before.files + 1, before.values + values, before.record_bytes + record_bytes
                )
    return found


def _read(path: Path) -> tuple[int, int, int] | None:
    """Returns family, values and bytes of their records; None for a file that is incomplete or gone."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEADER.size)
            size = file.seek(0, 2)
            if size < _HEADER.size + _FOOTER.size:
                return None
            file.seek(-_FOOTER.size, 2)
            foot = file.read(_FOOTER.size)
    except OSError:
        return None
    if len(head) < _HEADER.size or len(foot) < _FOOTER.size:
        return None
    magic, _, family, *_ = _HEADER.unpack(head)
    end_magic, values, *_ = _FOOTER.unpack(foot)
    records = size - _HEADER.size - _FOOTER.size - values * _RECORD_HEADER_BYTES
    if magic != _MAGIC or end_magic != _MAGIC or not values or records < 0:
        return None
    return family, values, records
