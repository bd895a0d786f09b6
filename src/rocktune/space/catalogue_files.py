"""The catalogue's knobs of compaction styles, compression, table files and blob files; see `catalogue`."""

from rocktune.space.knob import Knob
from rocktune.units import MIB

_KIB = 1 << 10
_UNLIMITED = (1 << 32) - 1
_DEFAULT_LEVEL = 32767
"""RocksDB's name for a compression library's own default level."""

_PINNINGS = ("kFallback", "kNone", "kFlushedAndSimilar", "kAll")

COMPACTION_STYLES = (
    Knob(
        "compaction_style", "cf", "", "kCompactionStyleLevel", acts_on="all_files", live_change="migration",
        choices=("kCompactionStyleLevel", "kCompactionStyleUniversal"),
        effect="Leveled compaction reads and stores less, universal compaction writes less.",
    ),
    Knob(
        "universal_size_ratio", "cf", "percent", 1, low=0, high=1000, option="compaction_options_universal",
        field="size_ratio",
        effect="Percent by which the next sorted run may be larger to be merged too: more merges more runs.",
    ),
    Knob(
        "universal_min_merge_width", "cf", "runs", 2, low=2, high=64, option="compaction_options_universal",
        field="min_merge_width",
        effect="Minimum number of sorted runs that one compaction merges: more rewrites entries less often.",
    ),
    Knob(
        "universal_max_merge_width", "cf", "runs", _UNLIMITED, low=2, high=_UNLIMITED,
        option="compaction_options_universal", field="max_merge_width",
        effect="Maximum number of sorted runs that one compaction merges: fewer gives shorter compactions.",
    ),
    Knob(
        "universal_max_size_amplification_percent", "cf", "percent", 200, low=1, high=10_000,
        option="compaction_options_universal", field="max_size_amplification_percent",
        effect="Space above the last sorted run, in percent of it, that starts a merge of all runs.",
    ),
    # RocksDB refuses a limit below the trigger of level 0; -1 means that trigger, 0 one of its own choice.
    Knob(
        "universal_max_read_amp", "cf", "runs", -1, low=-1, high=1024, since="9.4",
        option="compaction_options_universal", field="max_read_amp",
        effect="Maximum number of sorted runs, -1 for the trigger of level 0: more write less and read more.",
    ),
)  # fmt: skip

COMPRESSION = (
    Knob(
        "compression_level", "cf", "", _DEFAULT_LEVEL, low=-128, high=_DEFAULT_LEVEL,
        option="compression_opts", field="level", acts_on="all_files",
        effect="Level of the compression: higher saves more space and costs more CPU time.",
    ),
    # kDisableCompressionOption is RocksDB's name for "as the other levels".
    Knob(
        "bottommost_compression", "cf", "", "kDisableCompressionOption", acts_on="all_files",
        choices=(
            "kDisableCompressionOption", "kNoCompression", "kSnappyCompression", "kLZ4Compression", "kZSTD",
        ),
        effect="Compression of the last level, which holds most data and is rewritten least.",
    ),
    # RocksDB uses these settings only if they are enabled.
    Knob(
        "bottommost_compression_level", "cf", "", _DEFAULT_LEVEL, low=-128, high=_DEFAULT_LEVEL,
        option="bottommost_compression_opts", field="level", template="{};enabled=true", acts_on="all_files",
        effect="Level of the last level's compression: higher saves more space and costs more CPU time.",
    ),
)  # fmt: skip

TABLES = (
    Knob(
        "optimize_filters_for_hits", "cf", "", False, choices=(False, True), acts_on="all_files",
        live_change="reopen",
        effect="Leaves filters of the last level out: saves most of their memory if few keys are absent.",
    ),
    Knob(
        "partition_filters", "table", "", False, choices=(False, True), acts_on="all_files",
        live_change="reopen",
        effect="Divides filters into blocks that are cached one by one; needs a two-level index.",
    ),
    Knob(
        "decouple_partitioned_filters", "table", "", False, choices=(False, True), acts_on="all_files",
        live_change="reopen", since="9.6",
        effect="Lets partitions of filters end at other keys than those of the index, so that all are full.",
    ),
    Knob(
        "index_block_search_type", "table", "", "kBinary", choices=("kBinary", "kInterpolation", "kAuto"),
        live_change="reopen", since="11.0",
        effect="Search in an index block: interpolation needs fewer steps if keys are evenly distributed.",
    ),
    Knob(
        "index_type", "table", "", "kBinarySearch", acts_on="all_files", live_change="reopen",
        choices=("kBinarySearch", "kBinarySearchWithFirstKey", "kTwoLevelIndexSearch"),
        effect="Form of a file's index: with first keys scans skip blocks, two levels are cached in parts.",
    ),
    Knob(
        "data_block_index_type", "table", "", "kDataBlockBinarySearch", acts_on="all_files",
        choices=("kDataBlockBinarySearch", "kDataBlockBinaryAndHash"),
        effect="A hash index in each block saves lookups CPU time and makes blocks a little larger.",
    ),
    Knob(
        "unpartitioned_pinning", "table", "", "kFallback", choices=_PINNINGS, live_change="reopen",
        option="metadata_cache_options", field="unpartitioned_pinning",
        effect="Files whose index and filter stay in the block cache: pinned ones never miss.",
    ),
    Knob(
        "partition_pinning", "table", "", "kFallback", choices=_PINNINGS, live_change="reopen",
        option="metadata_cache_options", field="partition_pinning",
        effect="Files whose partitions of index and filter stay in the block cache.",
    ),
    Knob(
        "prepopulate_block_cache", "table", "", "kDisable", choices=("kDisable", "kFlushOnly"),
        effect="Puts flushed blocks into the block cache: recent data never miss, older blocks leave sooner.",
    ),
    Knob(
        "uncache_aggressiveness", "cf", "", 0, low=0, high=10_000, since="9.4",
        effect="Effort to remove blocks of deleted files from the block cache, 0 for none.",
    ),
)  # fmt: skip

_MAX_AGE_S = 10 * 365 * 86400
LEFT_TO_RELEASE = "18446744073709551614"
"""RocksDB's text of an age that the release decides."""
_AGE_PATTERN = rf"(?!{LEFT_TO_RELEASE}$)(.*)"
"""All but the number that leaves an age to the release, for which the default below stands."""

AGES = (
    # RocksDB leaves it to the release: off, unless the store has a compaction filter.
    Knob(
        "periodic_compaction_seconds", "cf", "s", 0, low=0, high=_MAX_AGE_S, scaled=True,
        pattern=_AGE_PATTERN,
        effect="Age at which any file is compacted, 0 for none: lower drops deleted data, and rewrites more.",
    ),
    # RocksDB leaves it to the release: 30 days for block-based tables. Under universal compaction, the
    # smaller one of both ages counts as the periodic one.
    Knob(
        "ttl", "cf", "s", 30 * 86400, low=0, high=_MAX_AGE_S, scaled=True, pattern=_AGE_PATTERN,
        effect="Age at which a file goes down a level, 0 for none: lower drops data sooner, rewrites more.",
    ),
    Knob(
        "memtable_op_scan_flush_trigger", "cf", "entries", 0, low=0, high=10_000_000, since="10.2",
        effect="Hidden entries passed by one step of a scan that flush a memtable, 0 for no such flush.",
    ),
    Knob(
        "memtable_avg_op_scan_flush_trigger", "cf", "entries", 0, low=0, high=10_000_000, since="10.4",
        effect="Hidden entries passed by a scan for each step, on average, that flush a memtable.",
    ),
)  # fmt: skip

BLOB_FILES = (
    Knob(
        "enable_blob_files", "cf", "", False, choices=(False, True), acts_on="all_files",
        effect="Keeps large values in blob files, which compactions do not rewrite.",
    ),
    # Entries keep their size in a 1/S model, so this is not scaled.
    Knob(
        "min_blob_size", "cf", "bytes", 0, low=0, high=64 * MIB, acts_on="all_files",
        effect="Smallest value that goes to a blob file: smaller saves writes and makes scans slower.",
    ),
    Knob(
        "blob_file_size", "cf", "bytes", 256 * MIB, low=MIB, high=16 << 30, step=MIB, scaled=True,
        acts_on="new_files",
        effect="Size of blob files, if they are enabled: larger gives fewer files, cleaned up later.",
    ),
    Knob(
        "enable_blob_garbage_collection", "cf", "", False, choices=(False, True),
        effect="Moves live values out of old blob files during compactions, which frees space.",
    ),
    Knob(
        "blob_garbage_collection_age_cutoff", "cf", "ratio", 0.25, low=0.0, high=1.0,
        effect="Share of the blob files, oldest first, that are cleaned: more saves space and costs writes.",
    ),
    Knob(
        "blob_compression_type", "cf", "", "kNoCompression", acts_on="all_files",
        choices=("kNoCompression", "kSnappyCompression", "kLZ4Compression", "kZSTD"),
        effect="Compression of the values in blob files.",
    ),
)  # fmt: skip

FILE_KNOBS = (*COMPACTION_STYLES, *COMPRESSION, *TABLES, *AGES, *BLOB_FILES)
"""All of them."""
