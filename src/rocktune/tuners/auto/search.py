"""The tuner `auto`: hand-set configurations, arms of fused features, then the suggestions of a model."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Annotated

import numpy as np
from pydantic import Field

from rocktune.objective import Objective
from rocktune.space import Configuration
from rocktune.spec_file import Spec
from rocktune.trial import Batch, Result, RunKey, Trial
from rocktune.tuners.base import Problem, Search, Tuner
from rocktune.tuners.cost import affordable_trials
from rocktune.tuners.dremel.arms import make_arms
from rocktune.tuners.dremel.settings import DremelSettings
from rocktune.tuners.hand import hand_set
from rocktune.tuners.unseen import configuration_count

Count = Annotated[int, Field(strict=True, ge=1, le=1000)]


class AutoSettings(Spec):
    """The settings of the tuner `auto`.

    Attributes:
        drawn: number of configurations from different arms of Dremel's after the hand-set ones.
        at_once: number of configurations in a batch, which may be measured at once. A search with more learns
            from its results later; several workers need as many as they are.
        patience: number of trials without a gain after which the search ends.
        min_gain: the smallest gain that counts, as a share of the best figure.
    """

    drawn: Annotated[int, Field(strict=True, ge=0, le=1000)] = 8
    at_once: Count = 1
    patience: Count = 40
    min_gain: Annotated[float, Field(ge=0, le=1)] = 0.01


class Auto(Tuner):
    """A tuner that begins with what people set by hand and improves on it with a Gaussian process.

    The process learns from all results, and its suggestions lie near the best ones (docs/design/auto.md).
    """

    name = "auto"
    summary = "what experts set by hand, then suggestions of a model of all results"
    settings_type = AutoSettings
    settings: AutoSettings

    def search(self, problem: Problem, rng: np.random.Generator) -> Search:
        """See `Tuner.search`. Suggestions are yielded as functions, so that a replay fits no model."""
        age_s = problem.age_s(problem.trial_age_s)
        affordable = affordable_trials(problem.budget_s, age_s)
        # A small space is exhausted before the budget.
        results = list(problem.known)
        left = int(min(affordable, configuration_count(problem.space) - len(results)))
        known = {result.trial.configuration for result in results}
        first = first_configurations(problem, self.settings.drawn, rng)
        begun = [each for each in first if each not in known][:left]
        release: tuple[RunKey, ...] = ()
        while left > 0 and not self._has_settled(results, problem.objective):
            count = min(self.settings.at_once, left)
            item: Batch | Callable[[], Batch]
            if begun:
                item = _batch(begun[:count], age_s, release)
                begun = begun[count:]
            else:
                # A generator of its own, so that a suggestion which a replay skips changes nothing later.
                item = partial(_suggested, problem, tuple(results), count, age_s, release, rng.spawn(1)[0])
            new = yield item
            results.extend(new)
            release = tuple(result.trial.run for result in new)
            left -= len(new)

    def _has_settled(self, results: Sequence[Result], objective: Objective) -> bool:
        """Returns whether the last `patience` trials gained less than counts.

        A balance of objectives has no gain of a size, so that any better rank counts. A front, which grows
        wherever it is sparse, never settles.
        """
        earlier = len(results) - self.settings.patience
        if earlier < 1 or objective.seeks_front:
            return False
        best, before = (_best(part, objective) for part in (results, results[:earlier]))
        if best is before:
            return True
        if len(objective.fields) > 1 or objective.feasibility(best) is not objective.feasibility(before):
            return False
        gain = objective.improvement(best.figure(objective.primary), before.figure(objective.primary))
        return gain < 1 + self.settings.min_gain

    def min_budget_s(self, problem: Problem) -> float:
        """Returns the cost of one trial in seconds of measuring."""
        return problem.age_s(problem.trial_age_s)


def first_configurations(problem: Problem, drawn: int, rng: np.random.Generator) -> list[Configuration]:
    """Returns the hand-set configurations that a space can hold, and then others drawn from Dremel's arms.

    Args:
        problem: the problem to solve.
        drawn: number of the others, at most.
        rng: draws them.
    """
    by_hand = [each.configuration for each in hand_set(problem.space) if each.configuration is not None]
    return list(dict.fromkeys([*by_hand, *_from_arms(problem, drawn, rng)]))


def _from_arms(problem: Problem, count: int, rng: np.random.Generator) -> list[Configuration]:
    """Returns the most promising configurations of different arms, as Dremel's search begins with.

    The features of arms fuse the options of one column family; for several the draws are uniform.
    """
    if problem.space.families:
        return problem.space.sample(count, rng)
    arms = make_arms(problem, DremelSettings(), rng)
    order, chosen = rng.permutation(len(arms)), list[Configuration]()
    # Of more than there are arms, the second ones follow the first ones, and so on.
    for place in range(count):
        chosen += [arms[index].untried[place] for index in order if place < len(arms[index].untried)]
    return chosen[:count]


def _suggested(
    problem: Problem,
    results: Sequence[Result],
    count: int,
    age_s: float,
    release: tuple[RunKey, ...],
    rng: np.random.Generator,
) -> Batch:
    """Returns the batch that a model of all results suggests."""
    # scikit-learn takes a second to import, and a replay has no need of it.
    from rocktune.tuners.auto.surrogate import suggest

    return _batch(suggest(problem, results, count, rng), age_s, release)


def _batch(configurations: Sequence[Configuration], age_s: float, release: tuple[RunKey, ...]) -> Batch:
    """Returns a batch with one trial of each configuration."""
    return Batch(tuple(Trial(each, age_s) for each in configurations), release)


def _best(results: Sequence[Result], objective: Objective) -> Result:
    """Returns the best result."""
    return results[objective.ranks(results).index(0)]
