"""Facts about a store's load: sums of its LOG and of its tables, without keys and values."""

from dataclasses import dataclass

from rocktune.engine.debt import MODELLED_STYLES
from rocktune.workload import TraceFamily, TraceSummary


@dataclass(frozen=True)
class OperationCounts:
    """Operations since the opening of a database, by RocksDB's statistics.

    Attributes:
        gets: lookups, with those of MultiGet.
        found_gets: lookups that a memtable or a table answered; None if unknown.
        memtable_hits: lookups that a memtable answered.
        writes: keys written, deletions included.
        seeks: iterators' seeks.
        steps: iterators' steps behind a seek.
    """

    gets: int
    found_gets: int | None
    memtable_hits: int
    writes: int
    seeks: int
    steps: int

    @property
    def total(self) -> int:
        """All operations."""
        return self.gets + self.writes + self.seeks


@dataclass(frozen=True)
class RatePoint:
    """Writes between two dumps of a LOG.

    Attributes:
        at_s: middle of the interval, in seconds since the first dump.
        seconds: its length.
        keys_s: keys written for each second.
    """

    at_s: float
    seconds: float
    keys_s: float


@dataclass(frozen=True)
class FamilyFacts:
    """One column family, as far as it is known.

    Attributes:
        name: its name.
        file_bytes: bytes of its tables; None if unknown.
        entries: entries in its tables, with deletions and older versions; None if unknown.
        deletions: deletions among them.
        merge_operands: merge operands among them.
        range_deletions: deletions of ranges among them.
        key_bytes: mean bytes of a key; None if unknown.
        value_bytes: mean bytes of a value, also of one in a blob file; None if unknown.
        compressed_fraction: ratio of data blocks and blob files to keys and values; None if unknown.
        blob_values: values in blob files, those that newer ones replaced included; 0 without.
        uses_blob_files: whether the options put values into blob files.
        written_entries: entries that were flushed; None if unknown.
        written_deletions: deletions among them.
        memtable_entries: mean entries of a memtable that was flushed; None if unknown.
        largest_run_share: share of the tables' bytes in the largest level without overlapping tables; None if
            unknown.
        expiry: options that let data expire, such as ("compaction_filter_factory", "Ttl"), where they are on.
        compaction_style: such as "kCompactionStyleLevel"; "" if unknown.
        is_compacted: False if the options switch automatic compactions off.
        id: RocksDB's number of the family; None if unknown.
        traced: the operations of a trace on the family; None without.
        hot_share: share of all of the trace's operations on the hottest hundredth of its keys.
    """

    name: str
    file_bytes: int | None = None
    entries: int | None = None
    deletions: int = 0
    merge_operands: int = 0
    range_deletions: int = 0
    key_bytes: float | None = None
    value_bytes: float | None = None
    compressed_fraction: float | None = None
    written_entries: int | None = None
    written_deletions: int = 0
    memtable_entries: float | None = None
    largest_run_share: float | None = None
    expiry: tuple[tuple[str, str], ...] = ()
    compaction_style: str = ""
    is_compacted: bool = True
    blob_values: int = 0
    uses_blob_files: bool = False
    id: int | None = None
    traced: TraceFamily | None = None
    hot_share: float = 0.0

    @property
    def is_steady(self) -> bool:
        """True if its compactions bring it into a steady state, as far as is known."""
        return self.is_compacted and self.compaction_style in ("", *MODELLED_STYLES)

    @property
    def undeleted(self) -> int | None:
        """Entries that are neither deletions nor hidden by one; older versions of a key count too."""
        return None if self.entries is None else max(0, self.entries - 2 * self.deletions)


@dataclass(frozen=True)
class StoreFacts:
    """Everything that a store shows of its load.

    Attributes:
        families: its column families.
        seconds: length of the opening that the counts are of; None if unknown.
        counts: operations; None without RocksDB's statistics object.
        written_keys: keys written since the opening by the dumps of the LOG; None if unknown.
        rates: writes over time.
        growth_share: share of the written bytes that stayed in the store; None if unknown.
        cache_bytes: capacity of the block cache; None if unknown.
        block_bytes: size of a data block before compression; RocksDB's default if unknown.
        cache_hit_share: share of the accesses to data blocks that the block cache answered; None if unknown.
        trace: a trace of the store's operations; None without one.
        notes: sentences on what was read, and what could not be.
    """

    families: tuple[FamilyFacts, ...]
    seconds: float | None = None
    counts: OperationCounts | None = None
    written_keys: int | None = None
    rates: tuple[RatePoint, ...] = ()
    growth_share: float | None = None
    cache_bytes: int | None = None
    block_bytes: int = 4096
    cache_hit_share: float | None = None
    trace: TraceSummary | None = None
    notes: tuple[str, ...] = ()
