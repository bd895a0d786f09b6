"""Dremel's compaction frequency and read cost for universal compaction, derived as in its section 4.3.

Sorted runs take the place of levels. RocksDB merges the newest runs, and a merge takes in the next older run
if that is at most 1 + s times as large as the newer ones together (s: `universal_size_ratio`, in per cent).
A merged run becomes a part of a larger one. Only the last run stays where it is.
"""

import numpy as np

from rocktune.lsm.arrays import Numbers, Reals, real


def run_growth(universal_size_ratio: Numbers, universal_min_merge_width: Numbers) -> Reals:
    """Returns G, the ratio of a merged run to the data that came into the merge: max(2 + s, m).

    The largest run that the newer ones take in is 1 + s times as large as they are together. At least m runs
    are merged, each of which is at least as large as the newest. RocksDB counts with 2 + s, too, when it
    chooses `max_read_amp` by itself.

    Args:
        universal_size_ratio: s, per cent.
        universal_min_merge_width: m, sorted runs, at least 2.
    """
    return np.maximum(2 + real(universal_size_ratio) / 100, real(universal_min_merge_width))


def last_run_ratio(universal_size_ratio: Numbers, universal_max_size_amplification_percent: Numbers) -> Reals:
    """Returns Z, the ratio of the last run to the newer ones together when it is merged: max(1 + s, 1 / a).

    It is merged when the newer runs reach the share a of its size, or when it is of a similar size.

    Args:
        universal_size_ratio: s, per cent.
        universal_max_size_amplification_percent: a, per cent; 0 counts as 1.
    """
    amplification = np.maximum(real(universal_max_size_amplification_percent), 1) / 100
    return np.maximum(1 + real(universal_size_ratio) / 100, 1 / amplification)


def first_merge_bytes(
    level0_file_num_compaction_trigger: Numbers,
    universal_max_merge_width: Numbers,
    min_write_buffer_number_to_merge: Numbers,
    write_buffer_size: Numbers,
) -> Reals:
    """Returns the bytes of flushed runs that are merged first: b = min(C, x) M W (equation 6).

    Args:
        level0_file_num_compaction_trigger: C, sorted runs at which compaction starts.
        universal_max_merge_width: x, maximum number of sorted runs that one compaction merges.
        min_write_buffer_number_to_merge: M, buffers.
        write_buffer_size: W, bytes.
    """
    runs = np.minimum(real(level0_file_num_compaction_trigger), real(universal_max_merge_width))
    return runs * min_write_buffer_number_to_merge * write_buffer_size


def merge_steps(*, data_bytes: Numbers, first_bytes: Numbers, growth: Numbers, last_ratio: Numbers) -> Reals:
    """Returns #Step, how often an entry is merged until it is in the last run, at least 1 (equation 1).

    The last run holds the share Z / (1 + Z) of the data, and is Z times as large as the newer runs, which
    have grown from b to b G^(#Step - 1). So #Step = 1 + log_G(N (K+V) / (b (1 + Z))).

    Args:
        data_bytes: N (K+V), bytes of all distinct entries, above 0.
        first_bytes: b, from `first_merge_bytes`.
        growth: G, from `run_growth`.
        last_ratio: Z, from `last_run_ratio`.
    """
    newer_over_first = real(data_bytes) / (real(first_bytes) * (1 + real(last_ratio)))
    # With little data, the first merge takes the last run in.
    return 1 + np.maximum(0, np.log(newer_over_first) / np.log(growth))


def universal_compaction_frequency(
    *,
    max_background_compactions: Numbers,
    first_bytes: Numbers,
    growth: Numbers,
    last_ratio: Numbers,
    steps: Numbers,
    parallel_levels: Numbers | None = None,
) -> Reals:
    """Returns the worst-case frequency of universal compactions (Dremel, equation 5); smaller is better.

    H / #Step * 1 / b * ((G - G^(2 - #Step)) / (G - 1) + (Z + 1) G^(1 - #Step)), derived as follows.

    - Equation 2: entries come into each step at the rate of writes. A step before the last writes each of
      them once, because the older run has come in at the same rate and leaves with them. Only the last run
      stays. It is Z times as large, so the last step writes Z + 1 times what comes in.
    - Equation 3: a compaction moves whole runs, of which b G^(i - 1) bytes are new to step i.
    - Equation 4: the sum of G^-(i - 1) for i = 1 to #Step - 1 is (G - G^(2 - #Step)) / (G - 1).
    - At most H of the #Step merges run at the same time.

    The unit is that of `compaction_frequency`, with sorted runs in place of files.

    Args:
        max_background_compactions: H, threads.
        first_bytes: b, from `first_merge_bytes`.
        growth: G, from `run_growth`.
        last_ratio: Z, from `last_run_ratio`.
        steps: #Step, from `merge_steps`.
        parallel_levels: divisor of H in place of #Step; `num_levels` gives table 2's form.

    Returns:
        A frequency in 1/bytes, broadcast over the arguments' shapes.
    """
    grown, count = real(growth), real(steps)
    upper = (grown - grown ** (2 - count)) / (grown - 1)
    last = (real(last_ratio) + 1) * grown ** (1 - count)
    threads_per_step = real(max_background_compactions) / (
        count if parallel_levels is None else real(parallel_levels)
    )
    return threads_per_step / first_bytes * (upper + last)


def max_sorted_runs(
    *,
    data_bytes: Numbers,
    level0_file_num_compaction_trigger: Numbers,
    min_write_buffer_number_to_merge: Numbers,
    write_buffer_size: Numbers,
    universal_size_ratio: Numbers,
    universal_max_read_amp: Numbers,
) -> Reals:
    """Returns #Run, the sorted runs that a read searches at worst, at least 1.

    This is max(C, r), but not more than the data make: N (K+V) / (M W). RocksDB's own choice for r is the
    number of runs that grow by 2 + s from one write buffer to all data: 2 + log_(2+s)(N (K+V) / ((1+s) W)).

    Args:
        data_bytes: N (K+V), bytes of all distinct entries, above 0.
        level0_file_num_compaction_trigger: C, sorted runs at which compaction starts.
        min_write_buffer_number_to_merge: M, buffers.
        write_buffer_size: W, bytes.
        universal_size_ratio: s, per cent.
        universal_max_read_amp: r, maximum of sorted runs; 0 for RocksDB's own choice, -1 for C.
    """
    ratio = 1 + real(universal_size_ratio) / 100
    buffers = real(data_bytes) / (ratio * real(write_buffer_size))
    chosen = np.maximum(1, 2 + np.log(buffers) / np.log(1 + ratio))
    limit = np.where(real(universal_max_read_amp) == 0, chosen, real(universal_max_read_amp))
    flushed = real(data_bytes) / (real(min_write_buffer_number_to_merge) * write_buffer_size)
    runs = np.maximum(real(level0_file_num_compaction_trigger), limit)
    return np.maximum(1, np.minimum(runs, flushed))


def universal_read_sstable_cost(*, runs: Numbers, block_size: Numbers) -> Reals:
    """Returns the worst-case cost of a read that misses the cache (Dremel, equation 8); smaller is better.

    #Run / B, in 1/bytes. All runs count, the last one too, so this compares with `read_sstable_cost`.

    Args:
        runs: #Run, from `max_sorted_runs`.
        block_size: B, bytes.
    """
    return real(runs) / block_size
