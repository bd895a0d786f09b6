"""The Java class and Kafka Streams' config setter as text; test_maven.py compiles and runs them."""

from tests.export.samples import changed, comments, exported


def test_setters_with_javas_types() -> None:
    lines = exported("java").splitlines()
    for line in (
        "import org.rocksdb.CompressionType;",
        "  private final Cache cache = new LRUCache(646000000L);",
        "  private final Filter filter = new BloomFilter(10.0);",
        "    options.setMaxBackgroundCompactions(3);",
        "    options.setWriteBufferSize(50331648L);",
        "    options.setLevel0StopWritesTrigger(21);",
        "    options.setMaxBytesForLevelMultiplier(8.0);",
        "    options.setAllowMmapReads(false);",
        "    options.setCompressionType(CompressionType.LZ4_COMPRESSION);",
        "    options.setCompactionPriority(CompactionPriority.MinOverlappingRatio);",
        "    table.setBlockSize(8192L);",
        "    table.setBlockCache(cache);",
        "    table.setFilterPolicy(filter);",
    ):
        assert line in lines, line
    assert "Left out" not in comments("\n".join(lines))


def test_what_rocksdbjni_cannot_take_is_listed() -> None:
    told = comments(exported("java", changed("table", filter_policy="ribbonfilter:12:-1")))
    assert "- filter_policy=ribbonfilter:12:-1: rocksdbjni has only Bloom filters" in told
    told = comments(exported("java", changed("cf", ttl=str((1 << 64) - 2))))
    assert f"- ttl={(1 << 64) - 2}: must be from -{(1 << 63) - 1} to {(1 << 63) - 1} there" in told
    assert "OptionsUtil.loadOptionsFromFile takes all" in told


def test_no_filter_is_set_as_none() -> None:
    text = exported("java", changed("table", filter_policy="nullptr"))
    assert "    table.setFilterPolicy(null);" in text.splitlines()
    assert "BloomFilter" not in text


def test_comments_are_ascii_whatever_the_compiler_expects() -> None:
    text = exported("java", changed("cf", merge_operator="Zähler\U0001f600"))
    # Java reads U+1F600 as its two UTF-16 halves.
    assert "merge_operator=Z\\u00e4hler\\ud83d\\ude00: no such setting" in text
    assert text.isascii()


def test_config_setter_shares_the_cache_and_sets_what_kafka_streams_has_changed() -> None:
    lines = exported("kafka-streams", {"table": {"block_cache": "1048576"}}).splitlines()
    for line in (
        "  private static final Cache cache = new LRUCache(1048576L);",
        "    options.setCompactionStyle(CompactionStyle.LEVEL);",
        "    options.setOptimizeFiltersForHits(false);",
        "    options.setWriteBufferSize(67108864L);",
        "    options.setMaxWriteBufferNumber(2);",
        "    table.setFilterPolicy(null);",
    ):
        assert line in lines, line


def test_config_setter_tells_of_many_stores() -> None:
    text = exported("kafka-streams")
    told = comments(text)
    assert "one RocksDB for each partition of each store" in told
    assert "larger write buffers" in told
    assert "options.setWriteBufferSize(50331648L);" in text


def test_config_setter_calls_nothing_that_kafka_streams_ignores() -> None:
    text = exported("kafka-streams", changed("db", max_total_wal_size="1048576"))
    told = comments(text)
    assert "options.setMaxBackgroundJobs(5);" in text  # 3 compactions + 2 flushes
    assert "Measured with max_background_compactions=3 and max_background_flushes=2" in told
    for name in ("MaxBackgroundCompactions", "MaxTotalWalSize", "MinWriteBufferNumberToMerge"):
        assert f"set{name}" not in text
    assert "- max_total_wal_size=1048576: Kafka Streams writes no log" in told
    assert "- min_write_buffer_number_to_merge=2: Kafka Streams has 1" in told
