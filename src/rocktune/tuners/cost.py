"""Comparisons of costs with a budget, both in seconds of measuring."""

import math


def affordable_trials(budget_s: float, cost_s: float) -> int:
    """Returns how many trials of `cost_s` seconds each a budget allows; both are above 0."""
    # Both were divided by the scale, so a budget for exactly n trials may be a rounding error too small.
    return math.floor(budget_s / cost_s * (1 + 1e-12))


def fits(cost_s: float, budget_s: float) -> bool:
    """Returns whether a budget covers a cost; a relative error of 1e-12 is tolerated, as above."""
    return cost_s <= budget_s * (1 + 1e-12)
