from typing import Any

from tests.report import sample

from rocktune.outcome import Outcome
from rocktune.report.memory import memory_rows, memory_section, memory_sentence

MIB = 1 << 20


def _shares(cache_bytes: int | None, settings: dict[str, str] | None = None) -> dict[str, Any]:
    cache = None
    if cache_bytes is not None:
        cache = {"kind": "lru", "capacity_bytes": cache_bytes, "settings": settings or {}}
    return {
        "memtable_bytes": 128 * MIB,
        "filter_bytes": 12 * MIB,
        "block_cache": cache,
        "total_bytes": 140 * MIB + (cache_bytes or 0),
    }


def _outcome(best: dict[str, Any], baseline: dict[str, Any]) -> Outcome:
    document = sample.document()
    for side, shares in (("best", best), ("baseline", baseline), ("rocksdb_defaults", None)):
        measured = sample.interval(3.0 * MIB, 2.0 * MIB, 4.0 * MIB)
        document[side] |= {"memory": shares, "resident_bytes": measured}
    return Outcome.from_json(document | {"own_options_notes": ["Block cache of the baseline: <512MiB>."]})


def test_equal_memory_is_said_with_its_size() -> None:
    shares = _shares(512 * MIB, {"num_shard_bits": "4"})
    outcome = _outcome(shares, shares)
    assert memory_sentence(outcome) == (
        "Baseline and tuned configuration had equal memory: 652MiB at full size."
    )
    rows = dict(memory_rows(outcome))
    assert rows["Block cache"] == ["512MiB (LRU, num_shard_bits=4)"] * 2 + ["RocksDB's own"]
    assert rows["Sum at full size"] == ["652MiB", "652MiB", "–"]
    assert rows["Resident, measured on a 1/64 model"] == ["3MiB"] * 3
    assert not any(label.startswith("Memtables, measured") for label in rows)


def test_unequal_memory_is_said_too() -> None:
    outcome = _outcome(_shares(512 * MIB), _shares(None))
    assert memory_sentence(outcome) == (
        "The tuned configuration may take 652MiB of memory and the baseline 140MiB, at full size."
    )
    assert dict(memory_rows(outcome))["Block cache"] == ["512MiB (LRU)", "none", "RocksDB's own"]


def test_the_section_escapes_its_notes() -> None:
    section = memory_section(_outcome(_shares(MIB), _shares(MIB)))
    assert "&lt;512MiB&gt;" in section
    assert "<512MiB>" not in section


def test_outcomes_of_older_ledgers_have_no_section() -> None:
    assert memory_section(sample.outcome()) == ""
    assert memory_sentence(sample.outcome()) == ""
