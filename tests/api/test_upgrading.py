"""Upgrades with workers that say they are linked with one version of RocksDB or another."""

from pathlib import Path
from typing import Any

import pytest
from tests.engine.versions import make_worker

from rocktune import api
from rocktune.engine import libraries
from rocktune.engine.worker import WORKER_VARIABLE
from rocktune.errors import UserError
from rocktune.ledger import open_ledger
from rocktune.testing.dying import Died, DiesAfter

FILE = """[Version]
  rocksdb_version=8.5.3
[DBOptions]
  max_background_jobs=4
[CFOptions "default"]
  write_buffer_size=33554432
[TableOptions/BlockBasedTable "default"]
  block_size=8192
"""
DYNAMIC = "level_compaction_dynamic_level_bytes"


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A source tree with RocksDB 7.8.3 and 11.8.1, which can also build 8.6.7 and 10.4.2."""
    monkeypatch.setenv("ROCKTUNE_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(libraries, "SOURCE_TREE", tmp_path)
    monkeypatch.setenv(WORKER_VARIABLE, str(make_worker(tmp_path / "bin/rocktune-worker", "7.8.3")))
    make_worker(tmp_path / "build/rocksdb/bin/rocktune-worker", "11.8.1")
    (tmp_path / "rocksdb").mkdir()
    (tmp_path / "rocksdb/versions.csv").write_text(
        "version,crate,sha256\n8.6.7,0,0\n10.4.2,0,0\n11.8.1,0,0\n"
    )
    (tmp_path / "OPTIONS").write_text(FILE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def given(tree: Path, **settings: Any) -> dict[str, Any]:
    usual = {"options_file": tree / "OPTIONS", "ledger": str(tree / "ledger.sqlite"), "scale": "1/256"}
    return usual | settings


def test_without_a_proof_nothing_is_measured_or_recorded(tree: Path) -> None:
    found = api.upgrade("11.8", proof=False, **given(tree))
    assert found["proof"] is None
    named = {change["name"]: change["kind"] for change in found["upgrade"]["changes"]}
    assert named["compression"] == "new default"
    assert DYNAMIC not in named  # 8.5 has it already
    assert found["upgrade"]["from_version"] == "8.5.3"
    # 8.6.7 is the nearest, and is not there to ask.
    assert found["upgrade"]["measured_from"] == ""
    assert found["upgrade"]["disagreements"] == []
    assert "Not installed: RocksDB 8.6.7." in found["notes"][-1]
    assert not (tree / "ledger.sqlite").exists()


def test_both_versions_are_measured_in_pairs_and_compared(tree: Path) -> None:
    found = api.upgrade("11.8", "7.9", pairs=3, study="up", **given(tree))
    assert {DYNAMIC, "compression"} <= {change["name"] for change in found["upgrade"]["changes"]}
    assert found["rocksdb"] == ["7.8.3", "11.8.1"]
    assert found["notes"][0].startswith("RocksDB 7.8.3 stands for 7.9")
    assert "ycsb-a, because none was given" in found["notes"][1]
    assert found["notes"][2].startswith("Both versions have a block cache of ")
    # The made-up workers have one default, whatever their version.
    assert any("cf.compression: its default is" in line for line in found["upgrade"]["disagreements"])
    proof = found["proof"]
    assert proof["engines"] == ["RocksDB 7.8.3, assertions off", "RocksDB 11.8.1, assertions off"]
    assert proof["verdict"] == "no difference proven"
    assert proof["figures"]["throughput_ops_s"]["ratio"]["repeats"] == 3
    with open_ledger(str(tree / "ledger.sqlite")) as ledger:
        records = ledger.trials(ledger.study("up"))
    for record in records:
        assert record.measurement is not None
        version = record.trial.configuration["rocksdb"]
        assert record.measurement.engine == f"RocksDB {version}, assertions off"
    assert len(records) == 6
    assert found["report"] == tree / "up" / "report.html"
    page = found["report"].read_text()
    assert "No difference is proven between RocksDB 11.8.1 and 7.8.3" in page
    found["report"].unlink()
    assert api.report("up", ledger=str(tree / "ledger.sqlite")) == found["report"]
    assert found["report"].read_text() == page


def test_an_upgrade_can_be_resumed_shown_and_listed(tree: Path) -> None:
    settings = given(tree, study="up", workload="ycsb-b")
    with pytest.raises(Died):
        api.upgrade("11.8", "7.9", pairs=3, observer=DiesAfter(3), **settings)
    ledger = settings["ledger"]
    with pytest.raises(UserError, match="study 'up' is not finished; 'rocktune resume up' continues it"):
        api.report("up", ledger=ledger)
    resumed = api.resume("up", ledger=ledger)
    assert isinstance(resumed, dict)
    assert resumed["notes"][1] == "The proof's workload is ycsb-b."
    assert resumed == api.upgrade("11.8", "7.9", pairs=3, **settings)
    (listed,) = api.studies(ledger=ledger)
    assert (listed["state"], listed["tuner"], listed["workload"]) == ("finished", "upgrade", "ycsb-b")
    assert api.show("up", ledger=ledger)["trials"] == {"ok": 6}
    with pytest.raises(UserError, match="study 'up': an upgrade has no configuration to export"):
        api.export("up", "options-file", ledger=ledger)
    with pytest.raises(UserError, match="study 'up': an upgrade has no winner to verify"):
        api.verify("up", "1/4", ledger=ledger)
    api.delete("up", ledger=ledger)


REFUSED = {
    "unknown": (("11.99",), "--to: rocktune knows no RocksDB 11.99; the nearest is 11.8"),
    "no version": (("newest",), "--to: 'newest' is not a version; write one such as 11.8"),
    "the same": (
        ("8.5",),
        "--to: RocksDB 8.5 is the version to go from; name a newer one",
    ),
    "older": (("8.0", "11.8"), "--to: RocksDB 8.0 is older than 11.8, which is no upgrade; name a newer one"),
    "what an older one cannot read": (
        ("8.0", "11.8"),
        "RocksDB before 10.4 cannot read such a table",
    ),
    "not built": (
        ("11.8",),
        "--from: RocksDB 8.6.7, which stands for 8.5.3, is not built; build it: make rocksdb VERSION=8.6.7",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_compared_is_refused_in_a_line(tree: Path, case: str) -> None:
    versions, message = REFUSED[case]
    with pytest.raises(UserError) as refused:
        api.prepare_upgrade(*versions, **given(tree))
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_file_that_cannot_be_compared_is_refused(tree: Path) -> None:
    with pytest.raises(UserError, match="options_file: missing; name your OPTIONS file with --options-file"):
        api.prepare_upgrade("11.8", "7.9")
    path = tree / "OPTIONS"
    path.write_text(FILE.replace("  rocksdb_version=8.5.3\n", ""))
    with pytest.raises(UserError, match="--from: missing; the OPTIONS file does not say which RocksDB"):
        api.prepare_upgrade("11.8", **given(tree))
    path.write_text(FILE.replace("8.5.3", "8.77.1"))
    with pytest.raises(UserError, match=r"OPTIONS: rocktune knows no RocksDB 8\.77\.1; .* with --from"):
        api.prepare_upgrade("11.8", **given(tree))
    path.write_text(FILE + '[CFOptions "other"]\n')
    with pytest.raises(UserError, match="it has 2 column families"):
        api.prepare_upgrade("11.8", **given(tree))
    path.write_text(FILE.replace("=33554432", "=-2"))
    with pytest.raises(UserError, match="write_buffer_size=-2: RocksDB reads it as 0"):
        api.prepare_upgrade("11.8", "7.9", **given(tree))
    found = api.upgrade("11.8", "7.9", proof=False, **given(tree))
    assert "write_buffer_size=-2" in found["upgrade"]["refused"]


def test_without_any_worker_there_is_the_history(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libraries, "SOURCE_TREE", tree / "none")
    monkeypatch.setenv(WORKER_VARIABLE, str(tree / "missing"))
    found = api.upgrade("11.8", "7.9", proof=False, **given(tree))
    assert DYNAMIC in {change["name"] for change in found["upgrade"]["changes"]}
    with pytest.raises(UserError, match="--from: no RocksDB is installed or can be built here that stands"):
        api.upgrade("11.8", "7.9", **given(tree))


def test_findings_that_a_kill_left_out_are_asked_for(tree: Path) -> None:
    settings = given(tree, study="up")
    prepared = api.prepare_upgrade("11.8", "7.9", pairs=2, **settings)
    assert prepared.spec is not None
    with open_ledger(settings["ledger"]) as ledger:
        ledger.create_study("up", prepared.spec.model_dump(mode="json"))
    with pytest.raises(UserError, match="study 'up': what changes for the file is not recorded; repeat the"):
        api.resume("up", ledger=settings["ledger"])
    assert prepared.run()["proof"]["failures"] == []
    resumed = api.resume("up", ledger=settings["ledger"])
    assert isinstance(resumed, dict)
    assert resumed["upgrade"] == prepared.found()["upgrade"]
