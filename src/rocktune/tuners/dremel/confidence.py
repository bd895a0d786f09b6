"""Which arms promise most: mean reward plus standard deviation (Dremel, section 4.6.2 and algorithm 2)."""

import math
import statistics
from collections.abc import Sequence

from rocktune.tuners.dremel.arms import Arm

_FAILURES_ALLOWED = 1


def standard_deviation(rewards: Sequence[float]) -> float:
    """Returns the sample's standard deviation (n - 1 in the denominator), 0 for less than two rewards."""
    return statistics.stdev(rewards) if len(rewards) > 1 else 0.0


def upper_confidence_bound(rewards: Sequence[float], global_deviation: float) -> float:
    """Returns UCB_i = mean(I_i) + stddev(I_i); larger is more promising.

    Args:
        rewards: I_i, what the arm's configurations have given; larger is better.
        global_deviation: the deviation over all arms' first rewards, which stands in while the arm has but
            one of its own.

    Returns:
        In the rewards' unit; minus infinity for an arm without rewards.
    """
    if not rewards:
        return -math.inf
    deviation = standard_deviation(rewards) if len(rewards) > 1 else global_deviation
    return statistics.fmean(rewards) + deviation


def promising_arms(arms: Sequence[Arm], count: int, global_deviation: float) -> list[Arm]:
    """Returns the `count` arms of the highest bound, the best first; ties keep the arms' order.

    An arm is left out when nothing of it is untried, and when it has failed twice: whatever it promises is
    not safely had. One that has failed once and given nothing comes last.
    """
    safe = [arm for arm in arms if arm.untried and arm.failures <= _FAILURES_ALLOWED]
    safe.sort(key=lambda arm: upper_confidence_bound(arm.rewards, global_deviation), reverse=True)
    return safe[:count]
