"""Exports to a RocksDBConfigSetter class for Kafka Streams."""

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
"""RocksDB's defaults of options that Kafka Streams changes before it calls the setter.

The class sets them back, because the measured store had these defaults."""

_NOTES = (
    "Set rocksdb.config.setter = RocktuneConfigSetter in StreamsConfig",
    "Kafka Streams opens one RocksDB for each partition of each store, and several for each windowed one."
    " One store was measured. All of them share this block cache, but each has its own memtables;"
    " with many stores, divide write_buffer_size or share a WriteBufferManager",
    "It disables the write-ahead log. Options that this class does not set keep Kafka Streams' own values"
    " (block cache 50 MiB, no compression)",
    "Restoring a store from its changelog is a bulk load, for which Kafka recommends larger write buffers",
)


_IGNORED = {
    "manual_wal_flush": "Kafka Streams writes no log",
    "max_total_wal_size": "Kafka Streams writes no log",
    "min_write_buffer_number_to_merge": "Kafka Streams has 1, because it flushes all column families at once",
    "wal_bytes_per_sync": "Kafka Streams writes no log",
}
"""Options whose setters have no effect in Kafka Streams, and why."""


def _write(found: Found) -> str:
    """Returns the source of the Java class."""
    options, thread_notes = with_background_jobs(merged_options(_ROCKSDB_DEFAULTS, found.options))
    taken = {
        section: {name: text for name, text in texts.items() if name not in _IGNORED}
        for section, texts in options.items()
    }
    source = java_source(taken)
    ignored = {name: text for name, text in flat(options).items() if name in _IGNORED}
    fixed = {"min_write_buffer_number_to_merge": "1"}
    unmapped = [*translated(ignored, {}, fixed, _IGNORED).unmapped, *source.unmapped]
    # Sorted, so that equal configurations give equal files.
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
        # Kafka Streams calls close for each store, but the static cache and filter are shared.
        "    // The objects above belong to all stores, so none of them closes them.",
        "  }",
        "}",
    ]
    return "\n".join(lines) + "\n"


TARGET = Target("kafka-streams", "a RocksDBConfigSetter class for Kafka Streams", _write)
