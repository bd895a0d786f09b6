import pytest
from tests.export.samples import changed, comments, exported, settings

from rocktune.errors import UserError
from rocktune.systems.cassandra import false_positive_chance


def statement(text: str) -> str:
    """Returns the ALTER TABLE that stands in the comments."""
    return text[text.index("ALTER TABLE") :].replace("\n# ", "\n")


def test_names_and_units() -> None:
    text = exported("cassandra")
    assert settings(text, ": ") == {
        "memtable_heap_space": "192MiB",  # 4 * 48
        "memtable_cleanup_threshold": "0.25",  # one of 4
        "memtable_flush_writers": "2",
        "concurrent_compactors": "3",
        "file_cache_enabled": "true",
        "file_cache_size": "616MiB",  # 646000000 / 1048576 = 616.07
    }
    assert statement(text) == (
        "ALTER TABLE your_keyspace.your_table WITH\n"
        "  compaction = {'class': 'LeveledCompactionStrategy', 'sstable_size_in_mb': '32',"
        " 'fanout_size': '8'}\n"
        "  AND compression = {'class': 'LZ4Compressor', 'chunk_length_in_kb': '8'}\n"
        "  AND bloom_filter_fp_chance = 0.0082;\n"
    )


def test_it_says_that_no_server_was_tuned() -> None:
    told = comments(exported("cassandra"))
    assert "measured on a RocksDB store, not on Cassandra" in told
    assert "- max_bytes_for_level_base=402653184: Cassandra's level 1 holds fanout_size files" in told
    assert "- level0_file_num_compaction_trigger=6: table 6's min_threshold belongs to size-tiered" in told


def test_uncompressed_table_has_no_chunks() -> None:
    text = exported("cassandra", changed("cf", compression="kNoCompression"))
    assert "compression = {'enabled': 'false'}" in statement(text)
    assert "- block_size=8192: only compressed tables have chunks" in comments(text)


def test_chunk_that_is_no_power_of_two_is_listed() -> None:
    text = exported("cassandra", changed("table", block_size="12288"))
    assert "chunk_length_in_kb" not in statement(text)
    assert "- block_size=12288: chunk_length_in_kb must be a power of two" in comments(text)


# (1/2)^(ln 2 * 10) = e^(-4.8045) = 0.00819; at 20 bits it is its square, 0.0000671, where Cassandra's ends.
@pytest.mark.parametrize(("bits", "chance"), [(0, 1.0), (10, 0.00819), (20, 0.0000671)])
def test_false_positive_chance(bits: float, chance: float) -> None:
    assert false_positive_chance(bits) == pytest.approx(chance, rel=2e-3)


def test_filters() -> None:
    assert "fp_chance = 1;" in exported("cassandra", changed("table", filter_policy="nullptr"))
    text = exported("cassandra", changed("table", filter_policy="bloomfilter:24:false"))
    assert "fp_chance" not in statement(text)
    assert "bloom_filter_fp_chance must be above 0.0000671" in comments(text)


def test_other_compaction_styles_are_refused() -> None:
    with pytest.raises(UserError, match="only leveled compaction"):
        exported("cassandra", changed("cf", compaction_style="kCompactionStyleUniversal"))


def test_options_without_memory_or_threads() -> None:
    text = exported("cassandra", {"cf": {"max_bytes_for_level_multiplier": "4"}})
    assert "'fanout_size': '4'" in statement(text)
    assert not settings(text, ": ")
