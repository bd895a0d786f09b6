"""Types of options in RocksDB's C++ and Java interfaces, for source code that sets options."""

from types import MappingProxyType

_NAMES = {
    "int": """
        max_background_jobs max_background_compactions max_background_flushes max_subcompactions
        max_open_files stats_dump_period_sec table_cache_numshardbits
        level0_file_num_compaction_trigger level0_slowdown_writes_trigger level0_stop_writes_trigger
        num_levels max_write_buffer_number min_write_buffer_number_to_merge target_file_size_multiplier
        format_version block_restart_interval index_block_restart_interval block_size_deviation
        read_amp_bytes_per_bit
    """,
    "long": """
        db_write_buffer_size max_total_wal_size bytes_per_sync wal_bytes_per_sync compaction_readahead_size
        delayed_write_rate writable_file_max_buffer_size max_manifest_file_size max_log_file_size
        keep_log_file_num recycle_log_file_num
        write_buffer_size arena_block_size max_bytes_for_level_base target_file_size_base
        max_compaction_bytes soft_pending_compaction_bytes_limit hard_pending_compaction_bytes_limit
        min_blob_size blob_file_size blob_compaction_readahead_size ttl periodic_compaction_seconds
        max_sequential_skip_in_iterations memtable_huge_page_size
        block_size metadata_block_size
    """,
    "double": """
        max_bytes_for_level_multiplier memtable_prefix_bloom_size_ratio
        blob_garbage_collection_age_cutoff blob_garbage_collection_force_threshold
        data_block_hash_table_util_ratio
    """,
    "boolean": """
        allow_mmap_reads allow_mmap_writes use_direct_reads use_direct_io_for_flush_and_compaction
        allow_concurrent_memtable_write enable_write_thread_adaptive_yield enable_pipelined_write
        unordered_write two_write_queues manual_wal_flush strict_bytes_per_sync use_fsync use_adaptive_mutex
        avoid_flush_during_shutdown
        level_compaction_dynamic_level_bytes disable_auto_compactions optimize_filters_for_hits
        memtable_whole_key_filtering enable_blob_files enable_blob_garbage_collection
        cache_index_and_filter_blocks cache_index_and_filter_blocks_with_high_priority
        pin_l0_filter_and_index_blocks_in_cache pin_top_level_index_and_filter whole_key_filtering
        partition_filters optimize_filters_for_memory no_block_cache enable_index_compression block_align
        use_delta_encoding verify_compression
    """,
    "CompressionType": "compression bottommost_compression blob_compression_type",
    "CompactionStyle": "compaction_style",
    "CompactionPriority": "compaction_pri",
}

TYPES = MappingProxyType({name: kind for kind, names in _NAMES.items() for name in names.split()})
"""Java type of each option, by RocksDB's name. C++ has fields of these names with the same range."""

ENUMERATIONS = MappingProxyType(
    {
        "CompressionType": {
            "kNoCompression": "NO_COMPRESSION",
            "kSnappyCompression": "SNAPPY_COMPRESSION",
            "kZlibCompression": "ZLIB_COMPRESSION",
            "kBZip2Compression": "BZLIB2_COMPRESSION",
            "kLZ4Compression": "LZ4_COMPRESSION",
            "kLZ4HCCompression": "LZ4HC_COMPRESSION",
            "kZSTD": "ZSTD_COMPRESSION",
            "kDisableCompressionOption": "DISABLE_COMPRESSION_OPTION",
        },
        "CompactionStyle": {
            "kCompactionStyleLevel": "LEVEL",
            "kCompactionStyleUniversal": "UNIVERSAL",
            "kCompactionStyleFIFO": "FIFO",
            "kCompactionStyleNone": "NONE",
        },
        "CompactionPriority": {
            "kByCompensatedSize": "ByCompensatedSize",
            "kOldestLargestSeqFirst": "OldestLargestSeqFirst",
            "kOldestSmallestSeqFirst": "OldestSmallestSeqFirst",
            "kMinOverlappingRatio": "MinOverlappingRatio",
            "kRoundRobin": "RoundRobin",
        },
    }
)
"""Java's names by C++'s enumerators, for each type. OPTIONS files use C++'s names, Flink uses Java's as text.
"""

# Setters whose names do not follow from the option's name.
_OTHER_SETTERS = {
    "blob_compression_type": "setBlobCompressionType",
    "bottommost_compression": "setBottommostCompressionType",
    "compaction_pri": "setCompactionPriority",
    "compression": "setCompressionType",
    "filter_policy": "setFilterPolicy",
}


def setter(name: str) -> str:
    """Returns the name of an option's setter in rocksdbjni."""
    words = "".join(word[:1].upper() + word[1:] for word in name.split("_"))
    return _OTHER_SETTERS.get(name, f"set{words}")
