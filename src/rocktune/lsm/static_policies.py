"""Static policies of an FLSM-tree, by their names in the literature."""

STATIC_POLICIES = ("aggressive", "moderate", "lazy", "lazy-leveling")
"""The names of RusKey's static policies (section 7.1) and of Dostoevsky's lazy-leveling.

Lazy-leveling is "lazy" at all levels but the deepest in use, which has one run.
"""


def static_policy(name: str, size_ratio: int) -> tuple[int, int]:
    """Returns the numbers of runs of a static policy.

    Args:
        name: one of `STATIC_POLICIES`.
        size_ratio: T, size ratio of a level to the one above.

    Returns:
        K of all levels, from 1 (leveling) to T (tiering), and K of the deepest level, 0 if it has the same.
    """
    runs = {"aggressive": 1, "moderate": max(1, size_ratio // 2)}.get(name, size_ratio)
    return runs, 1 if name == "lazy-leveling" else 0
