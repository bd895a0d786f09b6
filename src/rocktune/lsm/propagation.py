"""What the policies of deep levels follow from once those of the first are known (RusKey, section 5.2)."""

import math
from collections.abc import Sequence


def inferred_policy(policy_above: int, policy: int, size_ratio: int) -> int:
    """Returns the best policy of the level below two whose best are known, under Monkey filters (Lemma 5.1).

    1 / K_(i+1) = sqrt(1 / K_i^2 + T (1 / K_i^2 - 1 / K_(i-1)^2)), rounded to a policy that there is. The
    paper's example leaves the reciprocal out.

    Args:
        policy_above: K_(i-1), from 1.
        policy: K_i, from 1; one above K_(i-1), which never is the best, counts as that.
        size_ratio: T.
    """
    above, here = (1 / min(known, policy_above) ** 2 for known in (policy_above, policy))
    inferred = 1 / math.sqrt(here + size_ratio * (here - above))
    return min(size_ratio, max(1, round(inferred)))


def propagated_policies(learned: Sequence[int], levels: int, size_ratio: int) -> list[int]:
    """Returns the policies of all levels that follow from the learned ones.

    Args:
        learned: of level 1 under uniform filters, where each level pays alike, so that all get it (case 1);
            of levels 1 and 2 under Monkey filters (case 2).
        levels: how many there are.
        size_ratio: T.
    """
    policies = list(learned[:levels])
    while len(policies) < levels:
        one_learned = len(learned) == 1
        policies.append(
            policies[-1] if one_learned else inferred_policy(policies[-2], policies[-1], size_ratio)
        )
    return policies
