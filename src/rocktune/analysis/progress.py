"""How far a search had got at each moment: its best so far, and when it was near the best known."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rocktune.ledger import TrialRecord
from rocktune.objective import Objective
from rocktune.study.proving.hypervolume import Bounds, hypervolume_over_time

NEAR_BEST = 0.95
"""Jia and Chen's "near-optimal": this share of the best known."""


@dataclass(frozen=True)
class Progress:
    """A search's best so far, as steps.

    Attributes:
        at_s: seconds of measuring at which it grew, ascending.
        best: how good it was from then on; larger is better.
        total_s: seconds of measuring of the whole search.
    """

    at_s: NDArray[np.float64]
    best: NDArray[np.float64]
    total_s: float

    @property
    def final(self) -> float:
        """The best in the end; 0 where nothing was found."""
        return float(self.best[-1]) if len(self.best) else 0.0

    def time_to(self, value: float) -> float:
        """Returns the seconds of measuring after which the best was at least `value`; infinity if never."""
        reached = np.flatnonzero(self.best >= value)
        return float(self.at_s[reached[0]]) if len(reached) else math.inf

    def at(self, times_s: NDArray[np.float64]) -> NDArray[np.float64]:
        """Returns the best at some moments; 0 before the first result."""
        places = np.searchsorted(self.at_s, times_s, side="right")
        return np.concatenate(([0.0], self.best))[places]


def progress_of(
    records: Sequence[TrialRecord], objective: Objective, bounds: Bounds | None = None
) -> Progress:
    """Returns how a study's search got on.

    For one objective, or several that are balanced, it is the first field as a multiple of the baseline's at
    the same age, for young stores are faster than old ones; what breaks constraints does not count. Where a
    front is sought, it is the hypervolume.

    Args:
        records: all of the study's.
        objective: what was sought.
        bounds: of the hypervolume, common to all studies that are to be compared.
    """
    searched = [record for record in records if record.phase == "search"]
    total_s = math.fsum(record.measured_s for record in searched)
    if objective.seeks_front:
        grown = hypervolume_over_time(searched, objective, bounds)
        points = list(grown.by_time) if grown else []
    else:
        points = _gains(records, searched, objective)
    best: list[tuple[float, float]] = []
    for at_s, value in points:
        if not best or value > best[-1][1]:
            best.append((at_s, value))
    at, values = np.array(best).reshape(-1, 2).T
    return Progress(at, values, total_s)


def _gains(
    records: Sequence[TrialRecord], searched: Sequence[TrialRecord], objective: Objective
) -> list[tuple[float, float]]:
    field = objective.primary
    baselines = {
        record.trial.until_s: record.measurement.figures[field]
        for record in records
        if record.phase == "baseline" and record.measurement
    }
    spent_s, found = 0.0, []
    for record in searched:
        spent_s += record.measured_s
        if math.isnan(objective.score(record.result)) or not baselines:
            continue
        nearest_s = min(baselines, key=lambda age_s: abs(age_s - record.trial.until_s))
        gain = objective.improvement(record.result.figure(field), baselines[nearest_s])
        if not math.isnan(gain):
            found.append((spent_s, gain))
    return found
