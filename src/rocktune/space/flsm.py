"""The space of FLSM stores: policies of the levels, their growth, filters and memory."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rocktune.lsm import static_policy
from rocktune.lsm.arrays import Numbers
from rocktune.space.catalogue import CATALOGUE
from rocktune.space.configuration import OptionMaps
from rocktune.space.memory import MemoryBudget
from rocktune.space.rules import MemoryBudgetKept, Rule
from rocktune.space.space import Space
from rocktune.units import MIB

FLSM_MEMORY_BYTES = 1000 * MIB
"""Dremel's memory budget, so that results of this space compare with results of Dremel's."""

FIXED_OPTIONS: OptionMaps = {
    # rocktune.space.dremel gives the reason for each of these.
    "db": {"allow_mmap_reads": "false", "max_open_files": "-1"},
    "cf": {"compression": "kSnappyCompression"},
    "table": {"cache_index_and_filter_blocks": "false"},
    # Enough for the smallest size ratio: the deepest level grows without limit, so too few would distort it.
    "flsm": {"levels": "12"},
}

_MAX_RATIO = 16
_DEFAULT_RATIO = 10
_LEVELS = 3
"""Number of levels with a policy knob of their own; deeper levels use the last one's policy."""
_POLICIES = tuple(f"flsm_policy_{level}" for level in range(1, _LEVELS + 1))


@dataclass(frozen=True)
class RunsFitLevels(Rule):
    """The policy of each level is at most the size ratio; the runs beyond it could never be filled."""

    number = 1
    statement = "flsm_policy of each level at most flsm_size_ratio"

    def holds(self, values: Mapping[str, Numbers]) -> NDArray[np.bool_]:
        """Returns whether each configuration keeps the rule; see `Rule.holds`."""
        ratio = np.asarray(values["flsm_size_ratio"])
        policies = [values["flsm_deepest_policy"], *(values[name] for name in _POLICIES)]
        return np.asarray(np.all([np.asarray(policy) <= ratio for policy in policies], axis=0))

    def numbers(self, values: Mapping[str, float]) -> str:
        """Returns the numbers that the rule compares, as text; see `Rule.numbers`."""
        return f"{', '.join(str(values[name]) for name in _POLICIES)} and {values['flsm_size_ratio']}"


def flsm_space(memory_bytes: int, expected_entries: float, policies: str = "aggressive") -> Space:
    """Returns the space of FLSM stores with a static policy as its default.

    Args:
        memory_bytes: the memory budget in bytes at full size, for memtables, filters and block cache.
        expected_entries: distinct keys in the store by the end of a full-length run, at full size.
        policies: name of the default policy, one of `rocktune.lsm.STATIC_POLICIES`.
    """
    runs, deepest_runs = static_policy(policies, _DEFAULT_RATIO)
    budget = MemoryBudget(memory_bytes, expected_entries, "flsm_bits_per_key")
    return Space(
        name="flsm" if policies == "aggressive" else f"flsm-{policies}",
        summary=f"FLSM stores: runs of each level, growth, filters (10 knobs; default: {policies})",
        knobs=(
            CATALOGUE["flsm_size_ratio"].narrowed(low=2, high=_MAX_RATIO, default=_DEFAULT_RATIO),
            *(CATALOGUE[name].narrowed(high=_MAX_RATIO, default=runs) for name in _POLICIES),
            # 0 keeps the deepest level's own policy; 1 with more runs above it is lazy leveling.
            CATALOGUE["flsm_deepest_policy"].narrowed(choices=(0, 1), default=deepest_runs),
            CATALOGUE["flsm_level1_bytes"].narrowed(low=64 * MIB, high=4 << 30, default=640 * MIB, log=True),
            CATALOGUE["flsm_granularity"],
            CATALOGUE["flsm_filters"],
            CATALOGUE["flsm_bits_per_key"].narrowed(choices=(2, 4, 6, 8, 10, 12, 16), default=8),
            CATALOGUE["write_buffer_size"].narrowed(low=16 * MIB, high=256 * MIB, log=True),
        ),
        memory_bytes=memory_bytes,
        fixed_options=FIXED_OPTIONS,
        expected_entries=expected_entries,
        rules=(RunsFitLevels(), MemoryBudgetKept(budget)),
    )
