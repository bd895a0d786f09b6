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
        found: keys that lookups found there, an operation.
        reads_s: what the level's reads cost an operation.
        merges_s: likewise its merges.
    """

    policy: int
    runs: int
    found: float
    reads_s: float
    merges_s: float


def cheapest_policy(tried: Sequence[Tried], size_ratio: int) -> int | None:
    """Returns the policy from 1 to T with which a level's reads and merges together cost least.

    Each run may be read in vain, which costs r, and full ones come and go: a level has (K + 1) / 2 of them on
    average. What a push brings is written (T / K + 1) / 2 times: T / K pushes make a run, of which the first
    is written as often as there are, the last once. Runs and merges follow a policy only after a while, so
    that r is what reads cost more with each run that there was, whatever the policy was then, and merges are
    those of all missions.

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
    """Returns what each run costs an operation's reads, by least squares; at least 0.

    Keys that are found are no run's fault, and the more there are the more are found: they have a coefficient
    of their own.
    """
    at_end = np.array([each.runs for each in tried], float)
    runs = (np.concatenate([at_end[:1], at_end[:-1]]) + at_end) / 2
    why = np.column_stack([runs, [each.found for each in tried]])
    reads_s = np.array([each.reads_s for each in tried])
    # About their means, so that what never changed explains nothing.
    run_s, _ = np.linalg.lstsq(why - why.mean(axis=0), reads_s - reads_s.mean(), rcond=None)[0]
    return max(0.0, float(run_s))


def _writings(policies: np.ndarray, size_ratio: int) -> np.ndarray:
    """Returns how often an entry is written at a level."""
    return (size_ratio / policies + 1) / 2
