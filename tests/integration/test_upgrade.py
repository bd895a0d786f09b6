"""An upgrade with two real versions of RocksDB, measured alternately in one study."""

from pathlib import Path
from typing import Any

import pytest

from rocktune import api
from rocktune.engine.libraries import installed_workers
from rocktune.ledger import open_ledger
from rocktune.rocksdb_version import RocksDbVersion
from rocktune.study import kept_trials

GOLDEN = Path(__file__).parents[1] / "importing" / "golden" / "OPTIONS-7.8.3-default"
BY_HAND = """[Version]
[DBOptions]
  max_background_jobs=4
[CFOptions "default"]
  write_buffer_size=33554432
[TableOptions/BlockBasedTable "default"]
"""


@pytest.fixture
def versions() -> tuple[str, str]:
    """The oldest and the newest installed version."""
    installed = list(map(str, installed_workers()))
    if len(installed) < 2:
        pytest.skip("only one RocksDB is installed ('make rocksdb' builds another)")
    return installed[0], installed[-1]


@pytest.mark.parametrize("kept_by_hand", [True, False])
def test_two_versions_are_measured_alternately_and_each_run_says_which(
    versions: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept_by_hand: bool
) -> None:
    monkeypatch.setenv("ROCKTUNE_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "OPTIONS"
    file.write_text(BY_HAND if kept_by_hand else GOLDEN.read_text())
    ledger = str(tmp_path / "ledger.sqlite")
    settings: dict[str, Any] = {"workload": "dremel-write-heavy", "scale": "1/512", "seconds": "0.2s"}
    found = api.upgrade(
        versions[1], versions[0], options_file=file, pairs=2, study="up", ledger=ledger, **settings
    )
    assert found["upgrade"]["disagreements"] == []
    assert (found["upgrade"]["measured_from"], found["upgrade"]["measured_to"]) == versions
    assert "other value" not in {change["kind"] for change in found["upgrade"]["changes"]}
    assert found["proof"]["failures"] == []
    ratio = found["proof"]["figures"]["throughput_ops_s"]["ratio"]
    assert 0 < ratio["low"] < ratio["value"] < ratio["high"]
    with open_ledger(ledger) as opened:
        # A busy machine adds repeats.
        records = kept_trials(opened, opened.study("up"))
    measured = [record.measurement.engine for record in records if record.measurement is not None]
    asked = [str(record.trial.configuration["rocksdb"]) for record in records]
    assert [engine.split()[1].rstrip(",") for engine in measured] == asked
    assert sorted(asked) == sorted(versions * 2)
    for record in records:
        dynamic = record.options["cf"]["level_compaction_dynamic_level_bytes"]
        is_default = RocksDbVersion.of(str(record.trial.configuration["rocksdb"])) >= RocksDbVersion.of("8.4")
        assert dynamic == ("true" if kept_by_hand and is_default else "false")
