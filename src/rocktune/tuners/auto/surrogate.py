"""Suggestions of a Gaussian process, which learns from all results where the best may be improved.

Results are noisy: a run may have loaded a lucky store. So what counts as good, and as the best so far, are
the process' means at the measured configurations, not the figures themselves.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm
from sklearn.preprocessing import StandardScaler

from rocktune.gaussian_process import fitted_process, without_noise
from rocktune.objective import Objective
from rocktune.space import Configuration
from rocktune.trial import Result
from rocktune.tuners.auto.features import Features
from rocktune.tuners.auto.neighbours import neighbours
from rocktune.tuners.base import Problem
from rocktune.tuners.unseen import unseen

Reals = NDArray[np.float64]

_MAX_LEARNED = 300
"""Maximum number of results that are learned from, the best ones: the time grows by the cube of it."""
_ROUNDS = 3
"""Rounds of local search for candidates."""
_PROMISING = 100
"""Number of candidates whose moved bytes are computed, because that takes some milliseconds each."""


def suggest(
    problem: Problem, results: Sequence[Result], count: int, rng: np.random.Generator
) -> list[Configuration]:
    """Returns the unmeasured configurations with the largest expected improvement, the largest first.

    Two of them differ in at least two knobs where possible, because a batch learns nothing from itself.

    Args:
        problem: the problem to solve.
        results: all results so far, at least one.
        count: number of configurations; the space must have as many that are not measured.
        rng: draws the candidates.
    """
    features, known = Features(problem), {result.trial.configuration for result in results}
    gains = gains_of(problem.objective, results)
    order = np.argsort(-gains, kind="stable")[:_MAX_LEARNED]
    learned, gains = [results[index] for index in order], gains[order]
    measured = [result.trial.configuration for result in learned]
    model = Model(features.of_all, measured, gains)
    ranked, best = ranked_by_mean(problem.objective, learned, model)
    quick = Model(features.of_quick, measured, gains)
    found: dict[Configuration, float] = {}
    parents = ranked
    for _ in range(_ROUNDS):
        near = neighbours(problem.space, features.cube, parents, rng)
        new = [each for each in near if each not in known and each not in found]
        found.update(zip(new, quick.improvement(new, best), strict=True))
        parents = _largest_first(found)
    promising = _largest_first(found)[:_PROMISING]
    largest = _largest_first(dict(zip(promising, model.improvement(promising, best), strict=True)))
    chosen = [largest[index] for index in _apart(features.of_knobs(largest), count)]
    while len(chosen) < count:
        chosen.append(unseen(problem.space, {*known, *chosen}, rng))
    return chosen


def _largest_first(sizes: Mapping[Configuration, float]) -> list[Configuration]:
    return sorted(sizes, key=lambda each: -sizes[each])


class Model:
    """A process that predicts the gains of configurations."""

    def __init__(
        self,
        features_of: Callable[[Sequence[Configuration]], Reals],
        measured: Sequence[Configuration],
        gains: Reals,
    ) -> None:
        """Fits the process.

        Args:
            features_of: returns the features of configurations.
            measured: the configurations of results, shape (results,).
            gains: their gains, shape (results,).
        """
        self._features_of, self._scaler = features_of, StandardScaler()
        self._process = without_noise(
            fitted_process(self._scaler.fit_transform(features_of(measured)), gains)
        )

    def mean(self, configurations: Sequence[Configuration]) -> Reals:
        """Returns the expected gain of each configuration, at least one, shape (configurations,)."""
        return np.asarray(self._process.predict(self._points(configurations)))

    def improvement(self, configurations: Sequence[Configuration], best: float) -> Reals:
        """Returns the expected improvement of each configuration over a gain, shape (configurations,)."""
        if not configurations:
            return np.empty(0)
        mean, deviation = self._process.predict(self._points(configurations), return_std=True)
        return expected_improvement(mean, deviation, best)

    def _points(self, configurations: Sequence[Configuration]) -> Reals:
        return np.asarray(self._scaler.transform(self._features_of(configurations)))


def ranked_by_mean(
    objective: Objective, results: Sequence[Result], model: Model
) -> tuple[list[Configuration], float]:
    """Returns the configurations of results, those with the largest expected gain first, and that gain.

    Results that failed or break a constraint come last, and give no largest gain unless all do.
    """
    means = model.mean([result.trial.configuration for result in results])
    sound = ~np.isnan(np.array(objective.scores(results)))
    order = np.lexsort((-means, ~sound))
    best = float(means[sound].max() if sound.any() else means.max())
    return [results[index].trial.configuration for index in order], best


def gains_of(objective: Objective, results: Sequence[Result]) -> Reals:
    """Returns a number for each result, larger for a better one, shape (results,).

    With one field it is the figure's logarithm, so that equal differences are equal gains; with several it is
    the objective's score. Results that failed or break a constraint count as the worst of the others.
    """
    scores = np.array(objective.scores(results))
    if len(objective.fields) == 1:
        # A figure of 0 is better or worse than all others, but its logarithm would leave no room for these.
        sizes = np.log(np.maximum(np.abs(scores), np.finfo(np.float64).tiny))
        scores = np.where(np.isnan(scores), np.nan, objective.direction(objective.primary) * sizes)
    known = scores[~np.isnan(scores)]
    return np.where(np.isnan(scores), known.min() if len(known) else 0.0, scores)


def expected_improvement(mean: Reals, deviation: Reals, best: float) -> Reals:
    """Returns the expected improvement over the best result of normal variables, shape (candidates,).

    Args:
        mean: mean of each candidate, shape (candidates,).
        deviation: standard deviation of each, at least 0.
        best: the best result.
    """
    spread = deviation + 1e-12
    above = (mean - best) / spread
    return np.asarray(spread * (above * norm.cdf(above) + norm.pdf(above)))


def _apart(points: Reals, count: int) -> list[int]:
    """Returns the first `count` points of which no two differ in one coordinate only; others fill up."""
    chosen: list[int] = []
    for index, point in enumerate(points):
        if len(chosen) == count:
            break
        if all(np.count_nonzero(point != points[other]) > 1 for other in chosen):
            chosen.append(index)
    others = [index for index in range(len(points)) if index not in chosen]
    return [*chosen, *others[: count - len(chosen)]]
