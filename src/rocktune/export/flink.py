"""Flink's config.yaml, for the RocksDB state backend."""

from rocktune.export.rules import UNCHANGED, Rule, Settings, flat, named, translated, with_background_jobs
from rocktune.export.target import Found, Target, head
from rocktune.export.typed_options import ENUMERATIONS
from rocktune.export.values import (
    INT_MAX,
    NotExpressibleError,
    choice,
    decimal,
    filter_in,
    size,
    switch,
    whole,
    whole_in,
)

_PREFIX = "state.backend.rocksdb."
_SIZE_UNITS = ((" gb", 1 << 30), (" mb", 1 << 20), (" kb", 1 << 10), (" b", 1))
_MAX_DURATION_S = 1 << 40


def _size(text: str) -> str:
    if whole_in(text) == 0:
        raise NotExpressibleError("it has to be above 0 there")
    return size(_SIZE_UNITS)(text)


def _compression_per_level(text: str) -> str:
    """Writes one compression for each level, separated by semicolons; the last is that of all below."""
    return ";".join(choice(ENUMERATIONS["CompressionType"])(level) for level in text.split(":"))


def _seconds(text: str) -> str:
    return whole(0, _MAX_DURATION_S)(text) + " s"


def _filter_policy(text: str) -> Settings:
    kind, bits = filter_in(text)
    if kind == "ribbon":
        raise NotExpressibleError("only Bloom filters there")
    if kind == "none":
        return {_PREFIX + "use-bloom-filter": "false"}
    return {
        _PREFIX + "use-bloom-filter": "true",
        _PREFIX + "bloom-filter.bits-per-key": repr(float(decimal(str(bits)))),
    }


_RULES: dict[str, Rule] = {
    "max_background_jobs": named(_PREFIX + "thread.num", whole(1, INT_MAX)),
    "max_open_files": named(_PREFIX + "files.open", whole(-1, INT_MAX)),
    "write_buffer_size": named(_PREFIX + "writebuffer.size", _size),
    "max_write_buffer_number": named(_PREFIX + "writebuffer.count", whole(1, INT_MAX)),
    "min_write_buffer_number_to_merge": named(_PREFIX + "writebuffer.number-to-merge", whole(1, INT_MAX)),
    "max_bytes_for_level_base": named(_PREFIX + "compaction.level.max-size-level-base", _size),
    "target_file_size_base": named(_PREFIX + "compaction.level.target-file-size-base", _size),
    "level_compaction_dynamic_level_bytes": named(_PREFIX + "compaction.level.use-dynamic-size", switch()),
    "compaction_style": named(_PREFIX + "compaction.style", choice(ENUMERATIONS["CompactionStyle"])),
    "compression": named(_PREFIX + "compression.per.level", choice(ENUMERATIONS["CompressionType"])),
    "compression_per_level": named(_PREFIX + "compression.per.level", _compression_per_level),
    "periodic_compaction_seconds": named(_PREFIX + "compaction.filter.periodic-compaction-time", _seconds),
    "block_size": named(_PREFIX + "block.blocksize", _size),
    "metadata_block_size": named(_PREFIX + "block.metadata-blocksize", _size),
    "block_cache": named(_PREFIX + "block.cache-size", _size),
    "filter_policy": _filter_policy,
}


_FIXED = UNCHANGED | {
    "level0_file_num_compaction_trigger": "4",
    "level0_slowdown_writes_trigger": "20",
    "level0_stop_writes_trigger": "36",
    "max_bytes_for_level_multiplier": "10",
    "num_levels": "7",
}
"""RocksDB's own values, which no key of Flink's changes."""


def _memory_notes(options: Settings) -> list[str]:
    """Says what of Flink's managed memory gives a slot the memory that was measured."""
    needed = ("block_cache", "max_write_buffer_number", "write_buffer_size")
    managed = (
        "Flink's managed memory, on by default, puts one cache and one limit to all memtables of a slot in"
        f" the place of {_PREFIX}block.cache-size; each state has a column family with memtables of its own"
    )
    if any(name not in options for name in needed):
        return [managed]
    cache, buffers, buffer_bytes = (whole_in(options[name]) for name in needed)
    total = cache + buffers * buffer_bytes
    return [
        managed,
        "A slot with one busy state gets about the memory that was measured with"
        f" {_PREFIX}memory.fixed-per-slot:"
        f" {size(_SIZE_UNITS)(str(total))} and {_PREFIX}memory.write-buffer-ratio:"
        f" {buffers * buffer_bytes / total:.3f}; filters and indexes take their part of it too",
    ]


def _write(found: Found) -> str:
    jobs, thread_notes = with_background_jobs(found.options)
    options = flat(jobs)
    if not options.get("compression_per_level"):
        options.pop("compression_per_level", None)
    done = translated(options, _RULES, _FIXED)
    notes = [
        *_memory_notes(flat(found.options)),
        *thread_notes,
        "Flink writes no write-ahead log; a RocksDBOptionsFactory of yours has the last word over these keys,"
        " and can set what is not taken over (rocktune export --to java shows the calls)",
    ]
    lines = [
        *head(found, "#", "Flink 2.3 (frocksdbjni 8.10), config.yaml", notes, done.unmapped),
        "",
        "state.backend.type: rocksdb",
        *(f"{name}: {value}" for name, value in done.settings.items()),
    ]
    return "\n".join(lines) + "\n"


TARGET = Target("flink", "Flink's config.yaml, for its RocksDB state backend", _write)
