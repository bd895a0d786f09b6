"""The cost of a level by its policy: a curve fitted to all measured missions (RusKey, equation 5)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Tried:
    """The cost of one level in one mission.

    Attributes:
        policy: K during the mission.
        runs: sorted runs at the mission's end.
        false_positive_read_s: seconds per operation of reading runs of the level that do not have the key.
        merges_s: seconds per operation that clients wait for merges into the level.
    """

    policy: int
    runs: int
    false_positive_read_s: float
    merges_s: float


def cheapest_policy(tried: Sequence[Tried], size_ratio: int) -> int | None:
    """Returns the K from 1 to T with the least cost of a level's reads and merges together.

    The cost of K is r * `runs_of`(K) + w * `writings_of`(K), as in equation 5. Both numbers follow from K.
    Runs and merges lag behind a change of policy by several missions. So r, the cost of one run, is the mean
    over all missions, whatever their policy was; so is w, the cost of one writing.

    Args:
        tried: missions in their order.
        size_ratio: T.

    Returns:
        None unless at least two policies were tried.
    """
    if len({each.policy for each in tried}) < 2:
        return None
    writings = sum(writings_of(each.policy, size_ratio) for each in tried)
    write_s = sum(each.merges_s for each in tried) / writings
    run_s = _run_s(tried)
    return min(
        range(1, size_ratio + 1),
        key=lambda policy: run_s * runs_of(policy, size_ratio) + write_s * writings_of(policy, size_ratio),
    )


def runs_of(policy: int, size_ratio: int) -> float:
    """Returns the mean number of runs of a level between two pushes of the whole level.

    If T / K is whole, the number is K / T less than equation 5's (K + 1) / 2, because a push that fills the
    level moves it on at once.

    Args:
        policy: K, from 1 to T.
        size_ratio: T, the number of pushes that fill the level.
    """
    return float(np.sum(size_ratio - 1 - _ends(policy, size_ratio)[:-1])) / size_ratio


def writings_of(policy: int, size_ratio: int) -> float:
    """Returns the mean number of times that an entry is written at a level.

    In a run of n pushes the first push is written n times, the last once. If T / K is whole, the mean is
    equation 5's (T / K + 1) / 2. Otherwise the runs differ in size, which costs more: 1.2 instead of 1.125
    for K = 8 and T = 10.

    Args:
        policy: K, from 1 to T.
        size_ratio: T, the number of pushes that fill the level.
    """
    pushes = np.diff(_ends(policy, size_ratio))
    return float(np.sum(pushes * (pushes + 1))) / 2 / size_ratio


def _run_s(tried: Sequence[Tried]) -> float:
    """Returns the cost of one run in seconds per operation."""
    at_ends = sum(each.runs for each in tried)
    # The mean of the runs at each mission's begin and end. The begin of the first is unknown; its end stands
    # in.
    runs = at_ends + (tried[0].runs - tried[-1].runs) / 2
    return sum(each.false_positive_read_s for each in tried) / runs if runs else 0.0


def _ends(policy: int, size_ratio: int) -> np.ndarray:
    """Returns the number of the push that fills each run, 0 first: i T / K rounded, halves down."""
    # Integer arithmetic, because rounding of floats would differ by K.
    return -((policy - 2 * size_ratio * np.arange(policy + 1)) // (2 * policy))
