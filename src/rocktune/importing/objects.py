"""Options whose value names a class: which stand-in a class gets that only its own application has."""

from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True)
class StandIn:
    """The replacement for a class that only the user's application has.

    Attributes:
        text: the option's value; empty for RocksDB's default.
        what: the replacement and its effect, in words for the account.
    """

    text: str
    what: str


_NONE = "none stands in"

STAND_INS = MappingProxyType(
    {
        ("cf", "comparator"): StandIn("", "RocksDB's bytewise order of keys stands in"),
        ("cf", "merge_operator"): StandIn("", f"{_NONE}; workloads here have no merge operations"),
        ("cf", "prefix_extractor"): StandIn("", f"{_NONE}; there are no prefix filters and prefix seeks"),
        ("cf", "memtable_insert_with_hint_prefix_extractor"): StandIn("", _NONE),
        ("cf", "memtable_factory"): StandIn("SkipListFactory", "SkipListFactory stands in"),
        ("cf", "compaction_filter"): StandIn("", f"{_NONE}; compactions keep what it would drop"),
        ("cf", "compaction_filter_factory"): StandIn("", f"{_NONE}; compactions keep what it would drop"),
        ("cf", "sst_partitioner_factory"): StandIn("", f"{_NONE}; files end at their size alone"),
        ("cf", "table_properties_collectors"): StandIn("", f"{_NONE}; files lack its properties"),
        ("cf", "table_factory"): StandIn("BlockBasedTable", "BlockBasedTable stands in"),
        ("cf", "compression_manager"): StandIn("", "RocksDB's built-in compression stands in"),
        ("cf", "blob_cache"): StandIn("", _NONE),
        ("cf", "blob_direct_write_partition_strategy"): StandIn("", "RocksDB's own stands in"),
        ("table", "filter_policy"): StandIn(
            "bloomfilter:10:false", "a Bloom filter of 10 bits a key stands in, which is an assumption"
        ),
        ("table", "flush_block_policy_factory"): StandIn("", "blocks end at block_size"),
        ("table", "block_cache"): StandIn("", "say its size with --block-cache"),
        ("table", "user_defined_index_factory"): StandIn("", "RocksDB's own index stands in"),
        ("table", "persistent_cache"): StandIn("", _NONE),
        ("db", "wal_filter"): StandIn("", _NONE),
        ("db", "file_checksum_gen_factory"): StandIn("", f"{_NONE}; files have no checksum of their own"),
        ("db", "rate_limiter"): StandIn("", "rate_limiter_bytes_per_sec gives a rate"),
    }
)
"""By section and name."""

OVERRIDDEN = MappingProxyType(
    {
        ("db", "wal_dir"): "every file of a run lies in rocktune's own directory",
        ("db", "db_log_dir"): "every file of a run lies in rocktune's own directory",
        ("db", "db_paths"): "every file of a run lies in rocktune's own directory",
        ("cf", "cf_paths"): "every file of a run lies in rocktune's own directory",
        ("db", "create_if_missing"): "rocktune makes the store itself",
        ("db", "error_if_exists"): "rocktune makes the store itself",
        ("db", "env"): "a run has the Env of the study's device",
        ("db", "listeners"): "a run has rocktune's listeners",
        ("db", "statistics"): "a run has statistics of its own",
        ("db", "info_log"): "a run writes its LOG into its own directory",
        ("db", "sst_file_manager"): "a run has none",
        ("db", "write_buffer_manager"): "a run has none",
        ("db", "row_cache"): "a run has none",
    }
)
"""Options that rocktune decides, by section and name, each with the reason."""

NEEDS_PREFIX_EXTRACTOR = MappingProxyType(
    {
        ("table", "index_type"): (("kHashSearch",), "kBinarySearch"),
        ("cf", "memtable_factory"): (
            ("HashLinkListRepFactory", "HashSkipListRepFactory", "prefix_hash", "hash_linkedlist"),
            "SkipListFactory",
        ),
    }
)
"""Options with the values that need a prefix extractor, and the value that stands in without one."""

TIMESTAMPED = ".u64ts"
"""Suffix of comparators whose keys carry a timestamp. No workload writes such keys."""
