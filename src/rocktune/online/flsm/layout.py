"""The layout of an FLSM-tree: policies by name, and its JSON form for the extension."""

import json
from collections.abc import Sequence
from typing import Literal

from rocktune.errors import UserError, unknown_name
from rocktune.lsm import STATIC_POLICIES, static_policy

Transition = Literal["flexible", "lazy", "greedy"]
Filters = Literal["uniform", "monkey"]
FILTERS: tuple[Filters, ...] = ("uniform", "monkey")
Granularity = Literal["levels", "files"]
LEVELWISE_LEVEL0_RUNS = 0
"""`level0_runs` of stores with a `Levelwise` controller: each flush is written into level 1 at once.

Then a policy costs the same at every level, and what is learned of level 1 holds for deeper levels. If
flushes stayed in level 0, level 1 would gain nothing from more than a few runs, but deeper levels do.
"""
NEW_SIZE_RATIO = 10
"""T of a new store by default."""
NEW_LEVELS = 6
"""Maximum number of levels of a new store by default."""
SAMPLE_EVERY = 64
"""One in this many lookups is sampled for statistics by default."""


def flsm_layout(
    *,
    policies: str | Sequence[int],
    size_ratio: int | None,
    level1_bytes: int,
    levels: int | None,
    filters: Filters = "uniform",
    bits_per_key: float = 8.0,
    granularity: Granularity = "levels",
    level0_runs: int = 10,
    workers: int = 3,
    sample_every: int = SAMPLE_EVERY,
    reshape_bytes_per_s: int = 0,
    max_merge_bytes: int = 0,
) -> str:
    """Returns a layout as JSON with the worker protocol's names; `FlsmStore` explains the arguments.

    Raises:
        UserError: a name of policies, filters or granularity is unknown.
    """
    if filters not in FILTERS:
        raise unknown_name("filters", filters, FILTERS)
    if granularity not in ("levels", "files"):
        raise unknown_name("granularity", granularity, ("levels", "files"))
    # 0 makes the extension use an existing store's value, or the default for a new store.
    new_ratio, new_levels = size_ratio or NEW_SIZE_RATIO, levels or NEW_LEVELS
    # Only lazy-leveling has another K at the deepest level; 0 means the same K.
    deepest = static_policy(policies, new_ratio)[1] if isinstance(policies, str) else 0
    layout = {
        "size_ratio": size_ratio or 0, "level1_bytes": level1_bytes, "levels": levels or 0,
        "workers": workers, "deepest_policy": deepest, "level0_runs": level0_runs,
        "bits_per_key": bits_per_key, "filters": filters, "granularity": granularity,
        "sample_every": sample_every, "reshape_bytes_per_s": reshape_bytes_per_s,
        "max_merge_bytes": max_merge_bytes,
    }  # fmt: skip
    of_levels = policies_of(policies, new_ratio, new_levels)
    for number, policy in enumerate(of_levels, 1):
        # A level that is not named has the policy of the level above.
        if number == 1 or policy != of_levels[number - 2]:
            layout[f"policy_{number}"] = policy
    return json.dumps({name: str(value) for name, value in layout.items()})


def policies_of(policies: str | Sequence[int], size_ratio: int, levels: int) -> list[int]:
    """Returns the K of each level for a preset or a sequence; the last K of a short sequence is repeated.

    Raises:
        UserError: the preset is unknown, or the sequence is empty.
    """
    if not isinstance(policies, str):
        if not policies:
            raise UserError("policies: give at least one K")
        # A sequence longer than the levels stays whole: repeating by a negative number adds nothing.
        return [*policies, *[policies[-1]] * (levels - len(policies))]
    if policies not in STATIC_POLICIES:
        raise unknown_name("policies", policies, STATIC_POLICIES)
    return [static_policy(policies, size_ratio)[0]] * levels
