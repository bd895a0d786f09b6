"""The depth of an LSM-tree and the worst-case amplifications that follow from it."""

import numpy as np

from rocktune.lsm.arrays import Numbers, Reals, real


def level_count(
    *,
    expected_entries: Numbers,
    entry_bytes: Numbers,
    level0_file_num_compaction_trigger: Numbers,
    target_file_size_base: Numbers,
    max_bytes_for_level_multiplier: Numbers,
    num_levels: Numbers,
) -> Reals:
    """Returns the number of levels that the data fills, a real number (Dremel, equation 1).

    #Level = log_T( N (K+V) / (C F) * (T-1) / T ), clamped to [1, num_levels]. The size of level 0 is C F
    here and C M W in equation 6; the paper contradicts itself, and each is used as printed.

    Args:
        expected_entries: N, distinct keys in the store by the end of the run, above 0.
        entry_bytes: K + V, mean bytes of a key and its value, above 0.
        level0_file_num_compaction_trigger: C, files.
        target_file_size_base: F, bytes.
        max_bytes_for_level_multiplier: T, ratio of a level's size to the one above it, above 1.
        num_levels: RocksDB's limit to the number of levels.

    Returns:
        The number of levels below level 0, broadcast over the arguments' shapes.
    """
    ratio = real(max_bytes_for_level_multiplier)
    data_bytes = real(expected_entries) * entry_bytes
    level0_bytes = real(level0_file_num_compaction_trigger) * target_file_size_base
    last_level_over_level0 = data_bytes / level0_bytes * (ratio - 1) / ratio
    # Little data makes the logarithm negative; a store has at least one level below level 0.
    return np.clip(np.log(last_level_over_level0) / np.log(ratio), 1, real(num_levels))


def worst_case_space_amplification(max_bytes_for_level_multiplier: Numbers, levels: Numbers) -> Reals:
    """Returns the maximum bytes of outdated entries per byte of live data (rule 1); smaller is better.

    The worst case is that each entry of an upper level overwrites one of the last level. Its share is the sum
    of 1 / T^i for i = 1 to #Level, which is (1 - T^-#Level) / (T - 1).

    Args:
        max_bytes_for_level_multiplier: T, size ratio of a level to the one above, above 1.
        levels: #Level, at least 1.
    """
    ratio = real(max_bytes_for_level_multiplier)
    return (1 - ratio ** -real(levels)) / (ratio - 1)


def worst_case_read_amplification(levels: Numbers, level0_files: Numbers) -> Reals:
    """Returns the files that one read searches without filters: #Level + #L0File (rule 2).

    Args:
        levels: #Level; one file of each level is searched.
        level0_files: #L0File, at most `level0_stop_writes_trigger`; all of them are searched.
    """
    return real(levels) + real(level0_files)


def worst_case_write_amplification(max_bytes_for_level_multiplier: Numbers, levels: Numbers) -> Reals:
    """Returns how often compactions rewrite one entry: T * #Level (rule 3); smaller is better.

    Args:
        max_bytes_for_level_multiplier: T, size ratio of a level to the one above.
        levels: #Level, levels below level 0.
    """
    return real(max_bytes_for_level_multiplier) * real(levels)
