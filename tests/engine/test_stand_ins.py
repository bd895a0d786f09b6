"""Tests of naming versions of RocksDB and of choosing one that stands for another."""

import pytest

from rocktune.engine.stand_ins import known_version, stand_in
from rocktune.errors import UserError
from rocktune.rocksdb_version import RocksDbVersion


def version(text: str) -> RocksDbVersion:
    return known_version(text, "--to")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("new", "--to: 'new' is not a version; write one such as 11.8"),
        ("8.99", "--to: rocktune knows no RocksDB 8.99; the nearest is 8.11"),
        ("8", "--to: rocktune knows no RocksDB 8; the nearest is 8.11"),
        ("12.1.0", "--to: rocktune knows no RocksDB 12.1.0; the nearest is 11.8"),
        ("3.9", "--to: rocktune knows no RocksDB 3.9; the nearest is 4.3"),
        ("", "--to: '' is not a version; write one such as 11.8"),
    ],
)
def test_an_unknown_version_is_refused(text: str, message: str) -> None:
    with pytest.raises(UserError) as refused:
        version(text)
    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("wanted", "installed", "buildable", "chosen"),
    [
        ("8.5", "7.8.3", "8.1.1 8.6.7 8.8.1", "8.6.7"),
        ("8.3", "7.8.3", "8.1.1 8.6.7", "8.1.1"),
        ("7.8", "7.8.3", "7.9.2 8.1.1", "7.8.3"),
        ("7.10", "7.8.3", "8.1.1", "7.8.3"),
        ("7.10", "7.8.3", "8.1.1 7.9.2", "7.9.2"),
        ("11.8", "7.8.3", "10.4.2 11.8.1", "11.8.1"),
        ("8.5", "8.5.3 8.5.4", "8.5.5", "8.5.4"),
        ("8.5.3", "8.5.4", "8.5.3", "8.5.3"),
        ("8.8", "8.7.1", "8.9.1", "8.7.1"),
        ("8.5", "", "", None),
    ],
)
def test_the_nearest_version_stands_in(
    wanted: str, installed: str, buildable: str, chosen: str | None
) -> None:
    groups = [[version(each) for each in group.split()] for group in (installed, buildable)]
    found = stand_in(version(wanted), *groups)
    assert found == (None if chosen is None else version(chosen))
