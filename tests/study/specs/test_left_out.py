"""What a study leaves out of its space."""

from pathlib import Path
from typing import Any

import pytest

from rocktune.engine import DbBenchSpec, EmbeddedSpec
from rocktune.space import Space, load_space, space_document, space_from_document, with_deletes
from rocktune.space.left_out import without
from rocktune.study import make_request, resolve
from rocktune.study.specs.left_out import left_out_of, left_out_sentences
from rocktune.study.specs.problem import space_of
from rocktune.testing.fake_worker import fake_worker_command
from rocktune.workload import WorkloadSpec

FULL = load_space("full", None, 1e6)
NEWER = {
    "universal_max_read_amp",
    "decouple_partitioned_filters",
    "index_block_search_type",
    "uncache_aggressiveness",
}


def workload(*value_bytes: int) -> WorkloadSpec:
    """Sessions whose values have these sizes."""
    sessions = [{"seconds": 9, "mix": {"put": 1.0}, "value": {"low": each}} for each in value_bytes]
    return WorkloadSpec.model_validate({"name": "w", "keys": 1000, "sessions": sessions})


def names_of(space: Space) -> set[str]:
    return {knob.name for knob in space.knobs}


def test_a_library_of_unknown_age_gets_no_newer_knob() -> None:
    left_out = left_out_of(FULL, DbBenchSpec(program="db_bench"), workload(4096))
    assert set(left_out) == NEWER
    assert left_out["uncache_aggressiveness"] == "the RocksDB of engine db_bench may be older than 9.4"


def test_blob_files_need_values_as_large_as_the_lowest_threshold() -> None:
    engine = DbBenchSpec(program="db_bench")
    assert "enable_blob_files" not in left_out_of(FULL, engine, workload(100, 4096))
    small = left_out_of(FULL, engine, workload(100, 4095))
    assert small["enable_blob_files"] == "values have at most 3.999KiB"
    left = without(FULL, small)
    assert names_of(FULL) - names_of(left) == NEWER | {
        "enable_blob_files",
        "min_blob_size",
        "blob_file_size",
        "blob_compression_type",
        "blob_garbage_collection_age_cutoff",
    }


def test_the_linked_library_is_asked(real_worker: tuple[str, ...]) -> None:
    left_out = left_out_of(FULL, EmbeddedSpec(rocksdb=real_worker[0]), workload(4096))
    assert set(left_out) <= NEWER
    assert all(reason.startswith("not in RocksDB ") for reason in left_out.values())


def test_a_compression_that_the_library_lacks_is_no_choice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("rocktune.study.specs.left_out.worker_with", lambda _: fake_worker_command())
    left_out = left_out_of(FULL, EmbeddedSpec(), workload(4096))
    assert {"kLZ4Compression", "kZSTD"} <= set(left_out)
    space = space_from_document({**space_document("full"), "left_out": left_out}, None, 1e6)
    assert names_of(space).isdisjoint({"lz4_per_level", "zstd_per_level", "compression_level"})
    (compression,) = (knob for knob in space.knobs if knob.name == "compression")
    assert compression.choices == ("kNoCompression",)
    assert space.default()["compression"] == "kNoCompression"


def test_spaces_that_every_library_supports_ask_none(tmp_path: Path) -> None:
    missing: Any = EmbeddedSpec(rocksdb=str(tmp_path / "no worker"))
    assert left_out_of(load_space("dremel", None, 1e6), missing, workload(100)) == {}


def deleting(**mix: float) -> WorkloadSpec:
    document = {"name": "w", "keys": 1000, "delete_range_keys": {"low": 9}, "sessions": [{"mix": mix}]}
    return WorkloadSpec.model_validate(document)


@pytest.mark.parametrize("workload", [deleting(put=0.9, delete=0.1), deleting(put=0.9, delete_range=0.1)])
def test_the_collector_of_tombstones_is_named_where_entries_are_deleted(workload: WorkloadSpec) -> None:
    document = with_deletes(space_document("full"))
    engine = DbBenchSpec(program="db_bench")
    left_out = left_out_of(space_from_document(document, None, 1e6), engine, workload)
    assert set(left_out) == NEWER | {
        "memtable_op_scan_flush_trigger",
        "memtable_avg_op_scan_flush_trigger",
        "enable_blob_files",
        "CompactOnDeletionCollectorFactory",
    }
    sentence = "CompactOnDeletionCollectorFactory (an OPTIONS file cannot carry it)"
    assert sentence in left_out_sentences(document | {"left_out": left_out})[0]
    left = space_from_document(document | {"left_out": left_out}, None, 1e6)
    assert {"periodic_compaction_seconds", "ttl"} <= names_of(left)
    assert not any(name.startswith("memtable_") and "scan" in name for name in names_of(left))
    # Neither a space without these knobs nor a workload without deletes has a use for it.
    assert "CompactOnDeletionCollectorFactory" not in left_out_of(FULL, engine, workload)


def test_a_study_of_a_workload_that_deletes_has_the_knobs_for_it(real_worker: tuple[str, ...]) -> None:
    for name, deletes in (("queue", True), ("expiry", True), ("ycsb-a", False)):
        request = make_request(
            {"workload": name, "device": "nvme", "space": "full", "rocksdb": real_worker[0]}
        )
        space = space_of(resolve(request, "study"))
        assert ("ttl" in names_of(space)) == deletes
        assert any(knob.option_name == "periodic_compaction_seconds" for knob in space.knobs) == deletes


def test_what_was_left_out_is_named_with_its_reason() -> None:
    document = {"name": "full", "left_out": {"a": "not in RocksDB 7.8.3", "b": "values have at most 9B"}}
    document["left_out"] |= {"c": "not in RocksDB 7.8.3"}  # type: ignore[operator]
    assert left_out_sentences(document) == [
        "Left out of space 'full': a, c (not in RocksDB 7.8.3); b (values have at most 9B)."
    ]
    assert left_out_sentences({"name": "dremel"}) == []
