"""The space `full`: the options that experts tune, in both compaction styles (docs/design/full-space.md)."""

from dataclasses import replace

from rocktune.space.catalogue import CATALOGUE
from rocktune.space.configuration import OptionMaps, Value
from rocktune.space.knob import Condition, Knob
from rocktune.space.memory import MemoryBudget
from rocktune.space.rules import dremel_rules
from rocktune.space.space import Space
from rocktune.units import MIB

FULL_MEMORY_BYTES = 1000 * MIB
"""The budget of `dremel`, with which this space is compared."""

FIXED_OPTIONS: OptionMaps = {
    "db": {
        # The throttled file system does not see reads through a memory mapping.
        "allow_mmap_reads": "false",
        # With a limit, user reads would load evicted table readers again, a cost that no knob explains.
        "max_open_files": "-1",
    },
    "cf": {
        # Enough for any data: an empty level costs nothing, and one too few stops the store.
        "num_levels": "7",
        # Without it, blob files of overwritten values grow for ever. It has no effect without blob files.
        "enable_blob_garbage_collection": "true",
    },
    "table": {
        # So that index and filters cannot take memory beyond the budget, whatever their size.
        "cache_index_and_filter_blocks": "true",
        # A two-level index reads its top level at each lookup.
        "metadata_cache_options": "{top_level_index_pinning=kAll}",
    },
}
"""Options that all runs share, so that their figures compare, also between RocksDB versions."""

_KIB = 1 << 10
_LEVELED = Condition("compaction_style", ("kCompactionStyleLevel",))
_UNIVERSAL = Condition("compaction_style", ("kCompactionStyleUniversal",))
_FILTERED = Condition("bloom_bits", (0,), unless=True)
_MEMTABLE_FILTER = Condition("memtable_prefix_bloom_size_ratio", (0.0,), unless=True)
_TWO_LEVELS = Condition("index_type", ("kTwoLevelIndexSearch",))
_BLOBS = Condition("enable_blob_files", (True,))
_SCAN_FLUSHES = Condition("memtable_op_scan_flush_trigger", (0,), unless=True)
_NO_LIMIT = (1 << 32) - 1
_COMPRESSIONS = ("kNoCompression", "kLZ4Compression", "kZSTD")
_AS_OTHERS = "kDisableCompressionOption"
_ZSTD_LEVELS = (1, 3, 6)
_AGES_S = (0, 900, 3600, 14_400, 30 * 86_400)
_PINNINGS = ("kNone", "kFlushedAndSimilar", "kAll")
# With Dremel's 2, only a quarter of the valid draws are leveled, whose level 1 the rule is about.
_LEVEL0_TOLERANCE = 4.0


def _range(name: str, low: int, high: int, default: int, *when: Condition) -> Knob:
    """Returns a catalogued knob with these bounds, default and conditions."""
    return CATALOGUE[name].narrowed(low=low, high=high, default=default, when=when)


def _choice(name: str, choices: tuple[Value, ...], default: Value, *when: Condition) -> Knob:
    """Returns a catalogued knob with these choices, default and conditions."""
    return CATALOGUE[name].narrowed(choices=choices, default=default, when=when)


def _compaction() -> tuple[Knob, ...]:
    """Returns the knobs of level 0 and of both compaction styles.

    Under universal compaction, the trigger of level 0 is the number of sorted runs that starts a compaction.
    """
    return (
        _range("level0_file_num_compaction_trigger", 2, 16, 4),
        _range("level0_slowdown_writes_trigger", 6, 20, 8),
        _range("level0_stop_writes_trigger", 10, 24, 16),
        CATALOGUE["compaction_style"],
        _choice("level_compaction_dynamic_level_bytes", (False, True), False, _LEVELED),
        _range("max_bytes_for_level_multiplier", 4, 16, 10, _LEVELED),
        _range("max_bytes_for_level_base", 64 * MIB, 2048 * MIB, 256 * MIB, _LEVELED),
        _range("target_file_size_multiplier", 1, 8, 1, _LEVELED),
        CATALOGUE["compaction_pri"].narrowed(when=(_LEVELED,)),
        _choice("universal_size_ratio", (1, 5, 10, 20, 50, 100), 1, _UNIVERSAL),
        _choice("universal_min_merge_width", (2, 3, 4), 2, _UNIVERSAL),
        _choice("universal_max_merge_width", (4, 8, 16, _NO_LIMIT), _NO_LIMIT, _UNIVERSAL),
        _choice("universal_max_size_amplification_percent", (25, 50, 100, 200, 400), 200, _UNIVERSAL),
        # At least the highest trigger of level 0, as RocksDB demands.
        _choice("universal_max_read_amp", (-1, 0, 16, 24), -1, _UNIVERSAL),
        _range("target_file_size_base", 32 * MIB, 128 * MIB, 64 * MIB),
    )


def _memtables_and_threads() -> tuple[Knob, ...]:
    return (
        _range("max_write_buffer_number", 2, 8, 6),
        _range("write_buffer_size", 16 * MIB, 128 * MIB, 64 * MIB),
        _range("min_write_buffer_number_to_merge", 1, 4, 2),
        _choice("memtable_prefix_bloom_size_ratio", (0.0, 0.02, 0.05, 0.1), 0.0),
        _choice("memtable_whole_key_filtering", (False, True), True, _MEMTABLE_FILTER),
        # RocksDB ignores the jobs if either number of threads is set, as in many people's files.
        _range("max_background_jobs", 2, 16, 2).narrowed(
            overrides=("max_background_compactions", "max_background_flushes")
        ),
        _range("max_subcompactions", 1, 8, 1),
    )


def _per_level(name: str, compression: str, milder: tuple[str, ...]) -> Knob:
    """Returns the knob for a milder compression of level 0 while the other levels have `compression`."""
    return Knob(
        name, "cf", "", compression, choices=(compression, *(f"{each}:{compression}" for each in milder)),
        option="compression_per_level", acts_on="all_files", live_change="set_options",
        when=(Condition("compression", (compression,)),),
        effect="Compression of level 0, before the colon: a milder one makes flushes cheaper.",
    )  # fmt: skip


def _compression() -> tuple[Knob, ...]:
    """Returns the knobs of three tiers: level 0, the levels between, and the last level."""
    return (
        _choice("compression", _COMPRESSIONS, "kLZ4Compression").narrowed(
            overrides=("compression_per_level",)
        ),
        _per_level("lz4_per_level", "kLZ4Compression", ("kNoCompression",)),
        _per_level("zstd_per_level", "kZSTD", ("kNoCompression", "kLZ4Compression")),
        _choice("compression_level", _ZSTD_LEVELS, 3, Condition("compression", ("kZSTD",))),
        _choice(
            "bottommost_compression",
            ("kDisableCompressionOption", *_COMPRESSIONS),
            "kDisableCompressionOption",
        ),
        _choice(
            "bottommost_compression_level", _ZSTD_LEVELS, 3, Condition("bottommost_compression", ("kZSTD",))
        ),
    )


def _tables() -> tuple[Knob, ...]:
    """Returns the knobs of filters, blocks and index, and of what of them is kept in the cache."""
    filter_kind = Knob(
        "filter_kind", "table", "", "bloom", choices=("bloom", "ribbon"), option="filter_policy",
        template="{}filter:10", pattern=r"(?:\{?id=)?(bloom|ribbon)filter:.*", acts_on="all_files",
        live_change="reopen", when=(_FILTERED,),
        effect="A Ribbon filter takes a third less memory than a Bloom filter and more CPU time to build.",
    )  # fmt: skip
    return (
        # Rewritten, and without a last part, which has a different meaning for each kind of filter.
        CATALOGUE["bloom_bits"].narrowed(
            choices=(0, 4, 6, 8, 10, 12, 16, 20),
            default=10,
            template="bloomfilter:{}",
            overrides=("filter_policy",),
        ),
        filter_kind,
        _choice("optimize_filters_for_hits", (False, True), False, _FILTERED),
        _choice("block_size", tuple(size * _KIB for size in (2, 4, 8, 16, 32, 64)), 4 * _KIB),
        CATALOGUE["index_type"],
        _choice("partition_filters", (False, True), False, _FILTERED, _TWO_LEVELS),
        CATALOGUE["decouple_partitioned_filters"].narrowed(when=(Condition("partition_filters", (True,)),)),
        CATALOGUE["data_block_index_type"],
        CATALOGUE["index_block_search_type"],
        _choice("unpartitioned_pinning", _PINNINGS, "kNone", replace(_TWO_LEVELS, unless=True)),
        _choice("partition_pinning", _PINNINGS, "kNone", _TWO_LEVELS),
        CATALOGUE["prepopulate_block_cache"],
        _choice("uncache_aggressiveness", (0, 10, 100, 1000), 0),
    )


def _blob_files() -> tuple[Knob, ...]:
    """Returns the knobs of values that are kept apart from their keys."""
    return (
        CATALOGUE["enable_blob_files"],
        # Smaller values gain nothing from blob files of bounded size (docs/design/full-space.md).
        _choice("min_blob_size", tuple(size * _KIB for size in (4, 8, 16, 32, 64)), 4 * _KIB, _BLOBS),
        _range("blob_file_size", 64 * MIB, 1024 * MIB, 256 * MIB, _BLOBS),
        _choice("blob_compression_type", _COMPRESSIONS, "kNoCompression", _BLOBS),
        _choice("blob_garbage_collection_age_cutoff", (0.25, 0.5, 0.75, 0.9), 0.25, _BLOBS),
    )


def _deletes() -> tuple[Knob, ...]:
    """Returns the knobs of workloads that delete: when deleted entries and their tombstones go away."""
    universal = Knob(
        "universal_periodic_compaction_seconds", "cf", "s", _AGES_S[-1], choices=_AGES_S[1:],
        option="periodic_compaction_seconds", scaled=True, pattern=CATALOGUE["ttl"].pattern,
        when=(_UNIVERSAL,),
        # RocksDB would take the smaller one of both ages.
        overrides=("ttl",),
        effect="Age at which all sorted runs are merged: lower drops deleted data, and rewrites more.",
    )  # fmt: skip
    return (
        _choice("periodic_compaction_seconds", _AGES_S, 0, _LEVELED),
        _choice("ttl", _AGES_S, _AGES_S[-1], _LEVELED),
        universal,
        # An average below the other trigger, as RocksDB advises.
        _choice("memtable_op_scan_flush_trigger", (0, 100, 1000, 10_000), 0),
        _choice("memtable_avg_op_scan_flush_trigger", (0, 10, 50), 0, _SCAN_FLUSHES),
    )


def full_space(memory_bytes: int, expected_entries: float, deletes: bool = False) -> Space:
    """Returns the space for a memory budget.

    The default configuration may exceed the budget; `with_fitting_default` adapts it.

    Args:
        memory_bytes: the memory budget in bytes at full size.
        expected_entries: distinct keys in the store by the end of a full-length run, at full size.
        deletes: whether the workload deletes entries, which adds knobs for it.
    """
    knobs = (*_compaction(), *_memtables_and_threads(), *_compression(), *_tables(), *_blob_files())
    knobs += _deletes() if deletes else ()
    return Space(
        name="full",
        summary=f"leveled and universal compaction, compression, filters, blob files ({len(knobs)} knobs)",
        knobs=knobs,
        memory_bytes=memory_bytes,
        fixed_options=FIXED_OPTIONS,
        expected_entries=expected_entries,
        rules=dremel_rules(
            MemoryBudget(memory_bytes, expected_entries, filters_in_cache=True), _LEVEL0_TOLERANCE
        ),
        default_source="tuning_guide",
    )
