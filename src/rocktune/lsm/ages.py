"""The bytes that compactions by age move in a store in steady state (docs/design/range-deletes.md)."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal


def periodic_bytes_per_s(
    style: Literal["leveled", "universal"], stored_bytes: float, age_s: float, turnover_per_s: float
) -> float:
    """Returns the bytes that periodic compactions read and write each second.

    A byte that nothing else rewrites is read and written once in each age. Other compactions rewrite it at
    the rate `turnover_per_s`, and its age then begins again.

    Leveled compaction rewrites single files, at random times: of the bytes, the share exp(-turnover * age)
    reaches the age, so that each is rewritten turnover / (exp(turnover * age) - 1) times a second. Universal
    compaction merges all runs, and the next merge of all runs for another cause comes later by as much. So
    the periodic ones add what they exceed the others by, 1 / age - turnover.

    Args:
        style: the compaction style.
        stored_bytes: bytes of the last level, or of all runs under universal compaction.
        age_s: age at which a file is compacted, in seconds.
        turnover_per_s: how often other compactions rewrite these bytes, times per second.
    """
    if style == "universal":
        rewrites_per_s = max(0.0, 1 / age_s - turnover_per_s)
    elif turnover_per_s * age_s > 700:  # beyond the range of exp
        rewrites_per_s = 0.0
    else:
        rewrites_per_s = turnover_per_s / math.expm1(turnover_per_s * age_s) if turnover_per_s else 1 / age_s
    return 2 * stored_bytes * rewrites_per_s


def ttl_bytes_per_s(level_bytes: Sequence[float], ttl_s: float, flushed_bytes_per_s: float) -> float:
    """Returns the bytes that leveled compaction reads and writes more each second because of a `ttl`.

    What is written passes each level once, with a `ttl` or without. A level is replaced by new data in the
    time that its size takes to be written. If the `ttl` is shorter, the level goes down before it is full,
    and the level below is rewritten once in each `ttl`.

    Args:
        level_bytes: bytes of each level without the effect of the `ttl`.
        ttl_s: age at which a file goes down to the next level, in seconds.
        flushed_bytes_per_s: bytes of new files per second.
    """
    filled = [each for each in level_bytes if each > 0]
    return sum(
        2 * below * max(0.0, 1 / ttl_s - flushed_bytes_per_s / above) for above, below in pairwise(filled)
    )
