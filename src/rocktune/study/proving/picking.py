"""Picks the winner among a search's best configurations by fresh runs (docs/design/verification.md).

The best of many single runs owe their figures to luck, and those under a bound may have kept it by luck. So
a finalist that keeps a bound beyond the noise of its mean comes before one that barely does. The next best of
the search get fresh runs, too, where no finalist does, and where they promised more than the winner gave.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from rocktune.objective import Feasibility, Objective, Row
from rocktune.study.proving.best import finalists, furthest
from rocktune.study.proving.front import front_noise
from rocktune.study.proving.verification import Runs, Stage, interleaved
from rocktune.trial import Configuration, Result, Status

Reals = NDArray[np.float64]

ERRORS = 1.0
"""Number of standard errors of a finalist's mean that a difference has to exceed."""
MIN_PROMISE = 1.01
"""Minimum ratio of a single figure to the winner's mean that is worth fresh runs."""


@dataclass(frozen=True)
class Picked:
    """The result of the phase `pick`.

    Attributes:
        winner: the best finalist; None if each had a failed run. If it breaks constraints, all finalists do.
        rows: figures of each finalist without failed runs, the means over its runs.
        noise: `front_noise` of the finalists' runs.
        margins: by field of the objective and its constraints the ratio that `ERRORS` standard errors of a
            finalist's mean are; without an entry the noise is not known.
    """

    winner: Configuration | None
    rows: Mapping[Configuration, Row]
    noise: Mapping[str, float]
    margins: Mapping[str, float] = field(default_factory=dict)

    def keeps_constraints(self, objective: Objective) -> bool:
        """Returns whether the winner keeps the constraints; if it does not, no finalist does."""
        return self.winner is not None and objective.violation(self.rows[self.winner]) == 0

    def is_safe(self, objective: Objective) -> bool:
        """Returns whether the winner keeps the constraints by their margins."""
        strict = objective.tightened(self.margins)
        return self.winner is not None and strict.violation(self.rows[self.winner]) == 0

    def candidates(self, objective: Objective) -> list[Configuration]:
        """Returns the finalists that keep the constraints, the winner first, in the order of their ranks.

        Those that keep them by the margins come first.
        """
        ranked = _ranked(self.rows, objective.tightened(self.margins))
        return [each for each in ranked if objective.violation(self.rows[each]) == 0]


def pick(
    results: Sequence[Result],
    objective: Objective,
    count: int,
    rounds: int,
    replicates: Sequence[int],
    age_s: float,
) -> Stage[Picked]:
    """Measures fresh runs of the best configurations of a search, and returns the best by their means.

    The geometric mean of the objective decides; constraints and several fields count as in the search. A
    finalist with a failed run cannot win. Another round with the next best configurations follows

    - if no finalist keeps the constraints by their margins. Only configurations that kept them in the search
      are next. Those whose figures keep them after the correction for luck that the finalists showed come
      first.
    - or if a configuration, which keeps the constraints after that correction, promised more in the search
      than the winner gave in fresh runs. Single runs may differ by the store that each of them loaded, and
      then the finalists were the lucky ones.

    Args:
        results: results of the search, in any order.
        objective: ranks the configurations; no constraint is relative to the baseline any more.
        count: maximum number of finalists of a round.
        rounds: maximum number of rounds.
        replicates: replicates of the fresh runs.
        age_s: age at which each run ends, seconds.
    """
    searched = furthest(results)
    runs: Runs = {}
    picked, chosen = Picked(None, {}, {}), finalists(results, objective, count)
    for _ in range(rounds):
        if not chosen:
            break
        runs |= yield from interleaved(chosen, replicates, age_s)
        picked = _picked(runs, objective)
        rest = [result for each, result in searched.items() if each not in runs]
        before = {each: objective.row(searched[each]) for each in picked.rows}
        lucky = objective.tightened(_luck(before, picked.rows, objective))
        if picked.is_safe(objective) or not objective.constraints:
            rest = _promising(_feasible(rest, lucky), picked, objective)
        else:
            rest = _feasible(rest, objective)
        chosen = finalists(rest, lucky, count)
    return picked


def _feasible(results: Sequence[Result], objective: Objective) -> list[Result]:
    """Returns the results that keep the constraints."""
    return [each for each in results if objective.feasibility(each) is Feasibility.FEASIBLE]


def _promising(rest: Sequence[Result], picked: Picked, objective: Objective) -> list[Result]:
    """Returns the results that are better than the winner's fresh runs by more than the error of their mean.

    With several fields no result counts, because these have no difference of a size; nor without a winner.
    """
    if len(objective.fields) > 1 or picked.winner is None:
        return []
    name = objective.primary
    figure = picked.rows[picked.winner][name]
    margin = max(MIN_PROMISE, picked.margins.get(name, 1.0))
    return [each for each in rest if objective.improvement(objective.figure(each, name), figure) > margin]


def _picked(runs: Runs, objective: Objective) -> Picked:
    """Returns what fresh runs of finalists, which are in the order of their ranks, say."""
    sound = {
        finalist: results
        for finalist, results in runs.items()
        if all(result.status is Status.OK for result in results)
    }
    figures = {
        finalist: {
            name: np.array([objective.figure(result, name) for result in results])
            for name in objective.all_fields
        }
        for finalist, results in sound.items()
    }
    rows = {finalist: {name: _mean(each) for name, each in of.items()} for finalist, of in figures.items()}
    margins = {}
    for name in objective.all_fields:
        error = _standard_error([of[name] for of in figures.values()])
        if math.isfinite(error):
            margins[name] = math.exp(ERRORS * error)
    picked = Picked(None, rows, front_noise(list(sound.values()), objective), margins)
    best = picked.candidates(objective) or _ranked(rows, objective)
    return replace(picked, winner=best[0] if best else None)


def _ranked(rows: Mapping[Configuration, Row], objective: Objective) -> list[Configuration]:
    """Returns the configurations, best first."""
    ranks = objective.ranks_of(list(rows.values()))
    return [each for _, each in sorted(zip(ranks, rows, strict=True), key=lambda pair: pair[0])]


def _mean(figures: Reals) -> float:
    """Returns the geometric mean, or the arithmetic one of figures of which one is 0."""
    return float(np.exp(np.log(figures).mean()) if (figures > 0).all() else figures.mean())


def _standard_error(figures: Sequence[Reals]) -> float:
    """Returns the standard error of the logarithm of a finalist's mean.

    The variance is that of all finalists' runs together.

    Args:
        figures: the figures of the runs of each finalist.

    Returns:
        The error; NaN without two runs of a finalist, or if a figure is not above 0.
    """
    measured = np.array(figures)
    if measured.ndim < 2 or measured.shape[1] < 2 or not (measured > 0).all():
        return math.nan
    logarithms = np.log(measured)
    return math.sqrt(float(logarithms.var(axis=1, ddof=1).mean()) / measured.shape[1])


def _luck(
    searched: Mapping[Configuration, Row], fresh: Mapping[Configuration, Row], objective: Objective
) -> dict[str, float]:
    """Returns by field of a constraint how much worse fresh runs are than those of the search, at least 1.

    It is the geometric mean of the finalists' ratios. A field has none if a figure is not above 0.

    Args:
        searched: the finalists' figures in the search.
        fresh: their figures in fresh runs.
        objective: the objective with its constraints.
    """
    found = {}
    for constraint in objective.constraints:
        name, sign = constraint.field, 1 if constraint.at_most else -1
        pairs = [(row[name], searched[each][name]) for each, row in fresh.items()]
        if pairs and all(now > 0 and before > 0 for now, before in pairs):
            worse = [sign * math.log(now / before) for now, before in pairs]
            found[name] = math.exp(max(0.0, math.fsum(worse) / len(worse)))
    return found
