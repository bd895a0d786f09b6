"""Exports to Flink's config.yaml for the RocksDB state backend."""

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
# Far above any useful time; in milliseconds it still fits into a Java long.
_MAX_DURATION_S = 1 << 40


def _size(text: str) -> str:
    """Returns a size in bytes as Flink writes it, such as "64 mb".

    Raises:
        NotExpressibleError: the size is 0.
    """
    if whole_in(text) == 0:
        raise NotExpressibleError("Flink needs a value above 0")
    return size(_SIZE_UNITS)(text)


def _compression_per_level(text: str) -> str:
    """Returns one compression per level, separated by semicolons; the last holds for all levels below."""
    return ";".join(choice(ENUMERATIONS["CompressionType"])(level) for level in text.split(":"))


def _seconds(text: str) -> str:
    """Returns a duration in seconds as Flink writes it, such as "30 s"."""
    return whole(0, _MAX_DURATION_S)(text) + " s"


def _filter_policy(text: str) -> Settings:
    """Returns the keys that switch Bloom filters on, with their bits per key, or off.

    Raises:
        NotExpressibleError: it is a Ribbon filter.
    """
    kind, bits = filter_in(text)
    if kind == "ribbon":
        raise NotExpressibleError("Flink has only Bloom filters")
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
"""RocksDB's own values, for which Flink has no key."""


def _memory_notes(options: Settings) -> list[str]:
    """Returns how to give a slot the measured memory in spite of Flink's managed memory."""
    needed = ("block_cache", "max_write_buffer_number", "write_buffer_size")
    managed = (
        "Flink's managed memory, on by default, gives a slot one cache and one memtable limit instead"
        f" of {_PREFIX}block.cache-size; each state has a column family with its own memtables"
    )
    if any(name not in options for name in needed):
        return [managed]
    cache, buffers, buffer_bytes = (whole_in(options[name]) for name in needed)
    total = cache + buffers * buffer_bytes
    return [
        managed,
        "To give a slot with one busy state about the measured memory, set"
        f" {_PREFIX}memory.fixed-per-slot:"
        f" {size(_SIZE_UNITS)(str(total))} and {_PREFIX}memory.write-buffer-ratio:"
        f" {buffers * buffer_bytes / total:.3f}; filters and indexes count in it too",
    ]


def _write(found: Found) -> str:
    """Returns the export: keys of config.yaml with comments."""
    jobs, thread_notes = with_background_jobs(found.options)
    options = flat(jobs)
    # RocksDB writes an empty list for "one compression for all", which is no value in Flink.
    if not options.get("compression_per_level"):
        options.pop("compression_per_level", None)
    done = translated(options, _RULES, _FIXED)
    notes = [
        *_memory_notes(flat(found.options)),
        *thread_notes,
        "Flink uses no write-ahead log. Your own RocksDBOptionsFactory overrides these keys"
        " and can set the options that are left out (rocktune export --to java shows the calls)",
    ]
    lines = [
        *head(found, "#", "Flink 2.3 (frocksdbjni 8.10), config.yaml", notes, done.unmapped),
        "",
        "state.backend.type: rocksdb",
        *(f"{name}: {value}" for name, value in done.settings.items()),
    ]
    return "\n".join(lines) + "\n"


TARGET = Target("flink", "Flink's config.yaml, for its RocksDB state backend", _write)
