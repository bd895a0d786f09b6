"""Exports to Flink's config.yaml for the RocksDB state backend."""

from rocktune.export.rules import flat, translated, with_background_jobs
from rocktune.export.target import Found, Target, head
from rocktune.systems.flink import FIXED, PREFIX, RULES, SIZE_UNITS
from rocktune.systems.rules import Settings
from rocktune.systems.values import (
    size,
    whole_in,
)


def _memory_notes(options: Settings) -> list[str]:
    """Returns how to give a slot the measured memory in spite of Flink's managed memory."""
    needed = ("block_cache", "max_write_buffer_number", "write_buffer_size")
    managed = (
        "Flink's managed memory, on by default, gives a slot one cache and one memtable limit instead"
        f" of {PREFIX}block.cache-size; each state has a column family with its own memtables"
    )
    if any(name not in options for name in needed):
        return [managed]
    cache, buffers, buffer_bytes = (whole_in(options[name]) for name in needed)
    total = cache + buffers * buffer_bytes
    return [
        managed,
        "To give a slot with one busy state about the measured memory, set"
        f" {PREFIX}memory.fixed-per-slot:"
        f" {size(SIZE_UNITS)(str(total))} and {PREFIX}memory.write-buffer-ratio:"
        f" {buffers * buffer_bytes / total:.3f}; filters and indexes count in it too",
    ]


def _write(found: Found) -> str:
    """Returns the export: keys of config.yaml with comments."""
    jobs, thread_notes = with_background_jobs(found.options)
    options = flat(jobs)
    # RocksDB writes an empty list for "one compression for all", which is no value in Flink.
    if not options.get("compression_per_level"):
        options.pop("compression_per_level", None)
    done = translated(options, RULES, FIXED)
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
