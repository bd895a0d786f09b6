"""What operations cost on a store, found from missions that it has served."""

import math
from collections.abc import Sequence

import numpy as np
from scipy.optimize import nnls
from scipy.stats import median_abs_deviation

from rocktune.errors import UserError
from rocktune.online.control.mission import Mission
from rocktune.online.modelled import StoreCosts

_PARTS = 2
"""Of each drive: compactions are told of when they end, and clients wait for them many missions before."""
_FEWEST = 10
"""Parts of all drives, twice as many as there are costs."""


def fitted_costs(drives: Sequence[Sequence[Mission]], *, absent: bool = False) -> StoreCosts:
    """Returns the costs under which `ModelledStore` takes as long as a store did, by least squares.

    No cost is below 0, and errors count as shares of what missions took. What a lookup costs and what reading
    a run costs can only be told apart where lookups read different numbers of runs: drive the store with few
    runs and with many, and with few bits of filters and with many.

    Args:
        drives: the missions of each, in their order and all of about the same operations, without ranges.
        absent: whether lookups looked for keys that were not there.

    Raises:
        UserError: there are fewer drives than it takes, or some missions read ranges.
    """
    if any(mission.scans for missions in drives for mission in missions):
        raise UserError("missions: those that read ranges say nothing about lookups; leave them out")
    halves = [len(missions) // _PARTS for missions in drives]
    if sum(half > 0 for half in halves) * _PARTS < _FEWEST:
        raise UserError(f"missions: give those of {_FEWEST // _PARTS} drives at least")
    parts = [
        missions[part * half : (part + 1) * half]
        for missions, half in zip(drives, halves, strict=True)
        for part in range(_PARTS if half else 0)
    ]
    taken_s = np.array([sum(mission.busy_s for mission in part) for part in parts])
    counts = np.array([sum(_counts(mission, absent) for mission in part) for part in parts])
    costs, _ = nnls(counts / taken_s[:, None], np.ones(len(parts)))
    lookup_s, probe_s, read_s, write_s, compaction_s_per_byte = map(float, costs)
    noise = _noise(drives, costs, absent)
    return StoreCosts(lookup_s, probe_s, read_s, write_s, compaction_s_per_byte, noise)


def _noise(drives: Sequence[Sequence[Mission]], costs: np.ndarray, absent: bool) -> float:
    """Returns by how much missions that follow each other differ from what they should take."""
    shares = [[each.busy_s / (_counts(each, absent) @ costs) for each in missions] for missions in drives]
    steps = np.concatenate([np.diff(np.log(each)) for each in shares])
    return float(median_abs_deviation(steps, scale="normal")) / math.sqrt(2)


def _counts(mission: Mission, absent: bool) -> np.ndarray:
    """Returns what each cost of `StoreCosts` but the noise is to be multiplied by, in their order."""
    held = np.array([level.filled * mission.size_ratio**place for place, level in enumerate(mission.levels)])
    above = np.concatenate([[0.0], np.cumsum(held)[:-1]]) / max(1e-12, held.sum())
    reached = np.ones(len(held)) if absent else 1.0 - above
    probes = mission.lookups * float(reached @ [level.runs for level in mission.levels])
    passed = sum(level.passed for level in mission.levels)
    moved = sum(level.compaction_bytes for level in mission.levels)
    return np.array([mission.lookups, probes, passed, mission.writes, moved], float)
