"""LOG files that RocksDB wrote, and what db_bench printed beside them."""

import re
from pathlib import Path

import pytest
from tests.importing.logs.made import GOLDENS, document, only


@pytest.fixture(params=GOLDENS, ids=lambda path: path.stem)
def golden(request: pytest.FixtureRequest) -> Path:
    path: Path = request.param
    return path


def test_there_are_goldens_from_5_to_11() -> None:
    versions = {path.stem.removeprefix("rocksdb-") for path in GOLDENS}
    assert {version.partition(".")[0] for version in versions} >= {"5", "6", "7", "8", "9", "10", "11"}


def families(text: str) -> tuple[str, ...]:
    """Returns the families whose options a LOG has."""
    return tuple(dict.fromkeys(re.findall(r"Options for column family \[(.*)\]:\n", text)))


def test_the_opening(golden: Path) -> None:
    opening = only(golden)
    assert (opening.product, opening.version) == ("RocksDB", golden.stem.removeprefix("rocksdb-"))
    assert opening.begins
    assert len(opening.session) == (0 if opening.version.startswith("5.") else 20)
    assert opening.families == families(golden.read_text())
    assert len(opening.families) == 2
    assert 0.2 < (opening.seconds or 0) < 20
    assert not opening.unread
    assert not opening.left_out


def test_options_of_database_families_and_tables(golden: Path) -> None:
    text, opening = golden.read_text(), only(golden)
    assert opening.option("max_background_compactions") == "-1" or opening.version == "5.0.1"
    (size,) = set(re.findall(r"Options\.write_buffer_size: (\d+)", text))
    for family in opening.families:
        assert opening.option("write_buffer_size", family) == size
        assert opening.option("level0_slowdown_writes_trigger", family) == "3"
        assert opening.option("table.block_size", family) == "4096"
        # RocksDB 5.0 prints the cache's size alone.
        size_name = "block_cache_size" if opening.version == "5.0.1" else "block_cache_options.capacity"
        assert opening.option(f"table.{size_name}", family) in ("8388608", "33554432")
        assert opening.option("table.whole_key_filtering", family) == "1"
    blocks = re.split(r"Options for column family \[.*\]:\n", text)
    # RocksDB 5.0 prints some options twice.
    logged = sum(len(set(re.findall(r" Options\.(.*?) *:", block))) for block in blocks)
    plain = [option for option in opening.options if not option.name.startswith("table.")]
    assert len(plain) == logged > 100


def test_flushes_and_compactions_are_those_of_the_text(golden: Path) -> None:
    text, opening = golden.read_text(), only(golden)
    assert len(opening.flushes) == text.count('"flush_finished"') > 4
    assert len(opening.compactions) == text.count('"compaction_finished"') > 0
    assert sum(work.flushes for work in opening.work) == len(opening.flushes)
    assert sum(work.trivial_moves for work in opening.work) == len(re.findall(r"Mov(?:ed|ing) #\d+ to", text))
    assert {flush.family for flush in opening.flushes} == set(opening.families)
    reason = "" if opening.version == "5.0.1" else "Write Buffer Full"
    assert {flush.reason for flush in opening.flushes} == {reason}
    tables = {int(size) for size in re.findall(r"Level-0 flush table #\d+: (\d+) bytes", text)}
    assert {flush.output_bytes for flush in opening.flushes} == tables
    for flush in opening.flushes:
        assert (flush.memory_bytes or 0) > (flush.output_bytes or 0)
        assert flush.began is not None
        assert flush.ended is not None
        assert flush.began < flush.ended


def test_compactions_have_levels_and_bytes(golden: Path) -> None:
    for compaction in only(golden).compactions:
        assert compaction.input_levels
        assert compaction.input_levels[-1] in (0, compaction.output_level)
        assert 0 < (compaction.output_bytes or 0) < (compaction.input_bytes or 0)
        assert 0 < (compaction.output_records or 0) <= (compaction.input_records or 0)
        assert compaction.seconds


def test_stalls_are_those_of_the_text(golden: Path) -> None:
    text, opening = golden.read_text(), only(golden)
    assert sum(stall.messages for stall in opening.stalls) == text.count(" writes because ") > 2
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
    assert dump.db.uptime_s
    assert dump.db.interval_s
    assert [family.family for family in dump.families] == list(opening.families)
    for family in dump.families:
        rows = family.levels
        # With dynamic levels the first compaction writes to the last level.
        assert [row.level for row in rows] in (["L0"], ["L0", "L1"], ["L0", "L6"])
        assert family.total is not None
        assert family.total.files == sum(row.files or 0 for row in rows) > 0
        assert family.total.size_bytes == pytest.approx(sum(row.size_bytes or 0 for row in rows), rel=0.02)
        assert family.total.compactions == sum(row.compactions or 0 for row in rows)
        assert not family.total.other
        assert family.since_dump is not None
        assert family.uptime_s
        assert family.interval_s
        assert family.interval_compaction_write_mb_s
        assert len(family.stalls) >= 8


def test_causes_of_stalls_are_counted_by_name(golden: Path) -> None:
    opening = only(golden)
    counted = {name for family in opening.dumps[-1].families for name, times in family.stalls if times}
    assert counted <= {
        "memtable-limit-stops",
        "l0-file-count-limit-delays",
        "cf-l0-file-count-limit-delays-with-ongoing-compaction",
        "l0-file-count-limit-stops",
        "cf-l0-file-count-limit-stops-with-ongoing-compaction",
    }
    # Its only dump comes before the first stall.
    assert counted or opening.version == "5.0.1"


def test_priorities_and_statistics_objects(golden: Path) -> None:
    opening = only(golden)
    # db_bench ran with a statistics object, the program in Java without.
    by_db_bench = opening.families[1].startswith("column_family_name")
    for family in opening.dumps[-1].families:
        priorities = [row.level for row in family.priorities]
        assert priorities in ([], ["High"], ["Low", "High"])
        assert bool(priorities) is not opening.version.startswith("5.")
    assert bool(opening.tickers) is bool(opening.histograms) is by_db_bench
    if by_db_bench:
        assert dict(opening.tickers)["rocksdb.number.keys.written"] > 0
        assert opening.histograms[0].name == "rocksdb.db.get.micros"


def test_what_the_program_printed(golden: Path) -> None:
    printed = only(golden.with_suffix(".txt"))
    assert (printed.version, printed.first, printed.begins) == ("", None, False)
    (dump,) = printed.dumps
    assert dump.db is not None
    assert (dump.db.uptime_s or 0) > 1
    (family,) = dump.families
    assert family.family in only(golden).families
    assert family.total is not None
    assert family.stalls
    assert not printed.unread


def test_windows_line_ends_change_nothing(golden: Path, tmp_path: Path) -> None:
    path = tmp_path / "LOG"
    path.write_bytes(b"\xef\xbb\xbf" + golden.read_bytes().replace(b"\n", b"\r\n"))
    assert document(path).openings == document(golden).openings


def test_a_file_in_pieces_gives_the_same(golden: Path, tmp_path: Path) -> None:
    lines = golden.read_bytes().splitlines(keepends=True)
    starts = [at for at, line in enumerate(lines) if b"Level-0 flush table" in line]
    cut = starts[len(starts) // 2]
    for name, part in (("LOG.old.1", lines[:cut]), ("LOG", lines[cut:])):
        (tmp_path / name).write_bytes(b"".join(part))
    assert document(tmp_path).openings == document(golden).openings
    assert document(tmp_path / "LOG", tmp_path / "LOG.old.1").openings == document(golden).openings
