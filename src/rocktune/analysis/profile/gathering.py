"""Gathers facts of a store from its LOG and from its tables."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from rocktune.analysis.profile.facts import FamilyFacts, OperationCounts, RatePoint, StoreFacts
from rocktune.analysis.profile.traced import with_trace
from rocktune.engine import FamilyTables, StoreTables
from rocktune.importing import OptionsDocument
from rocktune.importing.document import Option
from rocktune.importing.logs import Dump, FamilyWork, LevelRow, LogDocument, Opening
from rocktune.space import FIFO
from rocktune.workload import TraceSummary

_INTERNAL_KEY_BYTES = 8
_BLOB_RECORD_BYTES = 32
"""Bytes of a record's head in a blob file."""
_BLOB_INDEX_BYTES = 10
"""About the bytes of a table's reference to a blob file."""
_FOUND = ("rocksdb.memtable.hit", "rocksdb.l0.hit", "rocksdb.l1.hit", "rocksdb.l2andup.hit")
_FILTERS = ("compaction_filter", "compaction_filter_factory")
_COMPACTIONS_OFF = "disable_auto_compactions"
_BLOB_OPTION = "enable_blob_files"
_FIFO_BOUNDS = (
    "ttl",
    "compaction_options_fifo.ttl",
    "compaction_options_fifo.max_table_files_size",
    "compaction_options_fifo.max_data_files_size",
)
_OFF = ("", "0", "nullptr", "None", "18446744073709551614", "18446744073709551615")
"""Values of filters and times that stand for no filter, for never, or for a default of RocksDB's own."""
_MIN_GROWTH_BYTES = 64 << 20
"""Writes below it do not show whether a store grows: most of them are in memtables."""


def gathered(
    document: LogDocument | None,
    tables: StoreTables | None,
    options: OptionsDocument | None,
    trace: TraceSummary | None = None,
) -> StoreFacts:
    """Returns the facts of a store.

    Args:
        document: its LOG files; None without any.
        tables: the sums of its tables; None without any.
        options: its OPTIONS file, whose values count more than a LOG's; None without one.
        trace: a trace of its operations; None without one.
    """
    facts = StoreFacts(()) if document is None else _of_opening(document)
    families = {family.name: family for family in facts.families}
    notes = list(facts.notes) if document is not None else [_no_log(options, trace)]
    if tables is not None:
        families, gone = _live(families, tables, options)
        notes += gone
        families |= {each.name: _with_tables(families.get(each.name), each) for each in tables.families}
        if tables.unread_tables:
            notes.append(
                f"{tables.unread_tables} tables could not be read, the first: {tables.unread_example}."
            )
    if options is not None:
        facts = replace(facts, block_bytes=_block_bytes(options) or facts.block_bytes)
        families |= {
            each.name: _with_options(families.get(each.name, FamilyFacts(each.name)), _texts(each.options))
            for each in options.families
        }
    facts = replace(facts, families=tuple(families.values()), notes=tuple(notes))
    return facts if trace is None else with_trace(facts, trace)


def _no_log(options: OptionsDocument | None, trace: TraceSummary | None) -> str:
    """Returns a sentence on what is unknown without a LOG, and where it may be."""
    unknown = "operations, their rate and the block cache are" if trace is None else "the block cache is"
    sentence = f"No LOG was read, so that {unknown} unknown"
    directory = "" if options is None else _texts(options.db).get("db_log_dir", "")
    return f"{sentence}; db_log_dir is {directory}: name the LOG there too." if directory else f"{sentence}."


def _live(
    families: Mapping[str, FamilyFacts], tables: StoreTables, options: OptionsDocument | None
) -> tuple[dict[str, FamilyFacts], list[str]]:
    """Returns the families of a LOG without those that were dropped since, and a sentence on each of these.

    A family is known to be dropped if the OPTIONS file lacks it and no table is of it.
    """
    if options is None:
        return dict(families), []
    known = {each.name for each in options.families} | {each.name for each in tables.families}
    gone = [name for name in families if name not in known]
    notes = [
        f"{name}: the LOG has this column family, the database has not; it is left out." for name in gone
    ]
    return {name: each for name, each in families.items() if name in known}, notes


def _texts(options: Iterable[Option]) -> dict[str, str]:
    """Returns the values of options, and of those in their braces by the name `option.name`."""
    found = {option.name: option.text for option in options}
    for option in options:
        found |= {f"{option.name}.{part.name}": part.text for part in option.parts}
    return found


def _block_bytes(options: OptionsDocument) -> int | None:
    sizes = [_texts(family.table).get("block_size", "") for family in options.families]
    return max((int(size) for size in sizes if size.isdecimal() and int(size) > 0), default=None)


def _with_options(facts: FamilyFacts, options: Mapping[str, str]) -> FamilyFacts:
    """Returns a family's facts with the options that say something of its load."""
    style, off = options.get("compaction_style", facts.compaction_style), options.get(_COMPACTIONS_OFF)
    # With other styles RocksDB's time to live only makes old tables be compacted.
    names = _FILTERS + (_FIFO_BOUNDS if style == FIFO else ())
    return replace(
        facts,
        expiry=tuple((name, options[name]) for name in names if options.get(name, "") not in _OFF),
        uses_blob_files=options.get(_BLOB_OPTION, "") in ("1", "true") or facts.uses_blob_files,
        compaction_style=style,
        is_compacted=facts.is_compacted if off is None else off not in ("1", "true"),
    )


def _of_opening(document: LogDocument) -> StoreFacts:
    """Returns what the last opening with statistics says, else the last with a dump, else the last."""
    openings = document.openings
    best = max(openings, key=lambda each: (bool(each.tickers), bool(each.dumps), openings.index(each)))
    notes = []
    if len(openings) > 1:
        notes.append(
            f"The LOG has {len(openings)} openings; counts are those of number {openings.index(best) + 1}."
        )
    last = best.dumps[-1].db if best.dumps else None
    seconds = last.uptime_s if last is not None and last.uptime_s else best.seconds
    tickers = dict(best.tickers)
    return StoreFacts(
        families=tuple(_family(best, name) for name in best.families),
        seconds=seconds,
        counts=_counts(tickers),
        written_keys=None if last is None else last.cumulative.keys,
        rates=_rates(best.dumps),
        growth_share=_growth(best.dumps),
        cache_bytes=_cache_bytes(best),
        block_bytes=_logged_block_bytes(best),
        cache_hit_share=_hit_share(tickers),
        notes=(*document.notes, *notes),
    )


def _counts(tickers: dict[str, int]) -> OperationCounts | None:
    if "rocksdb.number.keys.written" not in tickers:
        return None

    def of(*names: str) -> int:
        return sum(tickers.get(f"rocksdb.{name}", 0) for name in names)

    found = [tickers.get(name) for name in _FOUND]
    return OperationCounts(
        gets=of("number.keys.read", "number.multiget.keys.read"),
        found_gets=None if None in found else sum(each or 0 for each in found),
        memtable_hits=of("memtable.hit"),
        writes=of("number.keys.written"),
        seeks=of("number.db.seek"),
        steps=of("number.db.next", "number.db.prev"),
    )


def _hit_share(tickers: dict[str, int]) -> float | None:
    hits, misses = (tickers.get(f"rocksdb.block.cache.data.{each}", 0) for each in ("hit", "miss"))
    return hits / (hits + misses) if hits + misses else None


def _rates(dumps: Iterable[Dump]) -> tuple[RatePoint, ...]:
    """Returns the write rate between dumps; RocksDB cuts counts to three digits or more."""
    points, first = [], None
    for dump in dumps:
        if dump.db is None or not dump.db.interval_s or dump.db.interval.keys is None or dump.time is None:
            continue
        first = first or dump.time
        seconds = dump.db.interval_s
        at = (dump.time - first).total_seconds() - seconds / 2
        points.append(RatePoint(at, seconds, dump.db.interval.keys / seconds))
    return tuple(points)


def _growth(dumps: tuple[Dump, ...]) -> float | None:
    """Returns the growth of all levels over the bytes written meanwhile, in the second half of the dumps.

    The first half may have the loading of the store.
    """
    sized = [(_size_bytes(dump), _written_bytes(dump)) for dump in dumps[len(dumps) // 2 :]]
    known = [(size, written) for size, written in sized if size is not None and written is not None]
    if len(known) < 2 or known[-1][1] - known[0][1] < _MIN_GROWTH_BYTES:
        return None
    return (known[-1][0] - known[0][0]) / (known[-1][1] - known[0][1])


def _size_bytes(dump: Dump) -> float | None:
    sizes = [family.size_bytes for family in dump.families]
    return sum(size or 0.0 for size in sizes) if any(size is not None for size in sizes) else None


def _written_bytes(dump: Dump) -> float | None:
    """Returns the bytes that users wrote since the opening."""
    db = dump.db
    if db is None or db.uptime_s is None or db.cumulative.ingest_mb_s is None:
        return None
    return db.uptime_s * db.cumulative.ingest_mb_s * (1 << 20)


def _cache_bytes(opening: Opening) -> int | None:
    """Returns the capacity of the largest block cache; the LOG does not say which families share one."""
    found = [
        int(option.value)
        for option in opening.options
        if option.name == "table.block_cache_options.capacity" and option.value.isdecimal()
    ]
    return max(found, default=None)


def _logged_block_bytes(opening: Opening) -> int:
    """Returns the size of the largest data blocks; RocksDB's default if the LOG does not say it."""
    sizes = [each.value for each in opening.options if each.name == "table.block_size"]
    return max((int(size) for size in sizes if size.isdecimal()), default=0) or StoreFacts(()).block_bytes


def _family(opening: Opening, name: str) -> FamilyFacts:
    """Returns what an opening says of a family."""
    work = next((each for each in opening.work if each.family == name), None)
    stats = [family for dump in opening.dumps for family in dump.families if family.family == name]
    known = stats[-1].size_bytes if stats else None
    names = ("compaction_style", _COMPACTIONS_OFF, *_FILTERS, *_FIFO_BOUNDS, _BLOB_OPTION)
    options = {option: opening.option(option, name) or "" for option in names}
    size = None if known is None else round(known)
    largest = _largest_run_share(stats[-1].levels) if stats else None
    facts = FamilyFacts(name, file_bytes=size, largest_run_share=largest)
    facts = _with_options(facts, {option: value for option, value in options.items() if value})
    return facts if work is None else _with_flushes(facts, work)


def _largest_run_share(levels: tuple[LevelRow, ...]) -> float | None:
    """Returns the share of the bytes in the largest level; None if several files of level 0 are all data.

    In a store that has settled it is the last level. A young store may have most of its data above it.
    """
    sizes = [(level, level.size_bytes) for level in levels if level.size_bytes]
    runs = [size for level, size in sizes if level.level != "L0" or level.files == 1]
    return max(runs) / sum(size for _, size in sizes) if runs else None


def _with_flushes(facts: FamilyFacts, work: FamilyWork) -> FamilyFacts:
    """Returns a family's facts with what its flushes say; tables are estimated by their sizes."""
    facts = replace(
        facts,
        written_entries=work.flushed_entries or None,
        written_deletions=work.flushed_deletions,
        memtable_entries=work.flushed_entries / work.flushes if work.flushed_entries else None,
    )
    tables = work.tables
    valued = tables.entries - tables.deletions
    if valued <= 0:
        return facts
    raw = tables.raw_key_bytes + tables.raw_value_bytes
    entries = None
    if facts.file_bytes is not None and tables.data_bytes:
        entries = round(facts.file_bytes * tables.entries / tables.data_bytes)
    key_bytes = max(0.0, tables.raw_key_bytes / tables.entries - _INTERNAL_KEY_BYTES)
    facts = replace(
        facts,
        entries=entries,
        deletions=round((entries or 0) * tables.deletions / tables.entries),
        key_bytes=key_bytes,
        value_bytes=tables.raw_value_bytes / valued,
        compressed_fraction=tables.data_bytes / raw if raw else None,
    )
    blob_bytes = tables.blob_bytes / max(1, tables.blobs) - _BLOB_RECORD_BYTES - key_bytes
    return _with_blobs(facts, _Stored(valued, raw, tables.data_bytes), tables.blobs, max(0.0, blob_bytes))


@dataclass(frozen=True)
class _Stored:
    """Entries with values, bytes of keys and values with references to blob files, bytes of data blocks."""

    valued: int
    raw_bytes: int
    data_bytes: int


def _with_blobs(facts: FamilyFacts, stored: _Stored, blobs: int, blob_bytes: float) -> FamilyFacts:
    """Returns a family's facts with the values that its tables only refer to.

    Args:
        facts: of the tables alone, with the size of a value.
        stored: sums of the tables.
        blobs: values in blob files.
        blob_bytes: mean bytes of these.
    """
    referred = min(stored.valued, blobs)
    if not referred or facts.value_bytes is None:
        return facts
    outside = referred * blob_bytes
    indices = min(referred * _BLOB_INDEX_BYTES, facts.value_bytes * stored.valued)
    raw = stored.raw_bytes - indices + outside
    return replace(
        facts,
        value_bytes=(facts.value_bytes * stored.valued - indices + outside) / stored.valued,
        compressed_fraction=(stored.data_bytes + outside) / raw if raw else None,
        blob_values=blobs,
    )


def _with_tables(logged: FamilyFacts | None, tables: FamilyTables) -> FamilyFacts:
    """Returns a family's facts with those of its tables, which count more than a LOG's."""
    facts = replace(
        logged or FamilyFacts(tables.name),
        file_bytes=tables.file_bytes,
        entries=tables.entries,
        deletions=tables.deletions,
        merge_operands=tables.merge_operands,
        range_deletions=tables.range_deletions,
        key_bytes=tables.key_bytes,
        value_bytes=tables.value_bytes,
        compressed_fraction=tables.compressed_fraction,
        blob_values=0,
        id=tables.id,
    )
    if tables.blobs is None:
        return facts
    stored = _Stored(tables.valued, tables.raw_key_bytes + tables.raw_value_bytes, tables.data_bytes)
    return _with_blobs(facts, stored, tables.blobs.values, tables.blobs.value_bytes(tables.key_bytes or 0.0))
