"""Suggestions of a random forest, which learns from all results where the best may be improved."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm
from sklearn.ensemble import ExtraTreesRegressor

from rocktune.objective import Objective
from rocktune.space import Configuration
from rocktune.trial import Result
from rocktune.tuners.auto.neighbours import neighbours
from rocktune.tuners.base import Problem
from rocktune.tuners.unit_cube import UnitCube
from rocktune.tuners.unseen import unseen

Reals = NDArray[np.float64]

_TREES = 60
_INACTIVE = -1.0
"""The coordinate of an inactive knob: outside the unit cube, so that a tree can split it off."""


def suggest(
    problem: Problem, results: Sequence[Result], count: int, rng: np.random.Generator
) -> list[Configuration]:
    """Returns the unmeasured configurations with the largest expected improvement, the largest first.

    Two of them differ in at least two knobs where possible, because a batch learns nothing from itself.

    Args:
        problem: the problem to solve.
        results: all results so far, at least one.
        count: number of configurations; the space must have as many that are not measured.
        rng: draws the forest and the candidates.
    """
    cube, known = UnitCube(problem.space), {result.trial.configuration for result in results}
    gains = gains_of(problem.objective, results)
    forest = ExtraTreesRegressor(_TREES, random_state=int(rng.integers(1 << 31)))
    forest.fit(_features(cube, [result.trial.configuration for result in results]), gains)
    ranked = [results[index].trial.configuration for index in np.argsort(-gains, kind="stable")]
    found = [each for each in neighbours(problem.space, cube, ranked, rng) if each not in known]
    chosen: list[Configuration] = []
    if found:
        features = _features(cube, found)
        improvement = expected_improvement(_predictions(forest, features), float(gains.max()))
        chosen = [found[index] for index in _apart(features, np.argsort(-improvement, kind="stable"), count)]
    while len(chosen) < count:
        chosen.append(unseen(problem.space, {*known, *chosen}, rng))
    return chosen


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


def expected_improvement(predictions: Reals, best: float) -> Reals:
    """Returns the expected improvement over the best result of a normal variable, shape (candidates,).

    Args:
        predictions: prediction of each tree, shape (trees, candidates). Their mean and standard deviation are
            those of the variable, as in SMAC (Hutter et al., LION 2011).
        best: the best result.
    """
    mean, deviation = predictions.mean(axis=0), predictions.std(axis=0) + 1e-12
    above = (mean - best) / deviation
    return np.asarray(deviation * (above * norm.cdf(above) + norm.pdf(above)))


def _features(cube: UnitCube, configurations: Sequence[Configuration]) -> Reals:
    """Returns the configurations' points, with inactive knobs apart, shape (configurations, knobs)."""
    active = np.array([cube.active(each) for each in configurations])
    return np.where(active, cube.points(configurations), _INACTIVE)


def _predictions(forest: ExtraTreesRegressor, features: Reals) -> Reals:
    """Returns the prediction of each tree, shape (trees, configurations)."""
    # Trees hold single precision, and convert anything else for each call.
    single = features.astype(np.float32)
    return np.array([tree.predict(single, check_input=False) for tree in forest.estimators_])


def _apart(features: Reals, order: NDArray[np.intp], count: int) -> list[int]:
    """Returns the first `count` of `order` of which no two differ in one feature only; others fill up."""
    chosen: list[int] = []
    for index in order:
        if len(chosen) == count:
            break
        if all(np.count_nonzero(features[index] != features[other]) > 1 for other in chosen):
            chosen.append(int(index))
    others = [int(index) for index in order if index not in chosen]
    return [*chosen, *others[: count - len(chosen)]]
