"""Exports to Cassandra's cassandra.yaml and table properties: Dremel's table 6 with Cassandra 5.0's names."""

import math

from rocktune.errors import UserError
from rocktune.export.rules import THREADS, background_threads, flat, translated
from rocktune.export.target import Found, Target, commented, head
from rocktune.systems.cassandra import COMPRESSORS, false_positive_chance
from rocktune.systems.rules import Rule, Settings, named
from rocktune.systems.values import (
    NotExpressibleError,
    choice,
    filter_in,
    whole,
    whole_in,
    whole_mebibytes,
)

_LEVELED = "kCompactionStyleLevel"
_UNCOMPRESSED = "kNoCompression"
_MEMTABLES = ("write_buffer_size", "max_write_buffer_number")
# Cassandra refuses a table whose bloom_filter_fp_chance is not above this (its filters have at most 20 bits
# per key).
_MIN_FALSE_POSITIVE_CHANCE = 6.71e-5
_MAX_CHUNK_KIB = 1024
_NOTES = (
    "These values were measured on a RocksDB store, not on Cassandra. The settings are those that Dremel's"
    " table 6 says correspond, with their present names. Measure before you keep them",
    "Cassandra's memtables, reads and compactions differ from RocksDB's; network, garbage collection and"
    " compaction_throughput (64MiB/s by default) may matter more than the settings here",
    "memtable_heap_space is for all tables of a node; here it is the memory of one store's memtables."
    " memtable_cleanup_threshold, deprecated in Cassandra, is the share that one of them may fill",
    "file_cache_size is the cache of uncompressed chunks, off by default; 32 MiB of it are kept for buffers",
)
_REASONS = {
    "level0_file_num_compaction_trigger": "table 6's min_threshold belongs to size-tiered compaction; the"
    " leveled strategy has none",
    "level0_slowdown_writes_trigger": "Cassandra does not delay writes because of level 0",
    "level0_stop_writes_trigger": "Cassandra does not stop writes because of level 0",
    "max_bytes_for_level_base": "Cassandra's level 1 holds fanout_size files",
}


def _heap_space(options: Settings) -> Settings:
    """Returns the memory of all memtables, and the share of it at which the largest memtable is flushed."""
    if "write_buffer_size" not in options:
        return {}
    buffers = whole_in(options.get("max_write_buffer_number", "2"))
    memtable_bytes = buffers * whole_in(options["write_buffer_size"])
    return {
        "memtable_heap_space": f"{whole_mebibytes()(str(memtable_bytes))}MiB",
        # Cassandra accepts only values between 0.01 and 0.99.
        "memtable_cleanup_threshold": f"{min(max(1 / buffers, 0.01), 0.99):.2f}",
    }


def _file_cache(text: str) -> Settings:
    """Returns the settings of the file cache for a block cache's size."""
    return {"file_cache_enabled": "true", "file_cache_size": f"{whole_mebibytes()(text)}MiB"}


_NODE: dict[str, Rule] = {
    "max_background_flushes": named("memtable_flush_writers", whole(1)),
    "max_background_compactions": named("concurrent_compactors", whole(1)),
    "block_cache": _file_cache,
}
"""Rules for cassandra.yaml, where sizes are whole MiB."""


def _filter_policy(text: str) -> Settings:
    """Returns the table's bloom_filter_fp_chance.

    Raises:
        NotExpressibleError: the filter is no Bloom filter, or has more bits than Cassandra accepts.
    """
    kind, bits = filter_in(text)
    if kind == "ribbon":
        raise NotExpressibleError("Cassandra has only Bloom filters")
    chance = false_positive_chance(bits) if kind == "bloom" else 1.0
    if chance <= _MIN_FALSE_POSITIVE_CHANCE:
        raise NotExpressibleError("bloom_filter_fp_chance must be above 0.0000671")
    return {"bloom_filter_fp_chance": f"{chance:.2g}"}


def _chunk_length(text: str) -> Settings:
    """Returns Cassandra's compression chunk length for RocksDB's block size.

    Raises:
        NotExpressibleError: the size is not a power of two from 1 KiB to 1 MiB.
    """
    kibibytes = whole_in(text) / 1024
    if not 1 <= kibibytes <= _MAX_CHUNK_KIB or not math.log2(kibibytes).is_integer():
        raise NotExpressibleError("chunk_length_in_kb must be a power of two")
    return {"chunk_length_in_kb": f"{kibibytes:.0f}"}


_COMPACTION: dict[str, Rule] = {
    "target_file_size_base": named("sstable_size_in_mb", whole_mebibytes()),
    "max_bytes_for_level_multiplier": named("fanout_size", whole(1)),
}
_COMPRESSION: dict[str, Rule] = {
    "compression": named("class", choice(COMPRESSORS)),
    "block_size": _chunk_length,
}
_FILTER: dict[str, Rule] = {"filter_policy": _filter_policy}


def _map_literal(settings: Settings) -> str:
    """Returns a map as CQL text. Values are numbers or names without quotes, so nothing needs escaping."""
    return "{" + ", ".join(f"'{name}': '{value}'" for name, value in settings.items()) + "}"


def _table_properties(options: Settings) -> Settings:
    """Returns the properties of a table by their names in CQL."""
    # A compaction map without its class would be refused, and size-tiered compaction is Cassandra's default.
    leveled = {"class": "LeveledCompactionStrategy"}
    properties = {"compaction": _map_literal(leveled | translated(options, _COMPACTION).settings)}
    compression = translated(options, _COMPRESSION).settings
    if "class" in compression:
        properties["compression"] = _map_literal(compression)
    # Leaving compression out would mean Cassandra's default, LZ4.
    elif options.get("compression") == _UNCOMPRESSED:
        properties["compression"] = _map_literal({"enabled": "false"})
    return properties | translated(options, _FILTER).settings


def _unmapped(options: Settings) -> list[str]:
    """Returns one line for each option that the export leaves out."""
    rules = _NODE | _COMPACTION | _COMPRESSION | _FILTER
    # Memtables and style are written by functions of their own, so no rule covers them.
    left = {name: text for name, text in options.items() if name not in (*_MEMTABLES, "compaction_style")}
    if left.get("compression") == _UNCOMPRESSED:
        del left["compression"]
        rules = {name: rule for name, rule in rules.items() if name != "block_size"}
    reasons = _REASONS | {"block_size": "only compressed tables have chunks"}
    return translated(left, rules, reasons=reasons).unmapped


def _write(found: Found) -> str:
    """Returns the text of the export.

    Raises:
        UserError: the configuration does not use leveled compaction.
    """
    options = flat(found.options)
    style = options.get("compaction_style", _LEVELED)
    if style != _LEVELED:
        raise UserError(f"cassandra: only leveled compaction can be exported, and the study's is {style}")
    for name in THREADS:
        # RocksDB may hold -1 here; background_threads gives the numbers that were effective.
        options.pop(name, None)
    threads = background_threads(found.options)
    if threads is not None:
        options |= dict(zip(THREADS, map(str, threads), strict=True))
    node = _heap_space(options) | translated(options, _NODE).settings
    properties = [f"{name} = {value}" for name, value in _table_properties(options).items()]
    statement = ["ALTER TABLE your_keyspace.your_table WITH", "  " + "\n  AND ".join(properties) + ";"]
    lines = [
        *head(
            found, "#", "Cassandra 5.0, cassandra.yaml and a table's properties", _NOTES, _unmapped(options)
        ),
        "",
        *(f"{name}: {value}" for name, value in node.items()),
        "",
        *commented(["For each table, in cqlsh:"], "#"),
        *(f"# {line}" for line in "\n".join(statement).splitlines()),
    ]
    return "\n".join(lines) + "\n"


TARGET = Target(
    "cassandra", "corresponding settings of Cassandra (Dremel's table 6); no server was measured", _write
)
