"""A plain Gaussian process as a tuner: the baseline "GP (NNI)" of Alabed and Yoneki's table 1.

It follows NNI's GP tuner, with scikit-learn: a Matern kernel (nu 5/2), and expected improvement maximised
over random points and then from the best of them. Used as `--tuner benchmarks/alabed/sklearn_gp.py`.
"""

import warnings
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.stats import norm
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import Matern

from rocktune.errors import UserError
from rocktune.spec_file import Spec
from rocktune.trial import Batch, Result, RunKey, Trial
from rocktune.tuners import Problem, Search, Tuner
from rocktune.tuners.cost import affordable_trials
from rocktune.tuners.unit_cube import UnitCube
from rocktune.tuners.unseen import configuration_count, unseen

_JITTER = 1e-6
_RANDOM_POINTS = 10_000
_STARTS = 10

Reals = NDArray[np.float64]


class SklearnGp(Tuner):
    """A tuner with one random start, then expected improvement by a GP without priors, noise or rounding."""

    name = "sklearn-gp"
    summary = "a plain scikit-learn Gaussian process with expected improvement, as NNI has it"
    settings_type = Spec

    def search(self, problem: Problem, rng: np.random.Generator) -> Search:
        """See `Tuner.search`."""
        age_s = problem.age_s(problem.trial_age_s)
        left = affordable_trials(problem.budget_s, age_s)
        item: Any = Batch((Trial(problem.space.sample(1, rng)[0], age_s),))
        results: list[Result] = []
        while True:
            new = yield item
            results.extend(new)
            left -= 1
            if not left or len({result.trial.configuration for result in results}) >= configuration_count(
                problem.space
            ):
                return
            release = tuple(result.trial.run for result in new)
            item = partial(_suggested, problem, tuple(results), age_s, release, rng.spawn(1)[0])

    def min_budget_s(self, problem: Problem) -> float:
        """Returns the seconds of one trial."""
        if len(problem.objective.fields) > 1:
            raise UserError("tuner 'sklearn-gp': takes one objective")
        return problem.age_s(problem.trial_age_s)


def _suggested(
    problem: Problem,
    results: Sequence[Result],
    age_s: float,
    release: tuple[RunKey, ...],
    rng: np.random.Generator,
) -> Batch:
    cube = UnitCube(problem.space)
    known = {result.trial.configuration for result in results}
    scores = problem.objective.scores(results)
    sound = [
        (result.trial.configuration, score)
        for result, score in zip(results, scores, strict=True)
        if score == score
    ]
    wanted = rng.uniform(size=cube.dimensions)
    if len(sound) > 1:
        values = np.array([score for _, score in sound])
        wanted = _best_point(cube.points([each for each, _ in sound]), values, rng)
    configuration = cube.valid_near(wanted, rng)
    if configuration in known:
        configuration = unseen(problem.space, known, rng)
    return Batch((Trial(configuration, age_s),), release)


def _best_point(points: Reals, values: Reals, rng: np.random.Generator) -> Reals:
    model = GaussianProcessRegressor(
        Matern(nu=2.5), alpha=_JITTER, normalize_y=True, random_state=int(rng.integers(1 << 31))
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(points, values)

    def improvement(at: Reals) -> Reals:
        mean, deviation = model.predict(at.reshape(-1, points.shape[1]), return_std=True)
        gain = mean - values.max()
        ratio = gain / np.maximum(deviation, 1e-12)
        return np.asarray(gain * norm.cdf(ratio) + deviation * norm.pdf(ratio))

    drawn = rng.uniform(size=(_RANDOM_POINTS, points.shape[1]))
    starts = drawn[np.argsort(-improvement(drawn))[:_STARTS]]
    bounds = [(0.0, 1.0)] * points.shape[1]

    def loss(at: Reals) -> float:
        return -float(improvement(at)[0])

    found = [minimize(loss, start, bounds=bounds).x for start in starts]
    return np.asarray(found[int(np.argmax([improvement(each)[0] for each in found]))])
