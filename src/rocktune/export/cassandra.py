"""Cassandra's cassandra.yaml and a table's properties: Dremel's table 6 with Cassandra's present names."""

import math

from rocktune.errors import UserError
from rocktune.export.rules import THREADS, Rule, Settings, background_threads, flat, named, translated
from rocktune.export.target import Found, Target, commented, head
from rocktune.export.values import (
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
_MIN_FALSE_POSITIVE_CHANCE = 6.71e-5
_MAX_CHUNK_KIB = 1024
_COMPRESSORS = {
    "kSnappyCompression": "SnappyCompressor",
    "kZlibCompression": "DeflateCompressor",
    "kLZ4Compression": "LZ4Compressor",
    "kZSTD": "ZstdCompressor",
}
_NOTES = (
    "No Cassandra server was tuned or measured with these values: a RocksDB store was, and the names are"
    " those that Dremel's table 6 says correspond, as they are today. Measure before you keep them",
    "Cassandra's memtables, reads and compactions are not RocksDB's; network, garbage collection and"
    " compaction_throughput (64MiB/s by default) may decide more than what is set here",
    "memtable_heap_space is for all tables of a node: here it is all memtables of the one store, and"
    " memtable_cleanup_threshold, which Cassandra calls deprecated, the share that one of them may fill",
    "file_cache_size is the cache of uncompressed chunks, off by default; 32 MiB of it are kept for buffers",
)
_REASONS = {
    "level0_file_num_compaction_trigger": "table 6's min_threshold is of size-tiered compaction; the leveled"
    " strategy has none",
    "level0_slowdown_writes_trigger": "Cassandra delays no writes for level 0",
    "level0_stop_writes_trigger": "Cassandra stops no writes for level 0",
    "max_bytes_for_level_base": "level 1 is fanout_size files large",
}


def _heap_space(options: Settings) -> Settings:
    """Returns the memory of all memtables, and the share of it at which the largest is flushed."""
    if "write_buffer_size" not in options:
        return {}
    buffers = whole_in(options.get("max_write_buffer_number", "2"))
    memtable_bytes = buffers * whole_in(options["write_buffer_size"])
    return {
        "memtable_heap_space": f"{whole_mebibytes()(str(memtable_bytes))}MiB",
        "memtable_cleanup_threshold": f"{min(max(1 / buffers, 0.01), 0.99):.2f}",
    }


def _file_cache(text: str) -> Settings:
    return {"file_cache_enabled": "true", "file_cache_size": f"{whole_mebibytes()(text)}MiB"}


_NODE: dict[str, Rule] = {
    "max_background_flushes": named("memtable_flush_writers", whole(1)),
    "max_background_compactions": named("concurrent_compactors", whole(1)),
    "block_cache": _file_cache,
}
"""Of cassandra.yaml; sizes there have a unit, and no smaller one than MiB."""


def false_positive_chance(bits_per_key: float) -> float:
    """Returns the share of false positives of the best Bloom filter, 1 / 2^(ln 2 * bits per key)."""
    return math.exp(-bits_per_key * math.log(2) ** 2)


def _filter_policy(text: str) -> Settings:
    kind, bits = filter_in(text)
    if kind == "ribbon":
        raise NotExpressibleError("only Bloom filters there")
    chance = false_positive_chance(bits) if kind == "bloom" else 1.0
    if chance <= _MIN_FALSE_POSITIVE_CHANCE:
        raise NotExpressibleError("bloom_filter_fp_chance has to be above 0.0000671")
    return {"bloom_filter_fp_chance": f"{chance:.2g}"}


def _chunk_length(text: str) -> Settings:
    kibibytes = whole_in(text) / 1024
    if not 1 <= kibibytes <= _MAX_CHUNK_KIB or not math.log2(kibibytes).is_integer():
        raise NotExpressibleError("chunk_length_in_kb has to be a power of two")
    return {"chunk_length_in_kb": f"{kibibytes:.0f}"}


_COMPACTION: dict[str, Rule] = {
    "target_file_size_base": named("sstable_size_in_mb", whole_mebibytes()),
    "max_bytes_for_level_multiplier": named("fanout_size", whole(1)),
}
_COMPRESSION: dict[str, Rule] = {
    "compression": named("class", choice(_COMPRESSORS)),
    "block_size": _chunk_length,
}
_FILTER: dict[str, Rule] = {"filter_policy": _filter_policy}


def _map_literal(settings: Settings) -> str:
    """Writes a map of CQL; every value is a number, or a name without quotes in it."""
    return "{" + ", ".join(f"'{name}': '{value}'" for name, value in settings.items()) + "}"


def _table_properties(options: Settings) -> Settings:
    """Returns the properties of a table, by CQL's names."""
    leveled = {"class": "LeveledCompactionStrategy"}
    properties = {"compaction": _map_literal(leveled | translated(options, _COMPACTION).settings)}
    compression = translated(options, _COMPRESSION).settings
    if "class" in compression:
        properties["compression"] = _map_literal(compression)
    elif options.get("compression") == _UNCOMPRESSED:
        properties["compression"] = _map_literal({"enabled": "false"})
    return properties | translated(options, _FILTER).settings


def _unmapped(options: Settings) -> list[str]:
    rules = _NODE | _COMPACTION | _COMPRESSION | _FILTER
    left = {name: text for name, text in options.items() if name not in (*_MEMTABLES, "compaction_style")}
    if left.get("compression") == _UNCOMPRESSED:
        del left["compression"]
        rules = {name: rule for name, rule in rules.items() if name != "block_size"}
    reasons = _REASONS | {"block_size": "chunks are a unit of compressed tables alone"}
    return translated(left, rules, reasons=reasons).unmapped


def _write(found: Found) -> str:
    options = flat(found.options)
    style = options.get("compaction_style", _LEVELED)
    if style != _LEVELED:
        raise UserError(f"cassandra: only leveled compaction can be carried over, and the study's is {style}")
    for name in THREADS:
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
    "cassandra", "Cassandra's settings that correspond (Dremel's table 6); no server was tuned", _write
)
