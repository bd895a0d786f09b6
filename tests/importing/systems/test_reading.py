"""Files of systems built on RocksDB as their users keep them."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rocktune.importing import (
    Fate,
    ImportedOptions,
    LinkedRocksDb,
    OptionsFileError,
    imported,
    parsed_document,
)

CASES = Path(__file__).parent / "cases"
KVROCKS = (CASES / "kvrocks.conf").read_text()
TIKV = (CASES / "tikv.toml").read_text()
MYROCKS = (CASES / "my.cnf").read_text()
CEPH = (CASES / "ceph.conf").read_text()
NEBULA = (CASES / "nebula-storaged.conf").read_text()
FLINK = (CASES / "config.yaml").read_text()
JAVA = (CASES / "Setter.java").read_text()
CPP = (CASES / "tune.cc").read_text()
DB_BENCH = (CASES / "run.sh").read_text()
CASSANDRA = (CASES / "cassandra.yaml").read_text()
FILES = {
    "Kvrocks": KVROCKS, "TiKV": TIKV, "MyRocks": MYROCKS, "Ceph": CEPH, "NebulaGraph": NEBULA, "Flink": FLINK,
    "Java": JAVA, "C++": CPP, "db_bench": DB_BENCH, "Cassandra": CASSANDRA,
}  # fmt: skip


def read(text: str, linked: LinkedRocksDb, family: str | None = None) -> ImportedOptions:
    return imported(parsed_document(text.encode(), "file"), linked, family)


def some(file: ImportedOptions, **expected: str) -> None:
    found = {name: text for section in ("db", "cf", "table") for name, text in file.options[section].items()}
    assert {name: found[name] for name in expected} == expected


def test_kvrocks(linked: LinkedRocksDb) -> None:
    file = read(KVROCKS, linked)
    some(file, write_buffer_size=str(64 << 20), max_background_jobs="4")
    levels = file.options["cf"]["compression_per_level"]
    assert levels == ":".join(["kNoCompression"] * 2 + ["kZSTD"] * 5)
    some(file, block_cache=str(4 << 30), enable_pipelined_write="false")
    # What Kvrocks sets in its code is an option, too, and said so.
    some(file, filter_policy="bloomfilter:10:false")
    entry = next(each for each in file.account.entries if each.name == "filter_policy")
    assert (entry.given, entry.fate) == ("Kvrocks sets it itself", Fate.TRANSLATED)
    entry = next(each for each in file.account.entries if each.name == "write_buffer_size")
    assert (entry.given, entry.value, entry.line) == ("rocksdb.write_buffer_size=64", str(64 << 20), 6)
    assert file.shared_cache
    assert file.account.notes[:2] == (
        "Read as a file of Kvrocks.",
        "3 of its settings are not RocksDB's.",
    )


def test_tikv_has_families_and_one_cache(linked: LinkedRocksDb) -> None:
    with pytest.raises(OptionsFileError, match="it has 2 column families: 'default'"):
        read(TIKV, linked)
    file = read(TIKV, linked, "default")
    some(file, write_buffer_size=str(128 << 20), filter_policy="bloomfilter:10:false")
    some(file, max_background_jobs="8", wal_bytes_per_sync=str(512 << 10), block_cache=str(8 << 30))
    assert file.options["cf"]["compression_per_level"].count("kLZ4Compression") == 3
    assert file.options["cf:write"]["write_buffer_size"] == str(64 << 20)
    assert set(file.block_caches) == {"default", "write"}
    assert file.shared_cache


def test_myrocks_strings(linked: LinkedRocksDb) -> None:
    file = read(MYROCKS, linked, "cf_link")
    some(file, compression="kZSTD", write_buffer_size=str(128 << 20), block_size=str(16 << 10))
    some(file, block_cache=str(2 << 30), max_background_jobs="6")
    assert file.other_families == ("default", "cf_rev")
    some(read(MYROCKS, linked, "default"), compression="kLZ4Compression")


def test_ceph_strings(linked: LinkedRocksDb) -> None:
    file = read(CEPH, linked, "L")
    some(file, min_write_buffer_number_to_merge="32", max_write_buffer_number="64", max_background_jobs="4")
    some(file, compaction_readahead_size=str(2 << 20))
    assert {each.name for each in file.account.with_fate(Fate.UNKNOWN)} == {
        "compaction_threads",
        "block_cache",
    }
    assert file.other_families == ("default", "m", "p", "O", "P")
    alone = read("compression=kNoCompression,max_write_buffer_number=4,recycle_log_file_num=4\n", linked)
    some(alone, compression="kNoCompression", max_write_buffer_number="4")


def test_nebula_flags(linked: LinkedRocksDb) -> None:
    file = read(NEBULA, linked)
    some(file, max_subcompactions="4", block_size="8192", block_cache=str(4 << 30))
    some(file, compression="kLZ4Compression", write_buffer_size=str(64 << 20))
    assert [each.name for each in file.account.with_fate(Fate.UNKNOWN)] == ["rocksdb_batch_size"]


def test_flink_keys(linked: LinkedRocksDb) -> None:
    file = read(FLINK, linked)
    some(file, write_buffer_size=str(128 << 20), max_write_buffer_number="4")
    some(file, compaction_style="kCompactionStyleUniversal", filter_policy="bloomfilter:10:false")


def test_source_code(linked: LinkedRocksDb) -> None:
    file = read(JAVA, linked)
    some(file, block_cache=str(16 << 20), block_size=str(16 << 10), write_buffer_size=str(8 << 20))
    some(file, compaction_style="kCompactionStyleUniversal", max_write_buffer_number="2")
    (unclear,) = file.account.with_fate(Fate.UNKNOWN)
    assert (unclear.name, unclear.given) == ("setMaxWriteBufferNumber", "buffers")
    file = read(CPP, linked)
    some(file, write_buffer_size=str(64 << 20), compression="kZSTD", level0_file_num_compaction_trigger="8")
    (unclear,) = file.account.with_fate(Fate.UNKNOWN)
    assert (unclear.name, unclear.line) == ("max_background_jobs", 4)


def test_db_bench_flags(linked: LinkedRocksDb) -> None:
    file = read(DB_BENCH, linked)
    some(file, write_buffer_size=str(128 << 20), block_cache=str(1 << 30), compression="kZSTD")
    some(file, filter_policy="bloomfilter:10:false", max_background_jobs="6")


def test_cassandra(linked: LinkedRocksDb) -> None:
    file = read(CASSANDRA, linked)
    some(file, write_buffer_size=str(128 << 20), max_write_buffer_number="4", max_background_compactions="4")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            KVROCKS.replace("size 64\n", "size 64MB\n"),
            "line 6: rocksdb.write_buffer_size: '64MB' not a number",
        ),
        (KVROCKS + "rocksdb.write_buffer_size 32\n", "line 11: rocksdb.write_buffer_size comes twice"),
        (TIKV.replace('"128MB"', '"128 parrots"'), "write-buffer-size: '128 parrots' is no size"),
        (TIKV + "[broken", "malformed TOML"),
        (NEBULA.replace('"4"}', '"4"'), "is no JSON"),
        (NEBULA.replace('"8192"}', "8192}"), "must be a JSON object of texts"),
        (FLINK + "state.backend.rocksdb.bloom-filter.bits-per-key: many\n", "'many' not a number"),
        (KVROCKS.replace("start_level 2", "start_level 9"), "'9' must be from 0 to 6"),
        (MYROCKS.replace("16k}", "16k"), "is malformed"),
        (FLINK.replace("UNIVERSAL", "UNIVERSE"), "'UNIVERSE' must be one of LEVEL, UNIVERSAL"),
        ("rocksdb.\n", "besides OPTIONS files, these can be read: Java source"),
        ("hello world\n", "neither a section nor an option"),
        ("#include <rocksdb/db.h>\n", "a file of C++ without a setting of RocksDB"),
    ],
)
def test_what_cannot_be_read_is_one_line(text: str, message: str) -> None:
    with pytest.raises(OptionsFileError) as refusal:
        parsed_document(text.encode(), "file")
    assert message in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_nothing_is_left_out_without_a_word(linked: LinkedRocksDb) -> None:
    file = read(KVROCKS.replace("start_level 2", "start_level 0"), linked)
    some(file, compression="kZSTD")
    file = read(TIKV.replace('capacity = "8GB"', 'capacity = "8GB"\nnum-shard-bits = 6'), linked, "default")
    assert [each.name for each in file.account.with_fate(Fate.UNKNOWN)] == ["num-shard-bits"]
    assert "2 of its settings are not RocksDB's." in file.account.notes
    twice = CPP.replace("rocksdb::kZSTD;", "rocksdb::kZSTD;\n  other.compression = rocksdb::kNoCompression;")
    file = read(twice, linked)
    some(file, compression="kNoCompression")
    assert "set again in line" in file.account.with_fate(Fate.UNKNOWN)[-1].why
    assert any("divides column family O into 3" in note for note in read(CEPH, linked, "O").account.notes)
    off = CASSANDRA + "file_cache_size: 64MiB\nfile_cache_enabled: false\n"
    assert [each.name for each in read(off, linked).account.with_fate(Fate.UNKNOWN)] == ["file_cache_size"]


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("# compare db_bench --benchmarks=fillrandom\nrocksdb.block_size 4096\n", "Kvrocks"),
        (
            "state.backend.rocksdb.options-factory: org.rocksdb.Mine\nstate.backend.rocksdb.thread.num: 4\n",
            "Flink",
        ),
    ],
)
def test_a_mention_of_another_system_is_not_its_file(linked: LinkedRocksDb, text: str, note: str) -> None:
    assert read(text, linked).account.notes[0] == f"Read as a file of {note}."


def test_a_typo_gets_the_nearest_name(linked: LinkedRocksDb) -> None:
    file = read(KVROCKS.replace("block_cache_size", "blok_cache_size"), linked)
    (unknown,) = file.account.with_fate(Fate.UNKNOWN)
    assert "did you mean 'rocksdb.block_cache_size'?" in unknown.why


@pytest.mark.parametrize("system", FILES)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_damaged_files_never_give_a_traceback(
    system: str, linked: LinkedRocksDb, data: st.DataObject
) -> None:
    text = FILES[system]
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 40)))
    inserted = data.draw(st.text(alphabet=st.sampled_from(list("={}[]\"';:,\n9xM-#\\ ")), max_size=6))
    try:
        document = parsed_document((text[:start] + inserted + text[end:]).encode(), "file")
        file = imported(document, linked, document.families[0].name)
    except OptionsFileError as refusal:
        assert "\n" not in str(refusal)  # noqa: PT017 - either outcome is right
        return
    assert all(entry.fate for entry in file.account.entries)
