"""Fits the costs of operations on a store to missions that the store has served."""

import math
from collections.abc import Sequence

import numpy as np
from scipy.optimize import nnls
from scipy.stats import median_abs_deviation

from rocktune.errors import UserError
from rocktune.online.control.mission import Mission
from rocktune.online.modelled import StoreCosts

# Compactions are counted when they end, many missions after clients begin to wait for them. So single
# missions cannot be fitted, but halves of a drive can.
_PARTS = 2
"""Parts of each drive that are fitted."""
_MIN_PARTS = 10
"""Least number of parts in all drives: twice the number of costs."""


def fitted_costs(drives: Sequence[Sequence[Mission]], *, absent: bool = False) -> StoreCosts:
    """Returns the costs with which `ModelledStore` takes as long as the store did, by least squares.

    No cost is below 0. Errors are relative to the time of the missions. The cost of a lookup and the cost of
    reading a run can only be separated if lookups read different numbers of runs. So drive the store with few
    and with many runs, and with few and with many bits of filters.

    Args:
        drives: missions of each drive in their order, with about equal numbers of operations and without
            scans.
        absent: whether lookups asked for keys that the store does not have.

    Raises:
        UserError: there are too few drives, or some missions scan ranges.
    """
    if any(mission.scans for missions in drives for mission in missions):
        raise UserError("missions: some scan ranges, which the model has no cost for; leave them out")
    halves = [len(missions) // _PARTS for missions in drives]
    if sum(half > 0 for half in halves) * _PARTS < _MIN_PARTS:
        raise UserError(f"missions: give those of at least {_MIN_PARTS // _PARTS} drives")
    parts = [
        missions[part * half : (part + 1) * half]
        for missions, half in zip(drives, halves, strict=True)
        for part in range(_PARTS if half else 0)
    ]
    taken_s = np.array([sum(mission.busy_s for mission in part) for part in parts])
    counts = np.array([sum(_counts(mission, absent) for mission in part) for part in parts])
    # Dividing by the time weighs all parts alike; without it slow drives would decide the fit.
    costs, _ = nnls(counts / taken_s[:, None], np.ones(len(parts)))
    lookup_s, probe_s, read_s, write_s, compaction_s_per_byte = map(float, costs)
    noise = _noise(drives, costs, absent)
    return StoreCosts(lookup_s, probe_s, read_s, write_s, compaction_s_per_byte, noise)


def _noise(drives: Sequence[Sequence[Mission]], costs: np.ndarray, absent: bool) -> float:
    """Returns the standard deviation of the logarithm of measured over fitted time, of one mission."""
    # Relative to the fit, so that missions with different operations can be compared.
    shares = [[each.busy_s / (_counts(each, absent) @ costs) for each in missions] for missions in drives]
    # Differences between neighbours leave out slow drifts, such as a level that fills up; two independent
    # errors make one difference, hence the square root of 2.
    steps = np.concatenate([np.diff(np.log(each)) for each in shares])
    return float(median_abs_deviation(steps, scale="normal")) / math.sqrt(2)


def _counts(mission: Mission, absent: bool) -> np.ndarray:
    """Returns the factors of the costs in a mission, in the order of `StoreCosts` without the noise."""
    held = np.array([level.filled * mission.size_ratio**place for place, level in enumerate(mission.levels)])
    above = np.concatenate([[0.0], np.cumsum(held)[:-1]]) / max(1e-12, held.sum())
    # Lookups of present keys stop at the level that has them: uniform keys are spread like the bytes.
    reached = np.ones(len(held)) if absent else 1.0 - above
    probes = mission.lookups * float(reached @ [level.runs for level in mission.levels])
    passed = sum(level.passed for level in mission.levels)
    moved = sum(level.compaction_bytes for level in mission.levels)
    return np.array([mission.lookups, probes, passed, mission.writes, moved], float)
