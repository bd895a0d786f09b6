"""Databases with several column families, made and read with RocksDB's own tool `ldb`."""

import hashlib
import random
import subprocess
from pathlib import Path

FAMILIES = ("default", "second", "third")


def made_store(directory: Path, entries: int, value_bytes: int = 100) -> Path:
    """Makes a closed database whose families have random entries, some of them in the WAL alone.

    Args:
        directory: the new directory.
        entries: entries of each family.
        value_bytes: length of a value, in hexadecimal digits.
    """
    for number, family in enumerate(FAMILIES):
        if number > 0:
            _ldb(directory, "create_column_family", family)
        source = random.Random(number)
        lines = (
            f"{source.randrange(1 << 60):016x} ==> {source.randbytes(value_bytes // 2).hex()}\n"
            for _ in range(entries)
        )
        create = ["--create_if_missing"] if number == 0 else []
        _ldb(directory, f"--column_family={family}", "load", *create, given="".join(lines))
    return directory


def dumped(directory: Path) -> dict[str, str]:
    """Returns the entries of each family as text, in order."""
    return {
        family: _ldb(directory, f"--column_family={family}", "--ignore_unknown_options", "scan")
        for family in FAMILIES
    }


def files_of(directory: Path) -> dict[str, tuple[str, int]]:
    """Returns a digest of the content, and the time of change, of each file of a directory."""
    found = {}
    for path in directory.iterdir():
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        found[path.name] = (digest, path.stat().st_mtime_ns)
    return found


def _ldb(directory: Path, *arguments: str, given: str = "") -> str:
    """Returns the output of RocksDB's tool."""
    done = subprocess.run(
        ["ldb", f"--db={directory}", *arguments], input=given, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout
