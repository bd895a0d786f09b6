"""Facts from LOG files, tables and OPTIONS files."""

from pathlib import Path

import pytest
from tests.importing.logs.made import GOLDENS, message

from rocktune.analysis.profile import StoreFacts, gathered
from rocktune.engine import FamilyTables, StoreTables
from rocktune.importing import parsed_document
from rocktune.importing.logs import read_log

TICKERS = {
    "number.keys.written": 100,
    "number.keys.read": 50,
    "number.multiget.keys.read": 10,
    "memtable.hit": 20,
    "l0.hit": 5,
    "l1.hit": 6,
    "l2andup.hit": 7,
    "number.db.seek": 4,
    "number.db.next": 30,
    "number.db.prev": 2,
    "block.cache.data.hit": 3,
    "block.cache.data.miss": 1,
}
TABLES = FamilyTables("default", 2, 500, 100, 10, 3, 1, 2_400, 9_000, 5_700, ("LZ4",), ("bytewise",))


def logged(folder: Path, *texts: str) -> StoreFacts:
    path = folder / "LOG"
    path.write_text("".join(texts))
    return gathered(read_log([path]), None, None)


def statistics(tickers: dict[str, int]) -> str:
    lines = "".join(f"rocksdb.{name} COUNT : {count}\n" for name, count in tickers.items())
    return message(5, "STATISTICS:\n").rstrip() + "\n" + lines


@pytest.mark.parametrize("golden", GOLDENS, ids=lambda path: path.name)
def test_each_golden_log_shows_its_families_and_writes(golden: Path) -> None:
    facts = gathered(read_log([golden]), None, None)
    assert {family.name for family in facts.families} >= {"default"}
    assert facts.written_keys
    assert facts.seconds
    assert any(family.file_bytes for family in facts.families)


def test_counts_are_the_tickers(tmp_path: Path) -> None:
    facts = logged(tmp_path, statistics(TICKERS))
    counts = facts.counts
    assert counts is not None
    assert (counts.gets, counts.found_gets, counts.memtable_hits) == (60, 38, 20)
    assert (counts.writes, counts.seeks, counts.steps, counts.total) == (100, 4, 32, 164)
    assert facts.cache_hit_share == 0.75


def test_without_tickers_of_hits_found_lookups_are_unknown(tmp_path: Path) -> None:
    few = {name: count for name, count in TICKERS.items() if not name.endswith("hit")}
    facts = logged(tmp_path, statistics(few))
    assert facts.counts is not None
    assert facts.counts.found_gets is None
    assert facts.cache_hit_share == 0


def test_flushes_say_sizes_and_deletions(tmp_path: Path) -> None:
    start = '{"job": 3, "event": "flush_started", "num_entries": 200, "num_deletes": 50}'
    made = (
        '{"cf_name": "default", "job": 3, "event": "table_file_creation", "file_size": 9000, '
        '"table_properties": {"data_size": 6000, "raw_key_size": 2400, "raw_value_size": 9600, '
        '"num_entries": 100, "num_deletions": 4}}'
    )
    end = '{"job": 3, "event": "flush_finished"}'
    facts = logged(tmp_path, *(message(1, f"EVENT_LOG_v1 {event}") for event in (start, made, end)))
    (family,) = facts.families
    assert (family.written_entries, family.written_deletions, family.memtable_entries) == (200, 50, 200)
    assert (family.key_bytes, family.value_bytes, family.compressed_fraction) == (16, 100, 0.5)


def test_tables_count_more_than_the_log() -> None:
    log = read_log([GOLDENS[-1]])
    facts = gathered(log, StoreTables((TABLES,), 1, "x.sst: damaged"), None)
    family = next(each for each in facts.families if each.name == "default")
    assert (family.entries, family.deletions, family.file_bytes) == (100, 10, 500)
    assert (family.key_bytes, family.value_bytes, family.compressed_fraction) == (16, 100, 0.5)
    assert any("1 tables could not be read" in note for note in facts.notes)


def test_a_time_to_live_lets_data_expire_only_with_fifo() -> None:
    text = '[CFOptions "default"]\nttl=60\ncompaction_filter_factory={}\ncompaction_style={}\n'

    def expiry(factory: str, style: str) -> tuple[tuple[str, str], ...]:
        document = parsed_document(text.format(factory, style).encode())
        (family,) = gathered(None, None, document).families
        return family.expiry

    assert expiry("nullptr", "kCompactionStyleLevel") == ()
    assert expiry("nullptr", "kCompactionStyleFIFO") == (("ttl", "60"),)
    assert expiry("TtlCompactionFilterFactory", "kCompactionStyleLevel") == (
        ("compaction_filter_factory", "TtlCompactionFilterFactory"),
    )
