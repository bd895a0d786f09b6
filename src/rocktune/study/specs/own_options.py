"""Makes a baseline from the user's own OPTIONS file, with memory equal to the search's.

An OPTIONS file lacks some settings, such as the block cache. These are made equal for baseline and winner.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

from rocktune.errors import UserError
from rocktune.importing import ImportedOptions
from rocktune.options_account import OptionsAccount
from rocktune.space import (
    FIFO,
    BlockCache,
    FamilyEntries,
    MemoryShares,
    OptionMaps,
    Space,
    is_block_cache,
    merged_options,
    parse_block_cache,
    section_kind,
    space_from_document,
)
from rocktune.spec_file import SparseSpec, Switch
from rocktune.units import format_bytes

_FIFO_BYTES = re.compile(r"max_table_files_size=(\d+)")
_FIFO_DEFAULT_BYTES = 1 << 30
"""RocksDB's default of `max_table_files_size`."""
_NEVER_IN_A_FILE = ("write buffer manager", "Env", "SstFileManager", "row cache")

CacheSource = Literal["options_file", "asked", "search", "none"]
MemorySource = Literal["options_file", "asked", "space"]


class OwnTerms(SparseSpec):
    """States where the memory of a baseline from an OPTIONS file comes from, and what the file did not give.

    Attributes:
        family: the column family that is tuned; empty if all loaded ones are tuned together.
        loaded_families: those that the workload loads; empty for a workload on one.
        other_families: those of the file that are not measured.
        families_with_cache: how many families the file gives a block cache.
        shared_cache: whether they share one cache; RocksDB's loader makes one for each.
        cache: the block cache's source: the file, the user's flag, what the search's budget leaves, or "none"
            for a store without one.
        memory: the budget's source: the file's memtables, filters and cache, the user's flag, or the space.
        left_out: names of options in the file that are not used; only in ledgers older than `account`.
        account: what became of every option of the file; None in older ledgers.
    """

    sparse_fields: ClassVar[frozenset[str]] = frozenset({"account", "loaded_families"})

    family: str
    loaded_families: tuple[str, ...] = ()
    other_families: tuple[str, ...] = ()
    families_with_cache: int = 0
    shared_cache: Switch = False
    cache: CacheSource
    memory: MemorySource
    left_out: tuple[str, ...] = ()
    account: OptionsAccount | None = None


@dataclass(frozen=True)
class AskedMemory:
    """The user's settings of memory that add to an OPTIONS file.

    Attributes:
        memory_bytes: the memory budget at full size; None to derive it from the file.
        block_cache: the baseline's block cache; None for the file's.
        shared_cache: True if the file's column families share one block cache.
    """

    memory_bytes: int | None = None
    block_cache: BlockCache | None = None
    shared_cache: bool = False


@dataclass(frozen=True)
class OwnBaseline:
    """A baseline from an OPTIONS file.

    Attributes:
        options: full-size options, with the block cache unless the store has none.
        memory_bytes: the memory budget of the search at full size.
        terms: the origin of cache and budget.
    """

    options: OptionMaps
    memory_bytes: int
    terms: OwnTerms


def own_baseline(
    file: ImportedOptions,
    space_document: Mapping[str, Any],
    expected_entries: float,
    asked: AskedMemory,
    families: tuple[FamilyEntries, ...] = (),
) -> OwnBaseline:
    """Returns the baseline that an OPTIONS file describes.

    The block cache is the user's setting, else the file's. If neither exists, it is the search's budget minus
    the file's memtables and filters. The budget is the user's setting, else the sum of the file's memtables,
    filters and cache. So winner and baseline have equal memory unless the user sets both.

    Args:
        file: the parsed file.
        space_document: the search's space; see `rocktune.space.space_document`.
        expected_entries: number of keys with filter bits, at full size.
        asked: the user's settings.
        families: the column families that are tuned together; none for one family.

    Raises:
        UserError: the file's families have different caches and share one, or its memtables and filters leave
            nothing for a cache.
    """
    asked = replace(asked, shared_cache=asked.shared_cache or file.shared_cache)
    options = merged_options(file.options)
    if families or asked.shared_cache or asked.block_cache is not None:
        options = _without_own_caches(options)
    space = space_from_document(space_document, asked.memory_bytes, expected_entries, families=families)
    without_cache = _without_cache(options)
    cache_source: CacheSource
    if options["table"].get("no_block_cache") == "true":
        if asked.block_cache is not None:
            raise UserError("block_cache: the OPTIONS file says no_block_cache=true; leave one of them out")
        completed, cache_source = without_cache, "none"
    elif asked.block_cache is not None:
        completed, cache_source = _with_cache(without_cache, asked.block_cache), "asked"
    elif (found := _file_cache(file, asked.shared_cache, bool(families))) is not None:
        completed, cache_source = _with_cache(without_cache, found), "options_file"
    else:
        completed, cache_source = _with_cache(without_cache, _cache_of_search(space, options)), "search"
    memory_bytes, memory_source = _memory(space, completed, cache_source, asked.memory_bytes)
    terms = OwnTerms(
        family=file.family,
        loaded_families=file.account.loaded_families,
        other_families=file.other_families,
        families_with_cache=len(_caches(file)),
        shared_cache=asked.shared_cache,
        cache=cache_source,
        memory=memory_source,
        account=file.account,
    )
    return OwnBaseline(completed, memory_bytes, terms)


def _without_cache(options: OptionMaps) -> OptionMaps:
    """Returns options without their block cache."""
    table = {name: text for name, text in options["table"].items() if name != "block_cache"}
    return {**options, "table": table}


def _without_own_caches(options: OptionMaps) -> OptionMaps:
    """Returns options in which no column family has a block cache of its own."""
    return {
        section: {
            name: text
            for name, text in texts.items()
            if name != "block_cache" or section_kind(section) != "table"
        }
        for section, texts in options.items()
    }


def _with_cache(options: OptionMaps, cache: BlockCache) -> OptionMaps:
    """Returns options with a block cache."""
    return merged_options(options, {"table": {"block_cache": cache.text}})


def _caches(file: ImportedOptions) -> dict[str, BlockCache]:
    """Returns the block cache of each family that has one, by family."""
    texts = {**file.block_caches, file.family: file.options.get("table", {}).get("block_cache", "")}
    return {name: parse_block_cache(text) for name, text in texts.items() if is_block_cache(text)}


def _file_cache(file: ImportedOptions, shared: bool, together: bool) -> BlockCache | None:
    """Returns the cache of the tuned family, or the one that all families share; None if there is none.

    Families that are tuned together share one cache, as large as theirs together.
    """
    caches = _caches(file)
    if together and not shared:
        loaded = [caches[name] for name in file.account.loaded_families if name in caches]
        if not loaded:
            return None
        return loaded[0].with_capacity(sum(cache.capacity_bytes for cache in loaded))
    # RocksDB does not write a cache, so one in the file was added by hand or by rocktune.
    if not shared:
        return caches.get(file.family)
    if len(set(caches.values())) > 1:
        named = ", ".join(f"{name} {cache.shown}" for name, cache in sorted(caches.items()))
        raise UserError(
            f"shared_cache: the families' caches differ ({named}), so they cannot be one; "
            "set its size with --block-cache, or leave --shared-cache out"
        )
    return next(iter(caches.values()), None)


def _cache_of_search(space: Space, options: OptionMaps) -> BlockCache:
    """Returns the block cache with which the user's options use exactly the search's memory budget."""
    if not space.derives_block_cache:
        return parse_block_cache(space.options(space.default())["table"]["block_cache"])
    shares = space.memory_shares(_without_cache(options))
    left_bytes = space.memory_bytes - shares.total_bytes
    if left_bytes <= 0:
        raise UserError(
            f"options_file: its memtables may take {format_bytes(shares.memtable_bytes)} and its filters "
            f"{format_bytes(shares.filter_bytes)}, which leaves no block cache of the search's "
            f"{format_bytes(space.memory_bytes)}; set the store's cache with --block-cache, or the budget "
            "with --memory"
        )
    return BlockCache(left_bytes)


def _memory(
    space: Space, options: OptionMaps, cache_source: CacheSource, asked_bytes: int | None
) -> tuple[int, MemorySource]:
    """Returns the memory budget in bytes and its origin."""
    if asked_bytes is not None:
        return asked_bytes, "asked"
    # If the cache is a knob or pinned, its size comes from the space, so the budget does too.
    if cache_source == "search" or not space.derives_block_cache:
        return space.memory_bytes, "space"
    return space.memory_shares(options).total_bytes, "options_file"


def terms_sentences(
    terms: OwnTerms, memory_bytes: int, shares: MemoryShares, options: OptionMaps
) -> list[str]:
    """Returns sentences that tell the user how their OPTIONS file was used.

    Args:
        terms: origin of the baseline's memory.
        memory_bytes: the memory budget at full size.
        shares: the baseline's memory by part.
        options: the baseline's full-size options.
    """
    return [
        *_cache_sentences(terms, shares),
        _budget_sentence(terms, memory_bytes, shares),
        *_other_sentences(terms, options),
    ]


def _cache_sentences(terms: OwnTerms, shares: MemoryShares) -> Iterator[str]:
    """Yields sentences about the block cache."""
    source = {
        "options_file": "as the OPTIONS file says",
        "asked": "as --block-cache says",
        "search": "what the search's memory leaves, for the OPTIONS file has none (see --block-cache)",
    }
    if shares.block_cache is None:
        yield "Block cache: none on either side, as the OPTIONS file says."
    else:
        yield f"Block cache of the baseline: {shares.block_cache.shown}, {source[terms.cache]}."
    if terms.loaded_families and not terms.family:
        size = ", which is as large as those of the file together" if terms.cache == "options_file" else ""
        yield f"The loaded column families share this cache{size}."
    elif terms.families_with_cache > 1 or (terms.families_with_cache and terms.other_families):
        if terms.shared_cache:
            yield "The file's column families share one block cache."
        else:
            yield (
                f"The file gives {terms.families_with_cache} of its column families a block cache. A file "
                "cannot say whether they share one; assumed is one cache each, as RocksDB makes them from a "
                "file (--shared-cache says that they share one)."
            )


def _budget_sentence(terms: OwnTerms, memory_bytes: int, shares: MemoryShares) -> str:
    """Returns the sentence about the memory budget."""
    source = {
        "options_file": "what the file's memtables, filters and cache come to",
        "asked": "as --memory says",
        "space": "the search's own",
    }
    budget = f"Memory budget: {format_bytes(memory_bytes)}, {source[terms.memory]}"
    if shares.total_bytes == memory_bytes:
        return f"{budget}; baseline and winner have the same."
    return f"{budget}; the baseline may take {format_bytes(shares.total_bytes)}, because you said so."


def _other_sentences(terms: OwnTerms, options: OptionMaps) -> Iterator[str]:
    """Yields sentences about everything else that the file lacks or that was left out."""
    rate = options.get("db", {}).get("rate_limiter_bytes_per_sec", "0")
    absent = list(_NEVER_IN_A_FILE)
    if rate != "0":
        yield f"Rate limiter: {format_bytes(int(rate))}/s on both sides, as the OPTIONS file says."
    else:
        absent.insert(0, "rate limiter")
    yield f"Not in an OPTIONS file, and so absent on both sides: {', '.join(absent)}."
    if terms.loaded_families:
        tuned = f"tuned is '{terms.family}'" if terms.family else "all are tuned together"
        yield f"Loaded are column families {', '.join(terms.loaded_families)}; {tuned}."
    if terms.other_families:
        named = ", ".join(terms.other_families)
        if terms.loaded_families:
            yield f"The file's other column families are not loaded: {named}."
        else:
            yield f"Measured is column family '{terms.family}'; the file's others are left out: {named}."
    yield from dropping_sentences(options)
    if terms.account is not None:
        yield from terms.account.notes
    if terms.left_out:
        yield f"Left out of the file: {', '.join(terms.left_out)}."


def dropping_sentences(options: OptionMaps) -> Iterator[str]:
    """Yields a sentence for each column family whose compactions drop data by its size."""
    for section, texts in options.items():
        if section_kind(section) == "cf" and texts.get("compaction_style") == FIFO:
            found = _FIFO_BYTES.search(texts.get("compaction_options_fifo", ""))
            max_bytes = int(found[1]) if found else _FIFO_DEFAULT_BYTES
            family = section.partition(":")[2]
            yield (
                f"FIFO compaction{f' of {family}' if family else ''} drops the oldest data beyond "
                f"{format_bytes(max_bytes)} at full size. Lookups of dropped keys find nothing and are fast; "
                "space amplification counts these keys as stored."
            )
