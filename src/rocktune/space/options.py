"""RocksDB options as text: laying maps over each other, reading knobs out of them, scaling them."""

import re
from collections.abc import Iterable
from types import MappingProxyType

from rocktune.errors import UserError
from rocktune.space.block_cache import block_cache_in, is_block_cache
from rocktune.space.catalogue import CATALOGUE
from rocktune.space.configuration import OptionMaps, Value
from rocktune.space.knob import Knob

BLOCK_CACHE = "block_cache"
SECTIONS = ("db", "cf", "table")
"""RocksDB's own, which are always there."""
OWN_SECTIONS = MappingProxyType({"governor": "compaction governor", "flsm": "FLSM store"})
"""Those of what is rocktune's own, which a store has where the section is there, each with what that is."""


def merged_options(*maps: OptionMaps) -> OptionMaps:
    """Lays option maps over each other, later ones on top. The result shares nothing with them."""
    sections = dict.fromkeys((*SECTIONS, *(section for options in maps for section in options)))
    return {
        section: {name: text for options in maps for name, text in options.get(section, {}).items()}
        for section in sections
    }


def knob_values(options: OptionMaps, knobs: Iterable[Knob]) -> dict[str, Value]:
    """Reads knobs out of options; an option that is not there has RocksDB 7.8's default.

    `max_background_flushes` and `max_background_compactions` are what RocksDB makes of
    `max_background_jobs` when neither is set, so that tuning one does not change the other by the way.

    Raises:
        UserError: an option's text is no value of its knob's type.
    """
    values: dict[str, Value] = {}
    for knob in knobs:
        text = options.get(knob.section, {}).get(knob.option_name)
        known = CATALOGUE.get(knob.name, knob)
        if text is not None and knob.name == BLOCK_CACHE and is_block_cache(text):
            values[knob.name] = block_cache_in(text).capacity_bytes
        else:
            values[knob.name] = known.default if text is None else known.value_in(text)
    for name, threads in _background_threads(options.get("db", {})).items():
        if name in values:
            values[name] = threads
    return values


def _background_threads(db_options: dict[str, str]) -> dict[str, Value]:
    """Works out flush and compaction threads as RocksDB does: either both given, or shares of all jobs."""
    compactions, flushes, jobs = (
        int(knob.value_in(db_options.get(knob.name, str(knob.default))))
        for knob in map(
            CATALOGUE.__getitem__,
            ("max_background_compactions", "max_background_flushes", "max_background_jobs"),
        )
    )
    if compactions == -1 and flushes == -1:
        flushes = max(1, jobs // 4)
        compactions = jobs - flushes
    return {
        "max_background_compactions": max(1, compactions),
        "max_background_flushes": max(1, flushes),
    }


def scaled_options(options: OptionMaps, scale: int) -> OptionMaps:
    """Divides every full-size quantity of bytes by S, so that a store of 1/S of the data has the same shape.

    Scaled are the sizes that stand in proportion to the data: memtables and their arena, the block cache,
    levels, files, blob files, the write-ahead log's limit, the largest compaction, and the bytes of pending
    compaction at which writes are delayed or stopped; a governor's debt and its interval, and level 1 of an
    FLSM store, too. Those that are absent are set to RocksDB 7.8's default divided by S, because a default
    is a full-size quantity too: unscaled, 64 GiB of pending compaction would never be reached on a model.
    (Defaults of other versions: have the options read back in full first.) 0 stays 0; it means "none" or
    "derived", as `max_compaction_bytes` is from `target_file_size_base` and `arena_block_size` from
    `write_buffer_size`.

    Not scaled, because the device, the entries and the blocks are not: `block_size`, read-ahead,
    `bytes_per_sync` and other I/O sizes; rates such as `delayed_write_rate`; write groups, which hold whole
    entries; `max_manifest_file_size`, because a run makes as many files on a model as at full size. Nor are
    counts, ratios, bits per key and durations.

    Args:
        options: at full size.
        scale: S, at least 1; 1 changes nothing.

    Returns:
        New maps; no size is below what RocksDB takes (64 KiB for a write buffer, 4 KiB for its arena).
    """
    result = merged_options(options)
    if scale == 1:
        return result
    for knob in CATALOGUE.values():
        section = result.get(knob.section)
        if section is None:
            continue
        if knob.scaled and (knob.option_name in section or knob.default != 0):
            text = section.get(knob.option_name, str(knob.default))
            if knob.name == BLOCK_CACHE:
                section[knob.option_name] = _divided_cache(text, scale)
            else:
                section[knob.option_name] = _divided(text, scale, knob.scaled_floor)
    if result["table"].get("no_block_cache") == "true":
        result["table"].pop("block_cache")
    fifo = result["cf"].get("compaction_options_fifo")
    if fifo is not None:
        result["cf"]["compaction_options_fifo"] = re.sub(
            r"(?<=max_table_files_size=)\d+", lambda size: _divided(size[0], scale, 1), fifo
        )
    return result


def _divided_cache(text: str, scale: int) -> str:
    """Divides a block cache's capacity; text that is no cache is left to RocksDB's parser."""
    try:
        return block_cache_in(text).divided(scale).text
    except UserError:
        return text


def _divided(text: str, scale: int, floor: int) -> str:
    """Divides a size, rounding to whole bytes; text that is no plain number is left to RocksDB's parsers."""
    if not re.fullmatch(r"\d+", text) or int(text) == 0:
        return text
    return str(max(floor, (2 * int(text) + scale) // (2 * scale)))
