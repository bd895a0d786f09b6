"""The catalogue of knobs: facts about each option of RocksDB 7.8, independent of any space.

Defaults are RocksDB's. Bounds are the widest that make sense; a space narrows them. `live_change` follows
RocksDB's `options/cf_options.cc` and `options/db_options.cc`, versions 7.8 to 11.
"""

from types import MappingProxyType

from rocktune.space.catalogue_files import FILE_KNOBS
from rocktune.space.knob import Knob
from rocktune.units import MIB

_KIB = 1 << 10
_GIB = 1 << 30

_LEVELS = (
    # RocksDB's three triggers of level 0. If they are out of order it raises the later ones itself.
    Knob(
        "level0_file_num_compaction_trigger", "cf", "files", 4, low=1, high=64,
        effect="Files in level 0 that start its compaction: more make writes cheaper and reads slower.",
    ),
    Knob(
        "level0_slowdown_writes_trigger", "cf", "files", 20, low=2, high=256,
        effect="Files in level 0 at which writes are delayed: more postpone stalls and make reads slower.",
    ),
    Knob(
        "level0_stop_writes_trigger", "cf", "files", 36, low=3, high=512,
        effect="Files in level 0 at which writes stop: more avoid full stops and make reads even slower.",
    ),
    Knob(
        "max_bytes_for_level_multiplier", "cf", "ratio", 10, low=2, high=64, acts_on="all_files",
        effect="Size ratio of a level to the one above: higher gives fewer levels, which are rewritten more.",
    ),
    Knob(
        "max_bytes_for_level_base", "cf", "bytes", 256 * MIB, low=MIB, high=64 * _GIB, step=MIB, scaled=True,
        acts_on="all_files",
        effect="Size of level 1: merging level 0 into it costs least if both have about the same size.",
    ),
    Knob(
        "target_file_size_multiplier", "cf", "ratio", 1, low=1, high=16, acts_on="new_files",
        effect="File size ratio of a level to the one above: higher gives fewer, longer compactions below.",
    ),
    Knob(
        "target_file_size_base", "cf", "bytes", 64 * MIB, low=MIB, high=4 * _GIB, step=MIB, scaled=True,
        acts_on="new_files",
        effect="File size in level 1: larger files give fewer compactions, each of which rewrites more.",
    ),
    # A migration, because RocksDB does not open a store whose data lie in levels beyond num_levels.
    Knob(
        "num_levels", "cf", "levels", 7, low=2, high=32, acts_on="all_files", live_change="migration",
        effect="Maximum number of levels: with too few, the last level exceeds its target size.",
    ),
    # RocksDB derives 0 as 25 times target_file_size_base.
    Knob(
        "max_compaction_bytes", "cf", "bytes", 0, low=0, high=256 * _GIB, step=MIB, scaled=True,
        effect="Maximum bytes of one compaction, 0 for 25 files: smaller ones delay other compactions less.",
    ),
    Knob(
        "soft_pending_compaction_bytes_limit", "cf", "bytes", 64 * _GIB, low=0, high=1024 * _GIB, step=MIB,
        scaled=True,
        effect="Bytes waiting for compaction at which writes are delayed: higher absorbs longer bursts.",
    ),
    Knob(
        "hard_pending_compaction_bytes_limit", "cf", "bytes", 256 * _GIB, low=0, high=4096 * _GIB, step=MIB,
        scaled=True,
        effect="Bytes waiting for compaction at which writes stop: higher absorbs longer bursts.",
    ),
    # Its default became True in RocksDB 8.4.
    Knob(
        "level_compaction_dynamic_level_bytes", "cf", "", False, choices=(False, True), acts_on="all_files",
        live_change="migration",
        effect="Sizes the levels from the last one upwards: keeps space amplification low at any data size.",
    ),
    Knob(
        "compaction_pri", "cf", "", "kMinOverlappingRatio", live_change="reopen",
        choices=(
            "kByCompensatedSize", "kOldestLargestSeqFirst", "kOldestSmallestSeqFirst", "kMinOverlappingRatio",
            "kRoundRobin",
        ),
        effect="Which file of a level is compacted first: the least overlap below costs the fewest bytes.",
    ),
    # Its default became LZ4 in RocksDB 11.5.
    Knob(
        "compression", "cf", "", "kSnappyCompression", acts_on="all_files",
        choices=("kNoCompression", "kSnappyCompression", "kLZ4Compression", "kZSTD"),
        effect="Compression of blocks: a stronger one saves device bandwidth and space and costs CPU time.",
    ),
)  # fmt: skip

_MEMORY = (
    # RocksDB raises smaller write buffers to 64 KiB.
    Knob(
        "write_buffer_size", "cf", "bytes", 64 * MIB, low=64 * _KIB, high=16 * _GIB, step=MIB, scaled=True,
        scaled_floor=64 * _KIB,
        effect="Size of one memtable: larger gives fewer flushes and files, and less memory for the cache.",
    ),
    # The minimum is 2, because RocksDB raises 1 to 2.
    Knob(
        "max_write_buffer_number", "cf", "buffers", 2, low=2, high=64,
        effect="Maximum number of memtables: more absorb bursts while flushes lag behind, and cost memory.",
    ),
    Knob(
        "min_write_buffer_number_to_merge", "cf", "buffers", 1, low=1, high=32, live_change="reopen",
        effect="Memtables that one flush merges: more drop more overwritten entries and delay flushes.",
    ),
    # RocksDB's arena raises smaller blocks to 4 KiB.
    Knob(
        "arena_block_size", "cf", "bytes", 0, low=0, high=_GIB, step=4 * _KIB, scaled=True,
        scaled_floor=4 * _KIB,
        effect="Bytes that a memtable allocates at a time, 0 for an eighth of its size up to 1 MiB.",
    ),
    Knob(
        "memtable_prefix_bloom_size_ratio", "cf", "ratio", 0.0, low=0.0, high=0.25,
        effect="Share of a memtable for its Bloom filter: reads of absent keys skip searching the memtable.",
    ),
    Knob(
        "memtable_whole_key_filtering", "cf", "", False, choices=(False, True),
        effect="Puts whole keys into the memtable's Bloom filter, which otherwise holds only prefixes.",
    ),
    Knob(
        "db_write_buffer_size", "db", "bytes", 0, low=0, high=64 * _GIB, step=MIB, scaled=True,
        scaled_floor=64 * _KIB, live_change="reopen",
        effect="Maximum bytes of all memtables together, 0 for no limit: reaching it forces a flush.",
    ),
    Knob(
        "max_total_wal_size", "db", "bytes", 0, low=0, high=256 * _GIB, step=MIB, scaled=True,
        live_change="set_db_options",
        effect="Bytes of write-ahead logs at which flushes are forced, 0 for four times all memtables.",
    ),
    # 0 means no filter. A Ribbon filter's number means the bits of a Bloom filter that is as good.
    Knob(
        "bloom_bits", "table", "bits", 0, low=0, high=24, acts_on="all_files", live_change="reopen",
        option="filter_policy", template="bloomfilter:{}:false",
        pattern=r"(?:\{?id=)?(?:bloom|ribbon)filter:([\d.]+).*",
        effect="Filter bits per key: more avoid more reads of files without the key, and cost memory.",
    ),
    Knob(
        "block_size", "table", "bytes", 4 * _KIB, low=512, high=MIB, step=512, acts_on="all_files",
        effect="Bytes of a block, the unit of reads and of the cache: small suits lookups, large scans.",
    ),
    # Only the program that owns the Cache object can resize it, with SetCapacity; no option reaches it.
    Knob(
        "block_cache", "table", "bytes", 8 * MIB, low=0, high=1024 * _GIB, step=MIB, scaled=True,
        live_change="object",
        effect="Memory for blocks that were read: the rest of the budget after memtables and filters.",
    ),
)  # fmt: skip

_PARALLELISM = (
    # -1 means that RocksDB derives both numbers of threads from max_background_jobs.
    Knob(
        "max_background_compactions", "db", "threads", -1, low=1, high=64, live_change="set_db_options",
        effect="Compactions at once: more empty level 0 sooner and compete with reads for the device.",
    ),
    Knob(
        "max_background_flushes", "db", "threads", -1, low=1, high=16, live_change="set_db_options",
        effect="Flushes at once: more free full memtables sooner.",
    ),
    Knob(
        "max_background_jobs", "db", "threads", 2, low=1, high=128, live_change="set_db_options",
        effect="Flushes and compactions at once, a quarter of them flushes: more keep up with more writes.",
    ),
    Knob(
        "max_subcompactions", "db", "threads", 1, low=1, high=64, live_change="set_db_options",
        effect="Threads of one compaction: more shorten that of level 0, of which only one runs at a time.",
    ),
    Knob(
        "enable_pipelined_write", "db", "", False, choices=(False, True), live_change="reopen",
        effect="Lets one group of writers write the log while another writes the memtable.",
    ),
)  # fmt: skip

_INPUT_OUTPUT = (
    # Sizes of I/O are not scaled, because a 1/S model has the same device.
    Knob(
        "compaction_readahead_size", "db", "bytes", 0, low=0, high=64 * MIB, step=64 * _KIB,
        live_change="set_db_options",
        effect="Bytes that a compaction reads ahead: larger gives fewer, longer reads of the device.",
    ),
    Knob(
        "bytes_per_sync", "db", "bytes", 0, low=0, high=64 * MIB, step=64 * _KIB,
        live_change="set_db_options",
        effect="Bytes of a table file after which it is synced, which avoids one long sync at its end.",
    ),
    Knob(
        "wal_bytes_per_sync", "db", "bytes", 0, low=0, high=64 * MIB, step=64 * _KIB,
        live_change="set_db_options",
        effect="Bytes of the log after which it is synced, which avoids one long sync at its end.",
    ),
    Knob(
        "delayed_write_rate", "db", "bytes/s", 0, low=0, high=4 * _GIB, step=MIB,
        live_change="set_db_options",
        effect="Rate of writes while they are delayed, 0 for 16 MiB/s at first.",
    ),
)  # fmt: skip

_GOVERNOR = (
    # A governor keeps the settings with which it was attached, so each change needs a reopened store.
    Knob(
        "governor_mode", "governor", "", "proportional", choices=("toggle", "proportional"), option="mode",
        live_change="reopen",
        effect="While writes peak, toggle switches compactions off and proportional slows them down.",
    ),
    Knob(
        "governor_debt_bytes", "governor", "bytes", 256 * _GIB, low=0, high=1024 * _GIB, step=MIB,
        scaled=True, option="debt_bytes", live_change="reopen",
        effect="Maximum compaction debt, 0 for no limit: more lasts a longer peak and makes reads slower.",
    ),
    Knob(
        "governor_debt_runs", "governor", "files", 1000, low=0, high=1 << 20, option="debt_runs",
        live_change="reopen",
        effect="Maximum files of level 0, 0 for no limit; 3/4 of it must exceed the compaction trigger.",
    ),
    Knob(
        "governor_interval_us", "governor", "us", 10_000_000, low=1000, high=3_600_000_000, scaled=True,
        scaled_floor=1000, option="interval_us", live_change="reopen",
        effect="Time between two decisions: shorter follows the load sooner, but also its noise.",
    ),
    Knob(
        "governor_flush_share", "governor", "ratio", 0.5, low=0.01, high=1.0, option="flush_share",
        live_change="reopen",
        effect="Share of the maximum flush rate that flushes must reach before toggle stops compactions.",
    ),
    Knob(
        "governor_total_share", "governor", "ratio", 0.9, low=0.01, high=1.0, option="total_share",
        live_change="reopen",
        effect="Share of that rate that flushes and compactions must reach before toggle stops compactions.",
    ),
    Knob(
        "governor_min_compaction_share", "governor", "ratio", 0.02, low=0.001, high=1.0,
        option="min_compaction_share", live_change="reopen",
        effect="Share of the device that compactions always get: more leaves less debt after a peak.",
    ),
    Knob(
        "governor_device_bytes_per_s", "governor", "bytes/s", 0, low=0, high=1024 * _GIB, step=MIB,
        option="device_bytes_per_s", live_change="reopen",
        effect="Read and write bandwidth of the device, 0 for that of the emulated device.",
    ),
    Knob(
        "governor_max_flush_bytes_per_s", "governor", "bytes/s", 0, low=0, high=1024 * _GIB, step=MIB,
        option="max_flush_bytes_per_s", live_change="reopen",
        effect="Maximum rate of flushes without compactions, 0 for half the device's bandwidth.",
    ),
    Knob(
        "governor_merge_level0", "governor", "", True, choices=(False, True), option="merge_level0",
        live_change="reopen",
        effect="Merges small files of level 0 with each other if it has many: one more write, fewer runs.",
    ),
)  # fmt: skip

_MAX_FLSM_LEVELS = 12

_FLSM = (
    Knob(
        "flsm_size_ratio", "flsm", "ratio", 10, low=2, high=50, option="size_ratio", acts_on="all_files",
        live_change="migration",
        effect="T, size ratio of a level to the one above: higher gives fewer levels, each rewritten more.",
    ),
    Knob(
        "flsm_level1_bytes", "flsm", "bytes", 0, low=0, high=64 * _GIB, step=MIB, scaled=True,
        option="level1_bytes", acts_on="all_files", live_change="migration",
        effect="Capacity of level 1, 0 for the write buffer times the size ratio.",
    ),
    Knob(
        "flsm_levels", "flsm", "levels", 6, low=1, high=_MAX_FLSM_LEVELS, option="levels",
        acts_on="all_files", live_change="reopen",
        effect="Maximum number of levels; the deepest one has no capacity limit.",
    ),
    # An FLSM store changes a policy while it serves; its transition decides when the level follows.
    *(
        Knob(
            f"flsm_policy_{level}", "flsm", "runs", 1, low=1, high=50, option=f"policy_{level}",
            acts_on="all_files", live_change="object",
            effect=f"K of level {level}, its runs when full: more make writes cheaper and reads slower.",
        )
        for level in range(1, _MAX_FLSM_LEVELS + 1)
    ),
    Knob(
        "flsm_deepest_policy", "flsm", "runs", 0, low=0, high=50, option="deepest_policy",
        acts_on="all_files", live_change="migration",
        effect="K of the deepest level in use, 0 for that level's own policy; 1 gives lazy leveling.",
    ),
    Knob(
        "flsm_granularity", "flsm", "", "levels", choices=("levels", "files"), option="granularity",
        acts_on="all_files", live_change="reopen",
        effect="Whether a full level is pushed whole, or the files that are cheapest to merge.",
    ),
    Knob(
        "flsm_filters", "flsm", "", "uniform", choices=("uniform", "monkey"), option="filters",
        acts_on="all_files", live_change="reopen",
        effect="Division of the filters' memory: the same bits for all keys, or more for smaller levels.",
    ),
    Knob(
        "flsm_bits_per_key", "flsm", "bits", 8.0, low=0.0, high=100.0, option="bits_per_key",
        acts_on="all_files", live_change="reopen",
        effect="Filter bits per key on average: more avoid more reads of tables without the key.",
    ),
    Knob(
        "flsm_level0_runs", "flsm", "files", 10, low=0, high=100, option="level0_runs", live_change="reopen",
        effect="Files that may stay in level 0 as runs of level 1; 0 moves each into level 1 at once.",
    ),
    Knob(
        "flsm_workers", "flsm", "threads", 3, low=2, high=64, option="workers", live_change="reopen",
        effect="Compactions of an FLSM store that run at once.",
    ),
)  # fmt: skip

CATALOGUE = MappingProxyType(
    {
        knob.name: knob
        for knob in (*_LEVELS, *FILE_KNOBS, *_MEMORY, *_PARALLELISM, *_INPUT_OUTPUT, *_GOVERNOR, *_FLSM)
    }
)
"""All catalogued knobs by name."""

DERIVED = MappingProxyType({"block_cache": "it gets the rest of the memory budget"})
"""Options that a space derives and a user cannot set, each with the reason."""
