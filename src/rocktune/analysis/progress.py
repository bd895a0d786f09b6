"""The progress of a search over time: its best result so far, and when it came near the best known."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rocktune.ledger import TrialRecord
from rocktune.objective import Feasibility, Objective
from rocktune.study.proving.hypervolume import Bounds, hypervolume_over_time

NEAR_BEST = 0.95
"""Share of the best known result that counts as near it; Jia and Chen's "near-optimal"."""


@dataclass(frozen=True)
class Progress:
    """The best result of a search so far, as a step function of time.

    Attributes:
        at_s: seconds of measuring at which the best improved, ascending.
        best: best result from each of these times on; larger is better.
        total_s: seconds of measuring in the whole search.
    """

    at_s: NDArray[np.float64]
    best: NDArray[np.float64]
    total_s: float

    @property
    def final(self) -> float:
        """Best result of the whole search; 0 if there is none."""
        return float(self.best[-1]) if len(self.best) else 0.0

    def time_to(self, value: float) -> float:
        """Returns the seconds of measuring until the best reached `value`; infinity if it never did."""
        reached = np.flatnonzero(self.best >= value)
        return float(self.at_s[reached[0]]) if len(reached) else math.inf

    def at(self, times_s: NDArray[np.float64]) -> NDArray[np.float64]:
        """Returns the best result at given seconds of measuring; 0 before the first result."""
        places = np.searchsorted(self.at_s, times_s, side="right")
        return np.concatenate(([0.0], self.best))[places]


def progress_of(
    records: Sequence[TrialRecord], objective: Objective, bounds: Bounds | None = None
) -> Progress:
    """Returns the progress of a study's search.

    With one objective, or several in balance, results are the first field as a multiple of the baseline's at
    the nearest age, because young stores are faster than old ones. Configurations that break constraints do
    not count. With a Pareto front, results are hypervolumes.

    Args:
        records: all trials of the study.
        objective: objective of the study.
        bounds: bounds of the hypervolume, equal for all studies to compare.
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
    """Returns seconds of measuring and gain over the baseline of each trial that counts."""
    field = objective.primary
    baselines = {
        record.trial.until_s: objective.figure(record.result, field)
        for record in records
        if record.phase == "baseline" and record.measurement
    }
    spent_s, found = 0.0, []
    for record in searched:
        # Time of failed trials counts too; the search had to pay it.
        spent_s += record.measured_s
        if objective.feasibility(record.result) is not Feasibility.FEASIBLE or not baselines:
            continue
        # Halving and UCB measure at several ages, but the baseline was measured only at some of them.
        nearest_s = min(baselines, key=lambda age_s: abs(age_s - record.trial.until_s))
        gain = objective.improvement(objective.figure(record.result, field), baselines[nearest_s])
        if not math.isnan(gain):
            found.append((spent_s, gain))
    return found
