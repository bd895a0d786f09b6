"""Facts from LOG files, tables and OPTIONS files."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.importing.logs.made import GOLDENS, TABLE, header, message

from rocktune.analysis.profile import StoreFacts, gathered
from rocktune.engine import FamilyBlobs, FamilyTables, StoreTables
from rocktune.importing import parsed_document
from rocktune.importing.logs import read_log

CASES = Path(__file__).parents[2] / "importing" / "logs" / "cases"
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


def levels(folder: Path, *rows: tuple[str, int, float]) -> float | None:
    """Returns the largest run's share by a dump of levels with so many files and MiB."""
    heads = "Files Size Score W-Amp"
    text = "".join(f"  {name} {files}/0 {mib:.2f} MB 0.5 1.0\n" for name, files, mib in rows)
    table = f"\n** Compaction Stats [default] **\nLevel {heads}\n{'-' * 20}\n{text}"
    (family,) = logged(folder, message(5, "-- DUMPING STATS --").rstrip(), table).families
    return family.largest_run_share


def test_the_largest_level_is_a_run(tmp_path: Path) -> None:
    assert levels(tmp_path, ("L0", 2, 10.0), ("L5", 3, 30.0)) == 0.75
    # RocksDB prints levels that were emptied, such as by a compaction with `change_level`.
    assert levels(tmp_path, ("L0", 2, 10.0), ("L5", 3, 30.0), ("L6", 0, 0.0)) == 0.75
    # Files of level 0 may have versions of the same keys.
    assert levels(tmp_path, ("L0", 2, 10.0)) is None
    assert levels(tmp_path, ("L0", 1, 10.0)) == 1.0
    # A young store has little in its last level.
    assert levels(tmp_path, ("L0", 2, 10.0), ("L5", 3, 60.0), ("L6", 1, 10.0)) == 0.75


def test_levels_without_their_sum_are_data(tmp_path: Path) -> None:
    facts = gathered(read_log([CASES / "slow-flushes-17-columns.log"]), None, None)
    (family,) = facts.families
    assert family.file_bytes == round((36.10 + 80.12 + 130.02) * (1 << 20))
    (stats,) = read_log([CASES / "slow-flushes-17-columns.log"]).openings[0].dumps[0].families
    assert (stats.total, stats.files) == (None, 25)


def test_a_time_to_live_and_a_size_let_data_expire_only_with_fifo() -> None:
    text = (
        '[CFOptions "default"]\nttl=60\ncompaction_filter_factory={}\ncompaction_style={}\n'
        "compaction_options_fifo={{max_table_files_size=1000;allow_compaction=true;max_data_files_size=0}}\n"
    )

    def expiry(factory: str, style: str) -> tuple[tuple[str, str], ...]:
        document = parsed_document(text.format(factory, style).encode())
        (family,) = gathered(None, None, document).families
        return family.expiry

    assert expiry("nullptr", "kCompactionStyleLevel") == ()
    assert expiry("nullptr", "kCompactionStyleFIFO") == (
        ("ttl", "60"),
        ("compaction_options_fifo.max_table_files_size", "1000"),
    )
    assert expiry("TtlCompactionFilterFactory", "kCompactionStyleLevel") == (
        ("compaction_filter_factory", "TtlCompactionFilterFactory"),
    )


@pytest.mark.parametrize(
    ("options", "is_steady"),
    [
        ("", True),
        ("compaction_style=kCompactionStyleUniversal", True),
        ("compaction_style=kCompactionStyleFIFO", False),
        ("compaction_style=kCompactionStyleNone", False),
        ("disable_auto_compactions=true", False),
        ("disable_auto_compactions=false", True),
    ],
)
def test_stores_without_compactions_of_their_own_have_no_steady_state(options: str, is_steady: bool) -> None:
    document = parsed_document(f'[CFOptions "default"]\n{options}\n'.encode())
    (family,) = gathered(None, None, document).families
    assert family.is_steady == is_steady


def test_a_shortened_file_keeps_what_the_log_says_of_compactions(tmp_path: Path) -> None:
    log = tmp_path / "LOG"
    options = message(0, "--------------- Options for column family [default]:")
    options += message(0, "                  Options.disable_auto_compactions: 1")
    log.write_text(header(0, "9.9.3") + options)
    document = parsed_document(b'[CFOptions "default"]\nttl=60\n')
    (family,) = gathered(read_log([log]), None, document).families
    assert not family.is_steady


def test_without_a_log_its_place_is_named() -> None:
    options = parsed_document(b'[DBOptions]\n  db_log_dir=/var/log/db\n[CFOptions "default"]\n')
    (note,) = gathered(None, StoreTables((TABLES,), 0, ""), options).notes
    assert note.startswith("No LOG was read, so that operations")
    assert note.endswith("db_log_dir is /var/log/db: name the LOG there too.")
    (note,) = gathered(None, StoreTables((TABLES,), 0, ""), None).notes
    assert "db_log_dir" not in note


def test_a_family_that_was_dropped_is_no_data(tmp_path: Path) -> None:
    path = tmp_path / "LOG"
    path.write_text(
        message(5, "-- DUMPING STATS --").rstrip()
        + TABLE.format(family="default")
        + TABLE.format(family="old")
    )
    log, tables = read_log([path]), StoreTables((TABLES,), 0, "")
    options = parsed_document(b'[CFOptions "default"]\n[CFOptions "empty"]\n')
    facts = gathered(log, tables, options)
    assert {each.name for each in facts.families} == {"default", "empty"}
    assert any(note.startswith("old: the LOG has this column family") for note in facts.notes)
    # Nobody knows without an OPTIONS file: its tables may be elsewhere.
    assert {each.name for each in gathered(log, tables, None).families} == {"default", "old"}


def test_values_in_blob_files_are_values(tmp_path: Path) -> None:
    # 100 values of 4,000 bytes with keys of 16; a reference has about 10 bytes.
    blobs = FamilyBlobs(files=2, values=100, record_bytes=100 * 4_016)
    raw: dict[str, Any] = {"raw_key_bytes": 100 * 24, "raw_value_bytes": 100 * 10, "data_bytes": 100 * 34}
    tables = replace(TABLES, entries=100, deletions=0, blobs=blobs, **raw)
    (family,) = gathered(None, StoreTables((tables,), 0, ""), None).families
    assert (family.value_bytes, family.blob_values) == (4_000, 100)
    assert family.compressed_fraction == pytest.approx((3_400 + 400_000) / (2_400 + 400_000))
    # Half of the values stay in tables, with 90 bytes.
    mixed = replace(
        tables, raw_value_bytes=50 * 10 + 50 * 90, blobs=replace(blobs, values=50, record_bytes=50 * 4_016)
    )
    (family,) = gathered(None, StoreTables((mixed,), 0, ""), None).families
    assert family.value_bytes == (4_000 + 90) / 2


def test_a_log_shows_values_in_blob_files(tmp_path: Path) -> None:
    events = (
        '{"job": 3, "event": "flush_started", "num_entries": 100, "num_deletes": 0}',
        '{"cf_name": "default", "job": 3, "event": "blob_file_creation", "file_number": 9, '
        f'"total_blob_count": 100, "total_blob_bytes": {100 * (32 + 16 + 4_000)}}}',
        '{"cf_name": "default", "job": 3, "event": "table_file_creation", "file_size": 4000, '
        '"table_properties": {"data_size": 3400, "raw_key_size": 2400, "raw_value_size": 1000, '
        '"num_entries": 100, "num_deletions": 0}}',
        '{"job": 3, "event": "flush_finished"}',
    )
    facts = logged(tmp_path, *(message(1, f"EVENT_LOG_v1 {event}") for event in events))
    (family,) = facts.families
    assert (family.key_bytes, family.value_bytes, family.blob_values) == (16, 4_000, 100)
    options = parsed_document(b'[CFOptions "default"]\n  enable_blob_files=true\n')
    (without,) = gathered(None, StoreTables((TABLES,), 0, ""), options).families
    assert (without.uses_blob_files, without.blob_values) == (True, 0)
