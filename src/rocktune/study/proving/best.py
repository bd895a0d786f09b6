"""Finds the best configurations of a search, during the search and at its end."""

import math
from collections.abc import Sequence

import numpy as np

from rocktune.objective import Objective
from rocktune.study.measuring.observer import Observer
from rocktune.trial import Configuration, Result, Status


def finalists(results: Sequence[Result], objective: Objective, count: int) -> list[Configuration]:
    """Returns the best configurations of a search, best first.

    Figures at different ages do not compare. So configurations are ordered by the maximum age that they
    reached, and those of equal age by their rank at that age. Configurations with a failed trial are left
    out. If a Pareto front is sought, up to `count` points of it come first, spread evenly with its ends.

    Args:
        results: results of the search, in any order.
        objective: ranks the results.
        count: maximum number of configurations.
    """
    known = furthest(results)
    ordered: list[Configuration] = []
    for age_s in sorted({result.trial.until_s for result in known.values()}, reverse=True):
        of_age = [result for result in known.values() if result.trial.until_s == age_s]
        # Only at the maximum age: a front of younger runs does not compare with it.
        if objective.seeks_front and not ordered:
            ordered += [result.trial.configuration for result in _spread(of_age, objective, count)]
        ranked = sorted(zip(objective.ranks(of_age), of_age, strict=True), key=lambda pair: pair[0])
        ordered += [result.trial.configuration for _, result in ranked]
    return list(dict.fromkeys(ordered))[:count]


def furthest(results: Sequence[Result]) -> dict[Configuration, Result]:
    """Returns each configuration's result at its maximum age, without those that have a failed trial."""
    failed = {result.trial.configuration for result in results if result.status is not Status.OK}
    found: dict[Configuration, Result] = {}
    for result in results:
        configuration = result.trial.configuration
        before = found.get(configuration)
        if configuration not in failed and (before is None or before.trial.until_s <= result.trial.until_s):
            found[configuration] = result
    return found


def _spread(results: Sequence[Result], objective: Objective, count: int) -> list[Result]:
    """Returns up to `count` results of the front, evenly spread and with its ends, ordered by rank."""
    front = [results[index] for index in objective.front([objective.row(result) for result in results])]
    steps = np.unique(np.linspace(0, len(front) - 1, min(count, len(front))).round().astype(int))
    spread = [front[step] for step in steps]
    return [
        result
        for _, result in sorted(zip(objective.ranks(spread), spread, strict=True), key=lambda pair: pair[0])
    ]


class BestSoFar:
    """Tracks the best configuration of a search, and informs the observer when it changes.

    Attributes:
        objective: ranks the results; set again once the baseline has been measured.
        baseline: all results of the baseline that were added.
        results: all other results that were added.
        configuration: the best configuration; None before the first result that is ok.
        ratio: how many times better it is than the baseline in the objective's first field; None if unknown.
    """

    def __init__(self, objective: Objective, observer: Observer) -> None:
        self.objective = objective
        self._observer = observer
        self.baseline: list[Result] = []
        self.results: list[Result] = []
        self.configuration: Configuration | None = None
        self.ratio: float | None = None

    def add_baseline(self, result: Result) -> None:
        """Adds a result of the baseline.

        The best configuration is compared with the result nearest in age.
        """
        self.baseline.append(result)

    def add(self, result: Result) -> None:
        """Adds a result of the search."""
        self.results.append(result)
        best = finalists(self.results, self.objective, 1)
        # A result of any other configuration changes neither the best one nor its ratio.
        if not best or result.trial.configuration not in (best[0], self.configuration):
            return
        changed = best[0] != self.configuration
        self.configuration = best[0]
        latest = [other for other in self.results if other.trial.configuration == best[0]][-1]
        self.ratio = self._ratio(latest)
        if changed:
            self._observer.best_changed(best[0], self.ratio)

    def _ratio(self, result: Result) -> float | None:
        """Returns the ratio of a result to the baseline; None if it cannot be computed."""
        if not self.baseline:
            return None
        nearest = min(self.baseline, key=lambda other: abs(other.trial.until_s - result.trial.until_s))
        field = self.objective.primary
        values = [self.objective.figure(each, field) for each in (result, nearest)]
        ratio = self.objective.improvement(*values)
        return None if math.isnan(ratio) else ratio
