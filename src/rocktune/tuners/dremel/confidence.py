"""Upper confidence bounds of arms, and the most promising arms (Dremel, section 4.6.2, algorithm 2)."""

import math
import statistics
from collections.abc import Sequence

from rocktune.tuners.dremel.arms import Arm

# One failure may be bad luck of one configuration; after two the arm counts as unsafe.
_MAX_FAILURES = 1


def standard_deviation(rewards: Sequence[float]) -> float:
    """Returns the sample standard deviation (n - 1 in the denominator); 0 for fewer than two rewards."""
    return statistics.stdev(rewards) if len(rewards) > 1 else 0.0


def upper_confidence_bound(rewards: Sequence[float], global_deviation: float) -> float:
    """Returns an arm's upper confidence bound, in the rewards' unit; larger is more promising.

    UCB_i = mean(I_i) + stddev(I_i). Minus infinity for an arm without rewards.

    Args:
        rewards: I_i, rewards of the arm's configurations; larger is better.
        global_deviation: standard deviation of all arms' first rewards. It is used for an arm with only one
            reward, which has no deviation of its own.
    """
    if not rewards:
        return -math.inf
    deviation = standard_deviation(rewards) if len(rewards) > 1 else global_deviation
    return statistics.fmean(rewards) + deviation


def promising_arms(arms: Sequence[Arm], count: int, global_deviation: float) -> list[Arm]:
    """Returns the `count` arms with the highest upper confidence bounds, in descending order.

    Ties keep the order of `arms`. Arms without untried configurations, and arms with two failures, are left
    out. An arm with one failure and no reward comes last.
    """
    safe = [arm for arm in arms if arm.untried and arm.failures <= _MAX_FAILURES]
    safe.sort(key=lambda arm: upper_confidence_bound(arm.rewards, global_deviation), reverse=True)
    return safe[:count]
