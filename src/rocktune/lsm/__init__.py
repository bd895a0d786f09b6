"""The formulas of LSM-trees, as pure functions of numbers or arrays. All code shares these definitions."""

from rocktune.lsm.ages import periodic_bytes_per_s, ttl_bytes_per_s
from rocktune.lsm.distinct_keys import DistinctKeys
from rocktune.lsm.features import (
    FEATURE_NAMES,
    block_cache_hit_rate,
    compaction_frequency,
    fused_features,
    index_bytes,
    level0_size_bytes,
    read_sstable_cost,
    write_buffer_full_frequency,
)
from rocktune.lsm.levels import (
    level_count,
    worst_case_read_amplification,
    worst_case_space_amplification,
    worst_case_write_amplification,
)
from rocktune.lsm.propagation import inferred_policy, propagated_policies
from rocktune.lsm.static_policies import STATIC_POLICIES, static_policy
from rocktune.lsm.steady_state import ROUGH, SETTLED, Horizon, steady_amplification
from rocktune.lsm.transitions import (
    flexible_additional_pages,
    greedy_additional_pages,
    greedy_transition_pages,
    lazy_additional_pages,
    lazy_additional_written_pages,
    lazy_transition_delay_s,
)
from rocktune.lsm.tree_shape import Amplification, TreeData, TreeShape

__all__ = [
    "FEATURE_NAMES",
    "ROUGH",
    "SETTLED",
    "STATIC_POLICIES",
    "Amplification",
    "DistinctKeys",
    "Horizon",
    "TreeData",
    "TreeShape",
    "block_cache_hit_rate",
    "compaction_frequency",
    "flexible_additional_pages",
    "fused_features",
    "greedy_additional_pages",
    "greedy_transition_pages",
    "index_bytes",
    "inferred_policy",
    "lazy_additional_pages",
    "lazy_additional_written_pages",
    "lazy_transition_delay_s",
    "level0_size_bytes",
    "level_count",
    "periodic_bytes_per_s",
    "propagated_policies",
    "read_sstable_cost",
    "static_policy",
    "steady_amplification",
    "ttl_bytes_per_s",
    "worst_case_read_amplification",
    "worst_case_space_amplification",
    "worst_case_write_amplification",
    "write_buffer_full_frequency",
]
