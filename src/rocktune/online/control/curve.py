"""What a level's policy costs: a curve through all that was measured (RusKey, equation 5)."""

from collections.abc import Sequence

import numpy as np


def cheapest_policy(
    policies: Sequence[int], reads_s: Sequence[float], merges_s: Sequence[float], size_ratio: int
) -> int | None:
    """Returns the policy from 1 to T with which a level's reads and merges together cost least.

    Reads cost in proportion to the runs that may be read in vain, c + r K. What a push brings is written
    (T / K + 1) / 2 times: T / K pushes make a run, of which the first is written as often as there are, the
    last once. A mission alone says little, for runs and merges follow the policy only after a while; all
    missions of a workload together are three numbers, by least squares.

    Args:
        policies: of each mission, from 1.
        reads_s: what the level's reads cost an operation.
        merges_s: likewise its merges.
        size_ratio: T.

    Returns:
        None while only one policy has been tried, or none.
    """
    if len(set(policies)) < 2:
        return None
    tried, candidates = np.array(policies, float), np.arange(1, size_ratio + 1)
    read_s = max(0.0, float(np.polyfit(tried, reads_s, 1)[0]))
    write_s = float(np.sum(merges_s) / np.sum(_writings(tried, size_ratio)))
    return int(candidates[np.argmin(read_s * candidates + write_s * _writings(candidates, size_ratio))])


def _writings(policies: np.ndarray, size_ratio: int) -> np.ndarray:
    """Returns how often an entry is written at a level."""
    return (size_ratio / policies + 1) / 2
