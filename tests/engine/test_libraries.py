"""Tests of choosing the RocksDB that a worker is linked with."""

from pathlib import Path

import pytest
from tests.engine.versions import make_worker

from rocktune import api
from rocktune.engine import libraries
from rocktune.engine.libraries import (
    buildable_versions,
    installed_workers,
    nearest,
    worker_with,
)
from rocktune.engine.worker import WORKER_VARIABLE
from rocktune.errors import UserError
from rocktune.rocksdb_version import RocksDbVersion


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A source tree whose default worker has RocksDB 7.8.3; it also has built 9.9.3 and 9.10.0."""
    monkeypatch.setenv("ROCKTUNE_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(libraries, "SOURCE_TREE", tmp_path)
    default = make_worker(tmp_path / "bin/rocktune-worker", "7.8.3")
    monkeypatch.setenv(WORKER_VARIABLE, str(default))
    for rocksdb in ("9.9.3", "9.10.0"):
        make_worker(tmp_path / f"build/rocksdb-{rocksdb}/bin/rocktune-worker", rocksdb)
    (tmp_path / "rocksdb").mkdir()
    (tmp_path / "rocksdb/versions.csv").write_text(
        "version,crate,sha256\n8.10.0,0,0\n10.4.2,0,0\n9.9.3,0,0\n"
    )
    return tmp_path


def test_versions_are_ordered_by_age_not_by_text(tree: Path) -> None:
    assert [str(each) for each in installed_workers()] == ["7.8.3", "9.9.3", "9.10.0"]
    assert [str(each) for each in buildable_versions()] == ["8.10.0", "9.9.3", "10.4.2"]


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("9.9.3", "build/rocksdb-9.9.3/bin/rocktune-worker"),
        ("v9.9.3", "build/rocksdb-9.9.3/bin/rocktune-worker"),
        ("9.9", "build/rocksdb-9.9.3/bin/rocktune-worker"),
        ("9", "build/rocksdb-9.10.0/bin/rocktune-worker"),
        ("7.8", "bin/rocktune-worker"),
        (None, "bin/rocktune-worker"),
    ],
)
def test_a_version_finds_its_worker(tree: Path, asked: str | None, found: str) -> None:
    assert worker_with(asked) == (str(tree / found),)


def test_a_path_finds_its_worker(tree: Path) -> None:
    installation = tree / "build/rocksdb-9.9.3"
    worker = installation / "bin/rocktune-worker"
    assert worker_with(str(installation)) == worker_with(str(worker)) == (str(worker),)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("8.5.3", "installed: 7.8.3, 9.9.3, 9.10.0. Build it: make rocksdb VERSION=8.10.0"),
        ("10", "Build it: make rocksdb VERSION=10.4.2"),
        ("11.8.1", "Build it: make rocksdb VERSION=10.4.2"),
        ("newest", "'newest' is neither a version nor an installation"),
        ("/nowhere", "'/nowhere' is neither a version nor an installation"),
    ],
)
def test_what_is_missing_is_said_with_the_way_to_get_it(tree: Path, asked: str, told: str) -> None:
    with pytest.raises(UserError) as raised:
        worker_with(asked)
    assert told in str(raised.value)
    assert "\n" not in str(raised.value)


def test_each_run_is_measured_by_the_rocksdb_asked_for(tree: Path, tmp_path: Path) -> None:
    asked = ["9.9.3", "7.8", "9.9.3", str(tree / "build/rocksdb-9.10.0")]
    measured = [
        api.run(workload="dremel-write-heavy", scale="1/512", seconds=1, rocksdb=rocksdb) for rocksdb in asked
    ]
    versions = [run["engine"].split(",")[0] for run in measured]
    assert versions == ["RocksDB 9.9.3", "RocksDB 7.8.3", "RocksDB 9.9.3", "RocksDB 9.10.0"]
    assert {run["runs"][0]["status"] for run in measured} == {"ok"}


def test_a_version_is_for_engine_embedded_only(tree: Path) -> None:
    with pytest.raises(UserError, match=r"rocksdb: .*embedded"):
        api.run(workload="dremel-write-heavy", engine="db_bench", rocksdb="9.9.3")


def test_a_worker_that_does_not_start_is_left_out(tree: Path) -> None:
    broken = tree / "build/rocksdb-1.0.0/bin/rocktune-worker"
    broken.parent.mkdir(parents=True)
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    assert "1.0.0" not in map(str, installed_workers())


def test_the_nearest_version() -> None:
    versions = [RocksDbVersion.of(text) for text in ("7.9.2", "8.5.3", "8.10.0", "11.8.1")]
    assert str(nearest(RocksDbVersion.of("8.5"), versions)) == "8.5.3"
    assert str(nearest(RocksDbVersion.of("8.6.7"), versions)) == "8.5.3"
    assert str(nearest(RocksDbVersion.of("6.0"), versions)) == "7.9.2"
    assert str(nearest(RocksDbVersion.of("12"), versions)) == "11.8.1"


def test_the_repositorys_own_table_is_in_order() -> None:
    table = (libraries.SOURCE_TREE / "rocksdb/versions.csv").read_text().splitlines()[1:]
    listed = [RocksDbVersion.parse(line.split(",")[0]) for line in table]
    assert listed == buildable_versions(), "tools/build-rocksdb takes the last line for the newest version"
    assert all(len(line.split(",")[2]) == 64 for line in table)
