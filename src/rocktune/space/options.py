"""Functions on RocksDB options as text: merging them, reading knobs from them, scaling them."""

import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocktune.errors import UserError
from rocktune.space.block_cache import is_block_cache, parse_block_cache
from rocktune.space.catalogue import CATALOGUE
from rocktune.space.catalogue_files import LEFT_TO_RELEASE
from rocktune.space.configuration import OptionMaps, Value, family_section, section_kind
from rocktune.space.knob import Knob
from rocktune.space.memory import FamilyEntries

BLOCK_CACHE = "block_cache"
SECTIONS = ("db", "cf", "table")
"""RocksDB's own sections, which merged options always have."""
OWN_SECTIONS = MappingProxyType({"governor": "compaction governor", "flsm": "FLSM store"})
"""rocktune's own sections, each with the name of its component. A store uses it if the section is present."""
FIFO = "kCompactionStyleFIFO"
"""The compaction style that only drops files: those beyond a size, and those beyond an age."""
_THREADS = ("max_background_compactions", "max_background_flushes")
_JOBS = "max_background_jobs"
_WITHOUT_KNOB = MappingProxyType(
    {
        "compaction_options_fifo": re.compile(r"(?<=max_table_files_size=)\d+"),
        # A hash memtable takes 8 bytes a bucket of the write buffer, before the first entry.
        "memtable_factory": re.compile(
            r"(?<=bucket_count=)\d+|(?<=prefix_hash:)\d+|(?<=hash_linkedlist:)\d+"
        ),
    }
)
"""Where options of section "cf" that no knob covers have quantities that grow with the data."""


def merged_options(*maps: OptionMaps) -> OptionMaps:
    """Returns a new map with the options of all maps; a later map's option replaces an earlier one's."""
    sections = dict.fromkeys((*SECTIONS, *(section for options in maps for section in options)))
    return {
        section: {name: text for options in maps for name, text in options.get(section, {}).items()}
        for section in sections
    }


def with_knobs(options: OptionMaps, knobs: Iterable[Knob], values: Mapping[str, Value]) -> OptionMaps:
    """Returns new options with the values of knobs, which replace options of their names.

    Args:
        options: the options so far.
        knobs: the knobs; each is written after those before it, of which it keeps what shares its option,
            and whose options it may override.
        values: values by knob name; a knob without one, and a field of the workload, is left out.
    """
    result = merged_options(options)
    for knob in knobs:
        if knob.section != "workload" and knob.name in values:
            section = result.setdefault(knob.section, {})
            for option in knob.overrides:
                section.pop(option, None)
            section[knob.option_name] = knob.text(values[knob.name], section.get(knob.option_name))
    return result


def knob_values(options: OptionMaps, knobs: Iterable[Knob]) -> dict[str, Value]:
    """Returns the values of knobs that a store with these options has, by knob name.

    Absent options have RocksDB 7.8's defaults. If neither `max_background_flushes` nor
    `max_background_compactions` is set, both get the values that RocksDB derives from `max_background_jobs`.

    Raises:
        UserError: an option's text does not contain a value of its knob's type.
    """
    values: dict[str, Value] = {}
    for knob in knobs:
        text = options.get(knob.section, {}).get(knob.option_name)
        known = CATALOGUE.get(knob.plain_name, knob)
        if text is not None and knob.name == BLOCK_CACHE and is_block_cache(text):
            values[knob.name] = parse_block_cache(text).capacity_bytes
        else:
            values[knob.name] = known.default if text is None else knob.like_choice(known.value_in(text))
    # RocksDB derives either thread count only if both are unset. A configuration that sets just one would
    # change the other too, so both values are made explicit.
    for name, threads in _background_threads(options.get("db", {})).items():
        if name in values:
            values[name] = threads
    return values


def all_values(
    options: OptionMaps, knobs: Iterable[Knob], families: Iterable[FamilyEntries]
) -> dict[str, Value]:
    """Returns the values of knobs and of all catalogue entries in a store with these options, by name.

    Args:
        options: the options; absent ones have RocksDB 7.8's defaults.
        knobs: a space's knobs, which replace the catalogue's of their names.
        families: column families, whose values of catalogue entries have names that begin with the family's.
    """
    own = {knob.name: knob for knob in knobs}
    values = knob_values(options, (CATALOGUE | own).values())
    for family in families:
        # The family's knobs are among `own`; here are its options that are no knobs.
        sections = {kind: options.get(family_section(kind, family.name), {}) for kind in ("cf", "table")}
        of_family = knob_values({"db": options.get("db", {}), **sections}, CATALOGUE.values())
        for name, value in of_family.items():
            if CATALOGUE[name].section in sections:
                values.setdefault(family.own(name), value)
    return values


def caches_filters(options: OptionMaps, families: Sequence[FamilyEntries]) -> bool:
    """Returns whether filters lie in the block cache: those of all families, or of a store of one."""
    sections = [family_section("table", family.name) for family in families] or ["table"]
    return all(
        options.get(section, {}).get("cache_index_and_filter_blocks") == "true" for section in sections
    )


def own_memory_bytes(options: OptionMaps, family: str) -> int:
    """Returns the bytes that a column family's memtables and its own block cache may take; 0 for no family.

    Args:
        options: options with sections of the family; absent options have RocksDB 7.8's defaults.
        family: name of the family.
    """
    if family_section("cf", family) not in options:
        return 0
    sections = {kind: options.get(family_section(kind, family), {}) for kind in ("cf", "table")}
    names = ("write_buffer_size", "max_write_buffer_number", BLOCK_CACHE)
    values = knob_values(sections, (CATALOGUE[name] for name in names))
    size, number, cache = (int(values[name]) for name in names)
    return size * number + (cache if BLOCK_CACHE in sections["table"] else 0)


def _background_threads(db_options: dict[str, str]) -> dict[str, Value]:
    """Returns the numbers of flush and compaction threads that RocksDB uses with these options.

    If both are unset (-1), a quarter of `max_background_jobs` are flushes and the rest compactions.
    """
    compactions, flushes, jobs = (
        int(knob.value_in(db_options.get(knob.name, str(knob.default))))
        for knob in map(
            CATALOGUE.__getitem__,
            (*_THREADS, _JOBS),
        )
    )
    if compactions == -1 and flushes == -1:
        flushes = max(1, jobs // 4)
        compactions = jobs - flushes
    return dict(zip(_THREADS, (max(1, compactions), max(1, flushes)), strict=True))


def value_columns(
    configurations: Sequence[Mapping[str, Value]], constants: Mapping[str, Value]
) -> dict[str, NDArray[Any]]:
    """Returns the values of many configurations as arrays by knob name.

    Args:
        configurations: at least one configuration.
        constants: values by name, for what a configuration does not set.
    """
    # np.full is much faster than a loop for the many options that no configuration sets.
    set_by_some = set().union(*configurations)
    return {
        name: np.array([configuration.get(name, value) for configuration in configurations])
        if name in set_by_some
        else np.full(len(configurations), value)
        for name, value in constants.items()
    }


def thread_columns(
    fixed_options: OptionMaps, knobs: Sequence[Knob], configurations: Sequence[Mapping[str, Value]]
) -> dict[str, NDArray[Any]]:
    """Returns the numbers of threads that follow from the configurations' `max_background_jobs`.

    Args:
        fixed_options: the options that all configurations share.
        knobs: the knobs of the space.
        configurations: configurations of the space, at least one.

    Returns:
        Arrays for `max_background_compactions` and `max_background_flushes`; empty if the jobs are no knob,
        or if one of the two numbers is one.
    """
    set_by_some = set().union(*configurations)
    if _JOBS not in set_by_some or not set_by_some.isdisjoint(_THREADS):
        return {}
    jobs = [configuration[_JOBS] for configuration in configurations]
    found = {
        number: _background_threads(with_knobs(fixed_options, knobs, {_JOBS: number})["db"])
        for number in set(jobs)
    }
    return {name: np.array([found[number][name] for number in jobs]) for name in _THREADS}


def scaled_options(options: OptionMaps, scale: int) -> OptionMaps:
    """Returns the options of a 1/S model: all full-size quantities divided by S.

    A store with 1/S of the data then has the same shape. These sizes grow with the data and are divided:
    memtables, their arena and their hash buckets, the block cache, levels, files, blob files, the limit of
    the write-ahead log, the largest compaction, and the bytes of pending compaction at which writes are
    delayed or stopped. So are a governor's debt and interval, and level 1 of an FLSM store. Tables of a model
    live S times shorter, so the ages at which they are rewritten (`ttl`, `periodic_compaction_seconds`) are
    divided too, down to 1 s.

    Absent options of this kind are set to RocksDB 7.8's default divided by S, because a default is a
    full-size quantity too. A model would never reach 64 GiB of pending compaction. To scale the defaults of
    another version, read the complete options back from it first. 0 stays 0: it means "none" or "derived",
    as `max_compaction_bytes` is derived from `target_file_size_base`.

    These are not divided, because the device, the entries and the blocks are not: `block_size`, read-ahead,
    `bytes_per_sync` and other I/O sizes; rates such as `delayed_write_rate`; write groups, which hold whole
    entries. `max_manifest_file_size` is not, because a model writes as many files as a full-size run. Counts,
    ratios, bits per key and other durations are not divided either.

    Args:
        options: the options at full size.
        scale: S, at least 1; at 1 only a copy is made.

    Returns:
        New maps. No size is below RocksDB's minimum (64 KiB for a write buffer, 4 KiB for its arena).
    """
    result = merged_options(options)
    if scale == 1:
        return result
    for name, section in result.items():
        for knob in CATALOGUE.values():
            if not knob.scaled or knob.section != section_kind(name):
                continue
            # What a family's own options leave out, those of all families or the shared cache decide. An age
            # that is left out stays with the release, whose 30 days no run lasts.
            has_default = knob.default != 0 and knob.section == name and knob.unit != "s"
            if knob.option_name in section or has_default:
                text = section.get(knob.option_name, str(knob.default))
                if knob.name == BLOCK_CACHE:
                    section[knob.option_name] = _divided_cache(text, scale)
                else:
                    section[knob.option_name] = _divided(text, scale, knob.scaled_floor)
        for option, quantity in _WITHOUT_KNOB.items():
            if section_kind(name) == "cf" and option in section:
                section[option] = quantity.sub(lambda found: _divided(found[0], scale, 1), section[option])
    # RocksDB refuses a block cache together with no_block_cache; the loop has just set the default one.
    if result["table"].get("no_block_cache") == "true":
        result["table"].pop("block_cache")
    return result


def _divided_cache(text: str, scale: int) -> str:
    """Returns the cache's text with its capacity divided by S, or the text itself if it is malformed.

    RocksDB's own parser then reports the error.
    """
    try:
        return parse_block_cache(text).divided(scale).text
    except UserError:
        return text


def _divided(text: str, scale: int, floor: int) -> str:
    """Returns a size or an age divided by S, rounded to whole bytes or seconds, at least `floor`.

    0, an age that the release decides, and text that is not a plain number are returned unchanged; RocksDB's
    own parser reports errors.
    """
    if not re.fullmatch(r"\d+", text) or int(text) == 0 or text == LEFT_TO_RELEASE:
        return text
    return str(max(floor, (2 * int(text) + scale) // (2 * scale)))
