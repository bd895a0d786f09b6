"""Dremel's fused features: four numbers that summarise a configuration (section 4.3, table 2).

Factors that all configurations of a workload share are left out, so only order and ratios have a meaning.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from rocktune.lsm.arrays import Numbers, Reals, real
from rocktune.lsm.levels import level_count
from rocktune.lsm.universal_features import (
    first_merge_bytes,
    last_run_ratio,
    max_sorted_runs,
    merge_steps,
    run_growth,
    universal_compaction_frequency,
    universal_read_sstable_cost,
)

FEATURE_NAMES = (
    "compaction_frequency",
    "write_buffer_full_frequency",
    "read_sstable_cost",
    "block_cache_hit_rate",
)
# A key of 16 bytes, as Dremel's workloads have, and the offset and size of its block.
_INDEX_ENTRY_BYTES = 24.0


def compaction_frequency(
    *,
    max_background_compactions: Numbers,
    max_bytes_for_level_multiplier: Numbers,
    target_file_size_base: Numbers,
    target_file_size_multiplier: Numbers,
    levels: Numbers,
    parallel_levels: Numbers | None = None,
) -> Reals:
    """Returns the worst-case frequency of compactions (Dremel, equation 5); smaller is better.

    H / #Level * (T+1) / F * (R - R^-(#Level - 1)) / (R - 1). The last factor is the sum of R^-(i-1) for
    i = 1 to #Level, which is #Level if R is 1. Table 2 divides H by L = `num_levels`, the paper's derivation
    by the actual #Level. The latter is used unless `parallel_levels` is given.

    Args:
        max_background_compactions: H, threads.
        max_bytes_for_level_multiplier: T, size ratio of a level to the one above.
        target_file_size_base: F, bytes.
        target_file_size_multiplier: R, file size ratio of a level to the one above, at least 1.
        levels: #Level, from `rocktune.lsm.levels.level_count`.
        parallel_levels: divisor of H in place of #Level; `num_levels` gives table 2's form.

    Returns:
        A frequency in 1/bytes, broadcast over the arguments' shapes.
    """
    size_ratio = real(max_bytes_for_level_multiplier)
    file_ratio = real(target_file_size_multiplier)
    depth = real(levels)
    grows = file_ratio > 1
    # The closed form is 0 / 0 if R is 1. np.where takes the limit there, but evaluates both branches, so R is
    # replaced by 2 in the other branch to avoid a warning.
    safe_ratio = np.where(grows, file_ratio, 2.0)
    files = np.where(grows, (safe_ratio - safe_ratio ** (1 - depth)) / (safe_ratio - 1), depth)
    threads_per_level = real(max_background_compactions) / (
        depth if parallel_levels is None else real(parallel_levels)
    )
    return threads_per_level * (size_ratio + 1) / target_file_size_base * files


def write_buffer_full_frequency(
    *,
    level0_file_num_compaction_trigger: Numbers,
    min_write_buffer_number_to_merge: Numbers,
    write_buffer_size: Numbers,
    max_write_buffer_number: Numbers,
    max_background_flushes: Numbers,
) -> Reals:
    """Returns the frequency at which memtables and level 0 fill up (Dremel, equation 7); smaller is better.

    1 / (C M W) + 1 / (Q W U), in 1/bytes.

    Args:
        level0_file_num_compaction_trigger: C, files.
        min_write_buffer_number_to_merge: M, buffers.
        write_buffer_size: W, bytes.
        max_write_buffer_number: Q, buffers.
        max_background_flushes: U, threads.
    """
    buffer_bytes = real(write_buffer_size)
    level0_bytes = level0_size_bytes(
        level0_file_num_compaction_trigger, min_write_buffer_number_to_merge, buffer_bytes
    )
    memtable_bytes = real(max_write_buffer_number) * buffer_bytes
    # More flush threads empty the memtables sooner, which acts like more memtables.
    drained_bytes = memtable_bytes * real(max_background_flushes)
    return 1 / level0_bytes + 1 / drained_bytes


def level0_size_bytes(
    level0_file_num_compaction_trigger: Numbers,
    min_write_buffer_number_to_merge: Numbers,
    write_buffer_size: Numbers,
) -> Reals:
    """Returns the bytes in level 0 when its compaction starts: C M W (Dremel, equation 6; rule 8).

    Args:
        level0_file_num_compaction_trigger: C, files.
        min_write_buffer_number_to_merge: M, buffers.
        write_buffer_size: W, bytes.
    """
    files = real(level0_file_num_compaction_trigger)
    return files * min_write_buffer_number_to_merge * write_buffer_size


def read_sstable_cost(
    *, level0_file_num_compaction_trigger: Numbers, levels: Numbers, block_size: Numbers
) -> Reals:
    """Returns the worst-case cost of a read that misses the cache (Dremel, equation 8); smaller is better.

    (C + #Level) / B, in 1/bytes.

    Args:
        level0_file_num_compaction_trigger: C, files.
        levels: #Level, from `rocktune.lsm.levels.level_count`.
        block_size: B, bytes.
    """
    files = real(level0_file_num_compaction_trigger) + levels
    return files / block_size


def index_bytes(expected_entries: Numbers, entry_bytes: Numbers, block_size: Numbers) -> Reals:
    """Returns the bytes of the index of all tables: 24 for each block, a key of 16 bytes and a position.

    With 10 million entries of 1,040 bytes in blocks of 4 KiB, these are 61 MB.

    Args:
        expected_entries: N, distinct keys.
        entry_bytes: K + V, mean bytes of a key and its value.
        block_size: B, bytes.
    """
    return _INDEX_ENTRY_BYTES * real(expected_entries) * entry_bytes / block_size


def block_cache_hit_rate(
    *,
    memory_bytes: Numbers,
    max_write_buffer_number: Numbers,
    write_buffer_size: Numbers,
    metadata_bytes: Numbers = 0.0,
) -> Reals:
    """Returns the memory left for cached data, in bytes (Dremel, equation 9); larger is better.

    M_budget - Q W, less filters and index. Table 1's `cache_size` does not appear, because the cache gets the
    rest of the budget. Nor do filters in the paper, where all configurations have equal ones.

    Args:
        memory_bytes: M_budget, the memory budget in bytes.
        max_write_buffer_number: Q, buffers.
        write_buffer_size: W, bytes.
        metadata_bytes: bytes of the budget that filters and index take.
    """
    memtables = real(max_write_buffer_number) * write_buffer_size
    return memory_bytes - memtables - metadata_bytes


def fused_features(
    values: Mapping[str, Numbers],
    *,
    expected_entries: float,
    entry_bytes: float,
    memory_bytes: float,
    metadata_bytes: Numbers = 0.0,
    universal: bool | NDArray[np.bool_] = False,
    printed: bool = False,
) -> dict[str, Reals]:
    """Returns the four fused features of one or many configurations, by name (Dremel, table 2).

    Larger is better for "block_cache_hit_rate", smaller for the others.

    Args:
        values: numbers, or arrays of equal length, by option name and at full size, as `Space.columns`
            returns them. All options of table 1 are needed but `bloom_bits`, `cache_size` and the two
            triggers of level 0 for writes, and those of universal compaction if any configuration has it.
        expected_entries: distinct keys in the store by the end of a full-length run, above 0.
        entry_bytes: mean size of key and value together.
        memory_bytes: the memory budget.
        metadata_bytes: bytes of the budget that filters and index take.
        universal: whether a configuration has universal compaction and not leveled.
        printed: whether to divide H by `num_levels` as table 2 prints it, not by #Level.

    Returns:
        For each of `FEATURE_NAMES` an array of the values' shape.
    """
    features = _leveled_features(values, expected_entries, entry_bytes, printed)
    if np.any(universal):
        of_universal = _universal_features(values, expected_entries * entry_bytes, printed)
        features = {
            name: np.where(universal, of_universal[name], numbers) for name, numbers in features.items()
        }
    return {
        "compaction_frequency": features["compaction_frequency"],
        "write_buffer_full_frequency": write_buffer_full_frequency(
            **_chosen(
                values,
                "level0_file_num_compaction_trigger",
                "min_write_buffer_number_to_merge",
                "write_buffer_size",
                "max_write_buffer_number",
                "max_background_flushes",
            )
        ),
        "read_sstable_cost": features["read_sstable_cost"],
        "block_cache_hit_rate": block_cache_hit_rate(
            memory_bytes=memory_bytes,
            metadata_bytes=metadata_bytes,
            **_chosen(values, "max_write_buffer_number", "write_buffer_size"),
        ),
    }


def _leveled_features(
    values: Mapping[str, Numbers], expected_entries: float, entry_bytes: float, printed: bool
) -> dict[str, Reals]:
    """Returns the two features that depend on the compaction style, for leveled compaction."""
    levels = level_count(
        expected_entries=expected_entries,
        entry_bytes=entry_bytes,
        **_chosen(
            values,
            "level0_file_num_compaction_trigger",
            "target_file_size_base",
            "max_bytes_for_level_multiplier",
            "num_levels",
        ),
    )
    return {
        "compaction_frequency": compaction_frequency(
            levels=levels,
            parallel_levels=values["num_levels"] if printed else None,
            **_chosen(
                values,
                "max_background_compactions",
                "max_bytes_for_level_multiplier",
                "target_file_size_base",
                "target_file_size_multiplier",
            ),
        ),
        "read_sstable_cost": read_sstable_cost(
            levels=levels, **_chosen(values, "level0_file_num_compaction_trigger", "block_size")
        ),
    }


def _universal_features(values: Mapping[str, Numbers], data_bytes: float, printed: bool) -> dict[str, Reals]:
    """Returns the two features that depend on the compaction style, for universal compaction."""
    flushed = ("level0_file_num_compaction_trigger", "min_write_buffer_number_to_merge", "write_buffer_size")
    shape = {
        "growth": run_growth(**_chosen(values, "universal_size_ratio", "universal_min_merge_width")),
        "last_ratio": last_run_ratio(
            **_chosen(values, "universal_size_ratio", "universal_max_size_amplification_percent")
        ),
        "first_bytes": first_merge_bytes(**_chosen(values, *flushed, "universal_max_merge_width")),
    }
    runs = max_sorted_runs(
        data_bytes=data_bytes,
        **_chosen(values, *flushed, "universal_size_ratio", "universal_max_read_amp"),
    )
    return {
        "compaction_frequency": universal_compaction_frequency(
            steps=merge_steps(data_bytes=data_bytes, **shape),
            parallel_levels=values["num_levels"] if printed else None,
            **shape,
            **_chosen(values, "max_background_compactions"),
        ),
        "read_sstable_cost": universal_read_sstable_cost(runs=runs, **_chosen(values, "block_size")),
    }


def _chosen(values: Mapping[str, Numbers], *names: str) -> dict[str, Reals]:
    """Returns the named values as arrays of doubles, by name."""
    return {name: real(values[name]) for name in names}
