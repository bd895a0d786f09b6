"""LOG files that RocksDB wrote, and what db_bench printed beside them."""

import re
from pathlib import Path

import pytest
from tests.importing.logs.made import GOLDENS, document, only


@pytest.fixture(params=GOLDENS, ids=lambda path: path.stem)
def golden(request: pytest.FixtureRequest) -> Path:
    path: Path = request.param
    return path


def test_there_are_goldens() -> None:
    assert {path.stem for path in GOLDENS} >= {
        "rocksdb-7.8.3",
        "rocksdb-8.6.7",
        "rocksdb-9.9.3",
        "rocksdb-11.8.1",
    }


def test_the_opening(golden: Path) -> None:
    opening = only(golden)
    assert (opening.product, opening.version) == ("RocksDB", golden.stem.removeprefix("rocksdb-"))
    assert opening.begins
    assert len(opening.session) == 20
    assert opening.families == ("default", "column_family_name_000001")
    assert 1 < (opening.seconds or 0) < 20
    assert not opening.unread
    assert not opening.left_out


def test_options_of_database_families_and_tables(golden: Path) -> None:
    opening = only(golden)
    assert opening.option("max_background_jobs") == "2"
    for family in opening.families:
        assert opening.option("write_buffer_size", family) == "262144"
        assert opening.option("level0_stop_writes_trigger", family) == "6"
        assert opening.option("table.block_size", family) == "4096"
        assert opening.option("table.block_cache_options.capacity", family) in ("8388608", "33554432")
        assert opening.option("table.persistent_cache", family) is not None
    logged = len(re.findall(r" Options\.\w", golden.read_text()))
    plain = [option for option in opening.options if not option.name.startswith("table.")]
    assert len(plain) == logged


def test_flushes_and_compactions_are_those_of_the_text(golden: Path) -> None:
    text, opening = golden.read_text(), only(golden)
    assert len(opening.flushes) == text.count('"flush_finished"') > 4
    assert len(opening.compactions) == text.count('"compaction_finished"') > 0
    assert sum(work.flushes for work in opening.work) == len(opening.flushes)
    assert {flush.family for flush in opening.flushes} == set(opening.families)
    assert {flush.reason for flush in opening.flushes} == {"Write Buffer Full"}
    for flush in opening.flushes:
        assert flush.memory_bytes is not None
        assert flush.output_bytes is not None
        assert 200_000 < flush.output_bytes < 500_000 < 2 * flush.memory_bytes
        assert flush.began is not None
        assert flush.ended is not None
        assert flush.began < flush.ended
    for compaction in opening.compactions:
        assert (compaction.input_levels[0], compaction.output_level) == (0, 1)
        assert compaction.output_bytes is not None
        assert compaction.input_bytes is not None
        assert 0 < compaction.output_bytes < compaction.input_bytes
        assert compaction.seconds
    assert len(opening.levels) == text.count("Level summary: ") > 4


def test_stalls_are_those_of_the_text(golden: Path) -> None:
    text, opening = golden.read_text(), only(golden)
    assert sum(stall.messages for stall in opening.stalls) == text.count(" writes because ") > 3
    stopped = [stall for stall in opening.stalls if stall.stops]
    assert sum(stall.messages for stall in stopped) == text.count("Stopping writes because ")
    assert not opening.warnings
    assert not opening.errors


def test_statistics_are_those_of_the_last_dump(golden: Path) -> None:
    text, opening = golden.read_text(), only(golden)
    assert len(opening.dumps) == text.count("** DB Stats **")
    dump = opening.dumps[-1]
    assert dump.db is not None
    assert dump.db.cumulative.writes == int(re.findall(r"Cumulative writes: (\d+) writes", text)[-1])
    assert f"00:00:{dump.db.cumulative.stall_s:.3f} H:M:S" in re.findall(r"Cumulative stall: (.*),", text)[-1]
    assert [family.family for family in dump.families] == list(opening.families)
    for family in dump.families:
        (level,) = family.levels
        assert level.level == "L0"
        assert family.total is not None
        assert family.total.size_bytes == level.size_bytes
        assert f"{(level.size_bytes or 0) / 1024:.2f} KB" in text
        assert level.write_amplification == 1.0
        assert level.compactions == level.files
        assert family.since_dump is not None
        assert [row.level for row in family.priorities] == ["High"]
        assert family.uptime_s
        assert family.interval_compaction_write_mb_s
    stalls = sum(times for family in dump.families for _, times in family.stalls)
    assert stalls > 0
    assert dict(opening.tickers)["rocksdb.number.keys.written"] > 0
    assert opening.histograms[0].name == "rocksdb.db.get.micros"


def test_what_db_bench_printed(golden: Path) -> None:
    printed = golden.with_suffix(".txt")
    opening = only(printed)
    assert (opening.version, opening.first, opening.begins) == ("", None, False)
    (dump,) = opening.dumps
    assert dump.db is not None
    assert dump.db.cumulative.writes == 5500
    assert [family.family for family in dump.families] == ["default"]
    assert dump.families[0].total is not None
    assert opening.tickers


def test_windows_line_ends_change_nothing(golden: Path, tmp_path: Path) -> None:
    path = tmp_path / "LOG"
    path.write_bytes(b"\xef\xbb\xbf" + golden.read_bytes().replace(b"\n", b"\r\n"))
    assert document(path).openings == document(golden).openings


def test_a_file_in_pieces_gives_the_same(golden: Path, tmp_path: Path) -> None:
    lines = golden.read_bytes().splitlines(keepends=True)
    starts = [at for at, line in enumerate(lines) if b"Flush lasted" in line]
    cut = starts[len(starts) // 2]
    for name, part in (("LOG.old.1", lines[:cut]), ("LOG", lines[cut:])):
        (tmp_path / name).write_bytes(b"".join(part))
    assert document(tmp_path).openings == document(golden).openings
    assert document(tmp_path / "LOG", tmp_path / "LOG.old.1").openings == document(golden).openings
