"""A RocksDBConfigSetter for Kafka Streams."""

from rocktune.export.java import java_head, java_source
from rocktune.export.rules import flat, translated, with_background_jobs
from rocktune.export.target import Found, Target
from rocktune.space import OptionMaps, merged_options

_ROCKSDB_DEFAULTS: OptionMaps = {
    "cf": {
        "compaction_style": "kCompactionStyleLevel",
        "max_write_buffer_number": "2",
        "optimize_filters_for_hits": "false",
        "write_buffer_size": str(64 << 20),
    },
    "table": {"filter_policy": "nullptr"},
}
"""What Kafka Streams changes before it calls the setter, and a store that was measured without it had."""

_NOTES = (
    "Name it in StreamsConfig: rocksdb.config.setter = RocktuneConfigSetter",
    "Kafka Streams opens one RocksDB for each partition of each store, and several for each windowed one."
    " What was measured is one: all of them share this block cache, but each has memtables of its own;"
    " with many, divide write_buffer_size or share a WriteBufferManager",
    "It disables the write-ahead log, and keeps its own values (block cache 50 MiB, no compression) for what"
    " this class does not set",
    "Restoring a store from its changelog is a bulk load: Kafka's own advice is to give it larger write"
    " buffers",
)


_IGNORED = {
    "manual_wal_flush": "Kafka Streams writes no log",
    "max_total_wal_size": "Kafka Streams writes no log",
    "min_write_buffer_number_to_merge": "1 there, for Kafka Streams flushes all column families at once",
    "wal_bytes_per_sync": "Kafka Streams writes no log",
}
"""What its Options have setters for that change nothing, and why."""


def _write(found: Found) -> str:
    options, thread_notes = with_background_jobs(merged_options(_ROCKSDB_DEFAULTS, found.options))
    taken = {
        section: {name: text for name, text in texts.items() if name not in _IGNORED}
        for section, texts in options.items()
    }
    source = java_source(taken)
    ignored = {name: text for name, text in flat(options).items() if name in _IGNORED}
    fixed = {"min_write_buffer_number_to_merge": "1"}
    unmapped = [*translated(ignored, {}, fixed, _IGNORED).unmapped, *source.unmapped]
    names = sorted({"BlockBasedTableConfig", "Options", *source.imports})
    body = [
        "    final BlockBasedTableConfig table = (BlockBasedTableConfig) options.tableFormatConfig();",
        *(f"    {statement}" for statement in source.statements),
        "    options.setTableFormatConfig(table);",
    ]
    lines = [
        *java_head(found, "Kafka Streams 4.3 (rocksdbjni 10.1)", [*_NOTES, *thread_notes], unmapped),
        "import java.util.Map;",
        "import org.apache.kafka.streams.state.RocksDBConfigSetter;",
        *(f"import org.rocksdb.{name};" for name in names),
        "",
        "public final class RocktuneConfigSetter implements RocksDBConfigSetter {",
        *(f"  private static final {field};" for field in source.fields),
        *([""] if source.fields else []),
        "  @Override",
        "  public void setConfig(",
        "      final String storeName, final Options options, final Map<String, Object> configs) {",
        *body,
        "  }",
        "",
        "  @Override",
        "  public void close(final String storeName, final Options options) {",
        "    // The objects above belong to all stores, so none of them closes them.",
        "  }",
        "}",
    ]
    return "\n".join(lines) + "\n"


TARGET = Target("kafka-streams", "a RocksDBConfigSetter class for Kafka Streams", _write)
