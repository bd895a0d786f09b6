"""Formulas that infer the policies of deep levels from those of the first levels (RusKey, section 5.2)."""

import math
from collections.abc import Sequence


def inferred_policy(policy_above: int, policy: int, size_ratio: int) -> int:
    """Returns the best policy of a level from the best policies of the two levels above it (Lemma 5.1).

    1 / K_(i+1) = sqrt(1 / K_i^2 + T (1 / K_i^2 - 1 / K_(i-1)^2)), rounded to a whole number from 1 to T. It
    holds under Monkey filters. The paper's example leaves the reciprocal out.

    Args:
        policy_above: K_(i-1), the policy two levels above, at least 1.
        policy: K_i, the policy one level above, at least 1. One greater than K_(i-1) counts as K_(i-1).
        size_ratio: T, size ratio of a level to the one above.
    """
    # K_i > K_(i-1) is never the best and could make the radicand negative.
    above, here = (1 / min(known, policy_above) ** 2 for known in (policy_above, policy))
    inferred = 1 / math.sqrt(here + size_ratio * (here - above))
    # The lemma's values fall below 1 in deep levels, but a level has at least one run.
    return min(size_ratio, max(1, round(inferred)))


def propagated_policies(learned: Sequence[int], levels: int, size_ratio: int) -> list[int]:
    """Returns the policies of all levels from those of the first one or two.

    Args:
        learned: the policy of level 1 under uniform filters, which all levels get because their costs are
            equal (case 1); or the policies of levels 1 and 2 under Monkey filters (case 2).
        levels: number of levels.
        size_ratio: T, size ratio of a level to the one above.
    """
    policies = list(learned[:levels])
    while len(policies) < levels:
        one_learned = len(learned) == 1
        policies.append(
            policies[-1] if one_learned else inferred_policy(policies[-2], policies[-1], size_ratio)
        )
    return policies
