"""Flink's names, units and constants of RocksDB options, from its RocksDBConfigurableOptions.java."""

import re

from rocktune.systems.rules import UNCHANGED, Rule, Settings, named
from rocktune.systems.typed_options import ENUMERATIONS
from rocktune.systems.values import (
    INT_MAX,
    Codec,
    NotExpressibleError,
    choice,
    decimal,
    filter_in,
    size,
    switch,
    whole,
    whole_in,
)

PREFIX = "state.backend.rocksdb."
SIZE_UNITS = ((" gb", 1 << 30), (" mb", 1 << 20), (" kb", 1 << 10), (" b", 1))
# Far above any useful time; in milliseconds it still fits into a Java long.
_MAX_DURATION_S = 1 << 40


def _above_zero(text: str) -> str:
    """Returns a size in bytes as Flink writes it, such as "64 mb".

    Raises:
        NotExpressibleError: the size is 0.
    """
    if whole_in(text) == 0:
        raise NotExpressibleError("Flink needs a value above 0")
    return size(SIZE_UNITS)(text)


_size = Codec(_above_zero, size(SIZE_UNITS).read)
_TYPE = choice(ENUMERATIONS["CompressionType"])
_per_level = Codec(
    # One compression per level, separated by semicolons; the last holds for all levels below.
    lambda text: ";".join(map(_TYPE, text.split(":"))),
    lambda text: ":".join(_TYPE.read(level.strip()) for level in text.split(";")),
)
_SECONDS_IN = {"s": 1, "sec": 1, "min": 60, "m": 60, "h": 3600, "d": 86400}


def _read_seconds(text: str) -> str:
    """Returns the seconds of a duration such as "30 s" or "2 h"."""
    match = re.fullmatch(r"(\d+)\s*([a-z]+)", text.strip().lower())
    if match is None or match[2] not in _SECONDS_IN:
        raise NotExpressibleError("is no duration such as 30 s")
    return str(int(match[1]) * _SECONDS_IN[match[2]])


_seconds = Codec(lambda text: whole(0, _MAX_DURATION_S)(text) + " s", _read_seconds)


def _filter_policy(text: str) -> Settings:
    """Returns the keys that switch Bloom filters on, with their bits per key, or off.

    Raises:
        NotExpressibleError: it is a Ribbon filter.
    """
    kind, bits = filter_in(text)
    if kind == "ribbon":
        raise NotExpressibleError("Flink has only Bloom filters")
    if kind == "none":
        return {PREFIX + "use-bloom-filter": "false"}
    return {
        PREFIX + "use-bloom-filter": "true",
        PREFIX + "bloom-filter.bits-per-key": repr(float(decimal(str(bits)))),
    }


RULES: dict[str, Rule] = {
    "max_background_jobs": named(PREFIX + "thread.num", whole(1, INT_MAX)),
    "max_open_files": named(PREFIX + "files.open", whole(-1, INT_MAX)),
    "write_buffer_size": named(PREFIX + "writebuffer.size", _size),
    "max_write_buffer_number": named(PREFIX + "writebuffer.count", whole(1, INT_MAX)),
    "min_write_buffer_number_to_merge": named(PREFIX + "writebuffer.number-to-merge", whole(1, INT_MAX)),
    "max_bytes_for_level_base": named(PREFIX + "compaction.level.max-size-level-base", _size),
    "target_file_size_base": named(PREFIX + "compaction.level.target-file-size-base", _size),
    "level_compaction_dynamic_level_bytes": named(PREFIX + "compaction.level.use-dynamic-size", switch()),
    "compaction_style": named(PREFIX + "compaction.style", choice(ENUMERATIONS["CompactionStyle"])),
    "compression": named(PREFIX + "compression.per.level", _TYPE),
    "compression_per_level": named(PREFIX + "compression.per.level", _per_level),
    "periodic_compaction_seconds": named(PREFIX + "compaction.filter.periodic-compaction-time", _seconds),
    "block_size": named(PREFIX + "block.blocksize", _size),
    "metadata_block_size": named(PREFIX + "block.metadata-blocksize", _size),
    "block_cache": named(PREFIX + "block.cache-size", _size),
    "filter_policy": _filter_policy,
}


FIXED = UNCHANGED | {
    "level0_file_num_compaction_trigger": "4",
    "level0_slowdown_writes_trigger": "20",
    "level0_stop_writes_trigger": "36",
    "max_bytes_for_level_multiplier": "10",
    "num_levels": "7",
}
"""RocksDB's own values, for which Flink has no key."""
