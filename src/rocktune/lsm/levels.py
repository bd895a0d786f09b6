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
    """Returns the number of levels that the data fills (Dremel, equation 1).

    #Level = log_T( N (K+V) / (C F) * (T-1) / T ), clamped to [1, num_levels]; a real number, as printed.
    Level 0 is taken as C F here, whereas equation 6 takes C M W: each as printed.

    Args:
        expected_entries: N, distinct keys in the store by the end of the run, above 0.
        entry_bytes: K + V, mean bytes of a key and its value, above 0.
        level0_file_num_compaction_trigger: C, files.
        target_file_size_base: F, bytes.
        max_bytes_for_level_multiplier: T, ratio of a level's size to the one above it, above 1.
        num_levels: the upper limit that RocksDB is given.

    Returns:
        Levels below level 0, broadcast over the arguments' shapes.
    """
    ratio = real(max_bytes_for_level_multiplier)
    data_bytes = real(expected_entries) * entry_bytes
    level0_bytes = real(level0_file_num_compaction_trigger) * target_file_size_base
    last_level_over_level0 = data_bytes / level0_bytes * (ratio - 1) / ratio
    return np.clip(np.log(last_level_over_level0) / np.log(ratio), 1, real(num_levels))


def worst_case_space_amplification(max_bytes_for_level_multiplier: Numbers, levels: Numbers) -> Reals:
    """Returns bytes of outdated entries per live byte when every upper level overwrites the last (rule 1).

    The sum of 1 / T^i for i = 1 to #Level, that is (1 - T^-#Level) / (T - 1); smaller is better.

    Args:
        max_bytes_for_level_multiplier: T, above 1.
        levels: #Level, at least 1.
    """
    ratio = real(max_bytes_for_level_multiplier)
    return (1 - ratio ** -real(levels)) / (ratio - 1)


def worst_case_read_amplification(levels: Numbers, level0_files: Numbers) -> Reals:
    """Returns files searched by one read when no filter helps: #Level + #L0File (rule 2); smaller is better.

    Args:
        levels: #Level, of which one file each is searched.
        level0_files: #L0File, all searched; at most `level0_stop_writes_trigger`.
    """
    return real(levels) + real(level0_files)


def worst_case_write_amplification(max_bytes_for_level_multiplier: Numbers, levels: Numbers) -> Reals:
    """Returns how often one entry is rewritten by compaction: T * #Level (rule 3); smaller is better.

    Args:
        max_bytes_for_level_multiplier: T.
        levels: #Level.
    """
    return real(max_bytes_for_level_multiplier) * real(levels)
