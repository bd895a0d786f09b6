"""Tests of naming versions of RocksDB and of choosing one that stands for another."""

import pytest

from rocktune.engine.libraries import RocksDbVersion
from rocktune.engine.stand_ins import changes_between, known_version, stand_in
from rocktune.errors import UserError


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
        # The default of dynamic levels lies between 8.3 and 8.5, so that 8.6.7 behaves more like 8.5.
        ("8.5", "7.8.3", "8.1.1 8.6.7 8.8.1", "8.6.7"),
        ("8.3", "7.8.3", "8.6.7", "7.8.3"),
        ("7.8", "7.8.3", "7.9.2 8.1.1", "7.8.3"),
        ("7.9", "7.8.3", "7.9.2", "7.8.3"),
        ("7.9", "", "7.9.2 7.8.3", "7.9.2"),
        ("11.8", "7.8.3", "10.4.2 11.8.1", "11.8.1"),
        ("8.5", "8.5.3 8.5.4", "8.6.7", "8.5.4"),
        ("8.5", "", "", None),
    ],
)
def test_the_version_that_behaves_most_alike_stands_in(
    wanted: str, installed: str, buildable: str, chosen: str | None
) -> None:
    found = stand_in(
        version(wanted), *([version(each) for each in group.split()] for group in (installed, buildable))
    )
    assert found == (None if chosen is None else version(chosen))


def test_changes_count_in_either_direction() -> None:
    assert "cf.level_compaction_dynamic_level_bytes (8.4)" in changes_between(version("8.3"), version("8.4"))
    assert changes_between(version("8.4"), version("8.3")) == changes_between(version("8.3"), version("8.4"))
    assert changes_between(version("8.4.1"), version("8.4.2")) == []
