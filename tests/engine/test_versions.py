"""Tests of the engine whose configurations name the RocksDB that measures them."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.engine.versions import make_worker

from rocktune.engine import EmbeddedEngine, VersionsEngine
from rocktune.engine.versions import configuration_of
from rocktune.testing.engines import small_experiment

VERSIONS = ("8.6.7", "11.8.1")


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[VersionsEngine]:
    engines = {
        version: EmbeddedEngine(
            tmp_path / "data", 0, 0, worker=(str(make_worker(tmp_path / version / "worker", version)),)
        )
        for version in VERSIONS
    }
    with closing(VersionsEngine(engines)) as engine:
        yield engine


def test_each_run_is_measured_by_the_version_that_it_names(engine: VersionsEngine) -> None:
    assert engine.can_park
    assert engine.version == "RocksDB 8.6.7, assertions off and RocksDB 11.8.1, assertions off"
    for turn in range(4):
        version = VERSIONS[turn % 2]
        run = engine.open(small_experiment(1000), configuration_of(version), seed=turn)
        with closing(run):
            first, second = run.advance(1.0), run.advance(2.0)
        # Also in the sum of two windows.
        for window in (first, second, first.merged(second)):
            assert window.engine == f"RocksDB {version}, assertions off"
    assert engine.opening_s > 0
    assert engine.loading_s > 0


def test_its_options_are_checked_by_that_version(engine: VersionsEngine) -> None:
    options = engine.check(small_experiment(), configuration_of("11.8.1"))
    assert options["cf"]["write_buffer_size"] == str(64 << 20)
    with pytest.raises(KeyError):
        engine.check(small_experiment(), configuration_of("9.9.3"))
