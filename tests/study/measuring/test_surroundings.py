"""What figures depend on besides the specification: recorded, and noted when it changes."""

import platform

import pytest
from tests.study.measuring.small_loops import Recorder, engine_of, loop_of

from rocktune.ledger import Ledger
from rocktune.study import file_systems_of
from rocktune.study.executors import executor_of
from rocktune.study.measuring.surroundings import (
    SURROUNDINGS,
    Surroundings,
    record_surroundings,
    recorded_surroundings,
)
from rocktune.testing.synthetic_engine import SyntheticEngine


def engine_on(file_system: str, version: str = "RocksDB 11.8.1") -> SyntheticEngine:
    engine = engine_of()
    engine.file_system, engine.version = file_system, version
    return engine


def notes_of(ledger: Ledger, engine: SyntheticEngine) -> list[str]:
    recorder = Recorder()
    loop_of(ledger, engine, recorder)
    return recorder.notes


def test_another_file_system_and_version_are_noted_once(ledger: Ledger) -> None:
    assert notes_of(ledger, engine_on("ext4")) == []
    assert notes_of(ledger, engine_on("ext4")) == []
    (note,) = notes_of(ledger, engine_on("tmpfs"))
    assert note.startswith("This study was measured on the file system ext4 and continues on tmpfs")
    assert "set ROCKTUNE_DATA to a directory on ext4" in note
    assert notes_of(ledger, engine_on("tmpfs")) == []
    assert notes_of(ledger, engine_on("tmpfs", "RocksDB 7.8.3")) == [
        "This study was measured with RocksDB 11.8.1 and continues with RocksDB 7.8.3."
    ]
    study = ledger.study("study")
    assert file_systems_of(ledger, study) == "ext4, tmpfs"
    assert len(ledger.events(study, SURROUNDINGS)) == 3
    here = platform.node()
    assert recorded_surroundings(ledger, study)[-1] == Surroundings("RocksDB 7.8.3", "tmpfs", here)


def test_a_study_of_an_older_release_is_compared_with_its_own_record(ledger: Ledger) -> None:
    study = ledger.create_study("study", {}, "RocksDB 7.8.3")
    assert recorded_surroundings(ledger, study) == [Surroundings("RocksDB 7.8.3", "", platform.node())]
    assert file_systems_of(ledger, study) == ""
    with ledger.lock(study):
        (note,) = record_surroundings(ledger, study, executor_of(engine_on("ext4")))
    assert note == "This study was measured with RocksDB 7.8.3 and continues with RocksDB 11.8.1."
    assert file_systems_of(ledger, study) == "ext4"


def test_a_newer_releases_record_is_read(ledger: Ledger) -> None:
    study = ledger.create_study("study", {}, "RocksDB 7.8.3")
    with ledger.lock(study):
        ledger.add_event(study, SURROUNDINGS, {"engine": "RocksDB 12", "file_system": "xfs", "kernel": "7"})
    assert recorded_surroundings(ledger, study) == [Surroundings("RocksDB 12", "xfs", "")]


@pytest.mark.parametrize(
    ("before", "now", "changed"),
    [
        (Surroundings("a", "b", "c"), Surroundings("a", "b", "c"), []),
        (Surroundings("a", "", ""), Surroundings("a", "ext4", "here"), []),
        (Surroundings("a", "ext4", "here"), Surroundings("a", "ext4", ""), []),
        (
            Surroundings("a", "ext4", "here"),
            Surroundings("a", "ext4", "there"),
            ["This study was measured on the machine here and continues on there."],
        ),
    ],
)
def test_only_what_is_known_can_change(before: Surroundings, now: Surroundings, changed: list[str]) -> None:
    assert now.changed_from(before) == changed
