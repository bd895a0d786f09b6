"""Policies of an FLSM-tree that stay as they are, by the names that the literature has for them."""

STATIC_POLICIES = ("aggressive", "moderate", "lazy", "lazy-leveling")
"""RusKey's (section 7.1), and lazy-leveling (Dostoevsky), lazy at all levels but the deepest in use."""


def static_policy(name: str, size_ratio: int) -> tuple[int, int]:
    """Returns what a static policy is for a size ratio.

    Args:
        name: one of `STATIC_POLICIES`.
        size_ratio: T.

    Returns:
        K of all levels, from 1 (leveling) to T (tiering); and K of the deepest, 0 where it is the same.
    """
    runs = {"aggressive": 1, "moderate": max(1, size_ratio // 2)}.get(name, size_ratio)
    return runs, 1 if name == "lazy-leveling" else 0
