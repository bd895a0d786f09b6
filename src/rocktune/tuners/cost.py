"""How much a budget buys, in seconds of measuring."""

import math


def whole_times(budget_s: float, cost_s: float) -> int:
    """Returns how often `cost_s` fits into `budget_s`, above 0 both.

    Both come from divisions by the scale, so a last bit that is missing is forgiven.
    """
    return math.floor(budget_s / cost_s * (1 + 1e-12))


def fits(cost_s: float, budget_s: float) -> bool:
    """Tells whether a cost fits into a budget, with the same forgiveness."""
    return cost_s <= budget_s * (1 + 1e-12)
