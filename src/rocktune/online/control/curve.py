"""What a level's policy costs: a curve through all that was measured (RusKey, equation 5)."""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from scipy.optimize import lsq_linear

_PARTS = 3
"""Of the curve, so that as many policies have to be known."""


def cheapest_policy(policies: Sequence[int], costs: Sequence[float], size_ratio: int) -> int | None:
    """Returns the policy from 1 to T at which c + r K + w / K is smallest, fitted by least squares.

    Lookups cost in proportion to the runs that they may read in vain, updates to how often they are merged,
    T / K times; c is what other levels cost. A mission alone says little, for what the others do meanwhile
    differs by more than K does; all missions of a workload together are three numbers. Of each policy's
    missions counts the median, since a merge of deep levels costs many times an ordinary mission and falls to
    whatever policy there is just then.

    Args:
        policies: of each mission, from 1.
        costs: what it cost, in any unit and from any zero.
        size_ratio: T.

    Returns:
        None while too few policies have been tried to tell.
    """
    by_policy: dict[int, list[float]] = defaultdict(list)
    for policy, cost in zip(policies, costs, strict=True):
        by_policy[policy].append(cost)
    if len(by_policy) < min(_PARTS, size_ratio):
        return None
    medians = np.array([np.median(each) for each in by_policy.values()])
    # A median of more missions counts as so many.
    weights = np.sqrt([len(each) for each in by_policy.values()])
    columns = weights[:, None] * _columns(np.array(list(by_policy), float))
    fitted = lsq_linear(columns, weights * medians, ([-np.inf, 0, 0], np.inf)).x
    candidates = np.arange(1, size_ratio + 1)
    return int(candidates[np.argmin(_columns(candidates) @ fitted)])


def _columns(policies: np.ndarray) -> np.ndarray:
    """Returns shape (n, 3): what c, r and w are multiplied by."""
    return np.stack([np.ones(len(policies)), policies, 1 / policies], axis=1)
