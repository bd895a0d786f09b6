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
        vain_s: what reading the level's runs in vain cost an operation.
        merges_s: likewise its merges.
    """

    policy: int
    runs: int
    vain_s: float
    merges_s: float


def cheapest_policy(tried: Sequence[Tried], size_ratio: int) -> int | None:
    """Returns the policy from 1 to T with which a level's reads and merges together cost least.

    Each run may be read in vain, and full ones come and go: a level has (K + 1) / 2 of them on average. What
    a push brings is written (T / K + 1) / 2 times: T / K pushes make a run, of which the first is written as
    often as there are, the last once. Runs and merges follow a policy only after a while. So what a run
    costs is what all missions say, whatever the policy was then, and what a writing costs likewise.

    Args:
        tried: missions, in their order.
        size_ratio: T.

    Returns:
        None while only one policy has been tried, or none.
    """
    policies = np.array([each.policy for each in tried], float)
    if len(set(policies)) < 2:
        return None
    write_s = sum(each.merges_s for each in tried) / np.sum(_writings(policies, size_ratio))
    candidates = np.arange(1, size_ratio + 1)
    costs_s = _run_s(tried) * (candidates + 1) / 2 + write_s * _writings(candidates, size_ratio)
    return int(candidates[np.argmin(costs_s)])


def _run_s(tried: Sequence[Tried]) -> float:
    """Returns what each run costs an operation."""
    at_ends = sum(each.runs for each in tried)
    # Of each mission's beginning and its end the mean; the first begins as it ends.
    runs = at_ends + (tried[0].runs - tried[-1].runs) / 2
    return sum(each.vain_s for each in tried) / runs if runs else 0.0


def _writings(policies: np.ndarray, size_ratio: int) -> np.ndarray:
    """Returns how often an entry is written at a level."""
    return (size_ratio / policies + 1) / 2
