import pytest
from tests.export.samples import TUNED, changed, comments, exported, settings

PREFIX = "state.backend.rocksdb."


def test_keys_and_units() -> None:
    found = settings(exported("flink"), ": ")
    assert found.pop("state.backend.type") == "rocksdb"
    assert found == {
        PREFIX + "thread.num": "5",  # 3 compactions + 2 flushes
        PREFIX + "files.open": "-1",
        PREFIX + "writebuffer.size": "48 mb",
        PREFIX + "writebuffer.count": "4",
        PREFIX + "writebuffer.number-to-merge": "2",
        PREFIX + "compaction.level.max-size-level-base": "384 mb",
        PREFIX + "compaction.level.target-file-size-base": "32 mb",
        PREFIX + "compaction.level.use-dynamic-size": "false",
        PREFIX + "compaction.style": "LEVEL",
        PREFIX + "compression.per.level": "LZ4_COMPRESSION",
        PREFIX + "block.blocksize": "8 kb",
        PREFIX + "block.cache-size": "646000000 b",
        PREFIX + "use-bloom-filter": "true",
        PREFIX + "bloom-filter.bits-per-key": "10.0",
    }


def test_what_flink_has_no_key_for_is_listed_with_its_own_value() -> None:
    told = comments(exported("flink"))
    assert "- level0_stop_writes_trigger=21: always 36 there" in told
    assert "- max_bytes_for_level_multiplier=8.000000: always 10 there" in told
    assert "- bytes_per_sync=1048576: no such setting" in told


def test_value_that_flinks_stores_have_anyway_is_not_listed() -> None:
    told = comments(exported("flink", changed("cf", max_bytes_for_level_multiplier="10.000000")))
    assert "max_bytes_for_level_multiplier" not in told


def test_managed_memory_is_told_with_the_equivalent() -> None:
    told = comments(exported("flink"))
    # 646000000 bytes of cache and 4 * 50331648 of memtables are 847326592; 201326592 / 847326592 = 0.2376.
    assert PREFIX + "memory.fixed-per-slot: 847326592 b" in told
    assert PREFIX + "memory.write-buffer-ratio: 0.238" in told


def test_compression_of_each_level() -> None:
    options = changed("cf", compression_per_level="kNoCompression:kNoCompression:kZSTD")
    found = settings(exported("flink", options), ": ")
    assert found[PREFIX + "compression.per.level"] == "NO_COMPRESSION;NO_COMPRESSION;ZSTD_COMPRESSION"


def test_no_filter_and_a_filter_that_flink_does_not_have() -> None:
    none = settings(exported("flink", changed("table", filter_policy="nullptr")), ": ")
    assert none[PREFIX + "use-bloom-filter"] == "false"
    ribbon = exported("flink", changed("table", filter_policy="ribbonfilter:12:-1"))
    assert PREFIX + "use-bloom-filter" not in settings(ribbon, ": ")
    assert "- filter_policy=ribbonfilter:12:-1: Flink has only Bloom filters" in comments(ribbon)


@pytest.mark.parametrize(
    ("jobs", "threads"), [({"max_background_jobs": "6"}, "6"), ({"max_background_compactions": "-1"}, None)]
)
def test_threads_where_rocksdb_decides(jobs: dict[str, str], threads: str | None) -> None:
    found = settings(exported("flink", TUNED | {"db": jobs}), ": ")
    assert found.get(PREFIX + "thread.num") == threads
