"""What a level's policy costs: a curve through all that was measured (RusKey, equation 5)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Tried:
    """What a mission was for a level.

    Attributes:
        policy: K.
        runs: sorted runs at its end.
        false_positive_read_s: what reading the level's runs in vain cost an operation.
        merges_s: likewise its merges.
    """

    policy: int
    runs: int
    false_positive_read_s: float
    merges_s: float


def cheapest_policy(tried: Sequence[Tried], size_ratio: int) -> int | None:
    """Returns the policy from 1 to T with which a level's reads and merges together cost least.

    Each run may be read in vain, and each writing of an entry is merged. How many there are of both follows
    from the policy (`runs_of`, `writings_of`). Runs and merges follow a policy only after a while. So what a
    run costs is what all missions say, whatever the policy was then, and what a writing costs likewise.

    Args:
        tried: missions, in their order.
        size_ratio: T.

    Returns:
        None while only one policy has been tried, or none.
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
    """Returns how many runs a level has on average from one push of all of it to the next.

    Where T / K is whole it is K / T less than equation 5's (K + 1) / 2: when a push has filled the level, all
    of it goes on at once.

    Args:
        policy: K, 1 to T.
        size_ratio: T, pushes that fill the level.
    """
    return float(np.sum(size_ratio - 1 - _ends(policy, size_ratio)[:-1])) / size_ratio


def writings_of(policy: int, size_ratio: int) -> float:
    """Returns how often an entry is written at a level on average.

    A run of n pushes writes the first one n times, the last one once. Where T / K is whole that is equation
    5's (T / K + 1) / 2; else runs are of several sizes, which costs more: 1.2 instead of 1.125 with K = 8.

    Args:
        policy: K, 1 to T.
        size_ratio: T, pushes that fill the level.
    """
    pushes = np.diff(_ends(policy, size_ratio))
    return float(np.sum(pushes * (pushes + 1))) / 2 / size_ratio


def _run_s(tried: Sequence[Tried]) -> float:
    """Returns what each run costs an operation."""
    at_ends = sum(each.runs for each in tried)
    # Of each mission's beginning and its end the mean; the first begins as it ends.
    runs = at_ends + (tried[0].runs - tried[-1].runs) / 2
    return sum(each.false_positive_read_s for each in tried) / runs if runs else 0.0


def _ends(policy: int, size_ratio: int) -> np.ndarray:
    """Returns with which push each run becomes full, 0 before the first: the nearest to its share."""
    # i T / K, halves rounded down.
    return -((policy - 2 * size_ratio * np.arange(policy + 1)) // (2 * policy))
