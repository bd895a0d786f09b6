"""Bayesian optimisation as a tuner: measure, fit, suggest (Algorithm 1 of Alabed and Yoneki)."""

import importlib.util
import warnings
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from pydantic import Field

from rocktune.errors import UserError
from rocktune.space import Configuration
from rocktune.spec_file import Spec
from rocktune.trial import Batch, Result, RunKey, Trial
from rocktune.tuners.base import Problem, Search, Tuner
from rocktune.tuners.bayesian.observations import Observations, Reals, observed, tasks_left_out
from rocktune.tuners.cost import affordable_trials
from rocktune.tuners.unit_cube import UnitCube
from rocktune.tuners.unseen import configuration_count, unseen

if TYPE_CHECKING:
    from rocktune.tuners.bayesian.models import Fit
    from rocktune.tuners.bayesian.suggestions import Suggestions

SmallCount = Annotated[int, Field(strict=True, ge=1, le=100)]


class BayesianSettings(Spec):
    """The settings of all Bayesian tuners.

    Attributes:
        initial: number of configurations drawn at random before the first model (the paper: 1).
        at_once: number of configurations suggested together, which may be measured at once.
        runs_each: number of runs of each configuration, each with other random numbers. With more than one,
            the model learns how noisy they are, and the noisy expected improvement is used.
        plain: whether models are the paper's: figures and axes as they are, and GPs of clusters that know
            nothing of each other. By default models are of logarithms over warped axes, and clusters add up.
    """

    initial: SmallCount = 1
    at_once: SmallCount = 1
    runs_each: SmallCount = 1
    plain: bool = False


class BayesianTuner(Tuner):
    """The base class of Bayesian tuners, for one objective with constraints.

    They fit a model to all results and measure where its expected improvement is largest.
    """

    settings_type = BayesianSettings
    settings: BayesianSettings

    def tasks(self, problem: Problem, results: Sequence[Result]) -> tuple[str, ...]:  # noqa: ARG002
        """Returns the metrics of the adjacent tasks for a model of these results; empty by default."""
        return ()

    @abstractmethod
    def fit(self, problem: Problem) -> "Fit":
        """Returns the function that fits the objective's models to observations."""

    def search(self, problem: Problem, rng: np.random.Generator) -> Search:
        """See `Tuner.search`. Suggestions are yielded as functions, so that a replay fits no models."""
        settings, age_s = self.settings, problem.age_s(problem.trial_age_s)
        results = list(problem.known)
        # These counts are of configurations, with those that were measured before the search.
        affordable = affordable_trials(problem.budget_s, age_s * settings.runs_each)
        left, size = affordable + len(results), configuration_count(problem.space)
        first = problem.space.sample(min(settings.initial, affordable), rng)
        item: Any = self._batch(dict.fromkeys(first), age_s, (), {})
        while True:
            new = yield item
            results.extend(new)
            known = {result.trial.configuration for result in results}
            # A small space may be exhausted before the budget.
            count = int(min(settings.at_once, left - len(known), size - len(known)))
            if count <= 0:
                return
            release = tuple(result.trial.run for result in new)
            # A generator of its own for each suggestion: one that a replay skips changes nothing for the
            # next.
            item = partial(self._suggested, problem, tuple(results), count, age_s, release, rng.spawn(1)[0])

    def min_budget_s(self, problem: Problem) -> float:
        """Returns the cost of one configuration in seconds of measuring.

        Raises:
            UserError: BoTorch is not installed, or the objective has several fields.
        """
        if importlib.util.find_spec("botorch") is None:
            raise UserError(
                f"tuner '{self.name}': needs BoTorch, which is not installed; run \"pip install "
                "'rocktune[bo]'\" (it also installs PyTorch, several gigabytes)"
            )
        if len(problem.objective.fields) > 1:
            raise UserError(
                f"tuner '{self.name}': improves one objective, not '{problem.objective.name}'; name one "
                "and give the others as --constraint, or use --tuner nsga2"
            )
        return problem.age_s(problem.trial_age_s) * self.settings.runs_each

    def _batch(
        self,
        configurations: Iterable[Configuration],
        age_s: float,
        release: tuple[RunKey, ...],
        explanation: dict[str, Any],
    ) -> Batch:
        """Returns a batch of all runs of these configurations."""
        runs = [Trial(each, age_s, run) for each in configurations for run in range(self.settings.runs_each)]
        return Batch(tuple(runs), release, explanation)

    def _suggested(
        self,
        problem: Problem,
        results: Sequence[Result],
        count: int,
        age_s: float,
        release: tuple[RunKey, ...],
        rng: np.random.Generator,
    ) -> Batch:
        """Returns a batch of suggested configurations, and of random ones if there is no model.

        Args:
            problem: the problem to solve.
            results: all results so far.
            count: number of configurations to suggest.
            age_s: age of the trials in seconds.
            release: runs that the batch releases.
            rng: a random generator that only this batch uses.
        """
        # Imported here, because importing PyTorch takes seconds and only suggestions need it.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # PyTorch warns of its own deprecated calls
            from rocktune.tuners.bayesian.suggestions import UNFIT, reproducible

        cube, explanation = UnitCube(problem.space), dict[str, Any]()
        known = dict.fromkeys(result.trial.configuration for result in results)
        chosen: dict[Configuration, None] = {}
        tasks = self.tasks(problem, results)
        history = observed(results, problem, cube, tasks, self.settings.plain)
        names = (problem.objective.primary, *tasks)
        with reproducible(int(rng.integers(1 << 31))):
            try:
                # There is nothing to fit as long as every trial has failed.
                if not np.isnan(history.gains[:, 0]).all():
                    found = self._found(problem, history, names, {**known}, count, rng)
                    chosen, explanation = dict.fromkeys(found[0]), found[1]
            # Numbers that allow no model end neither the search nor the study; random draws go on.
            except UNFIT as failure:
                explanation = {"no_model": " ".join(str(failure).split())[:200]}
        while len(chosen) < count:
            chosen[unseen(problem.space, {**known, **chosen}, rng)] = None
        return self._batch(chosen, age_s, release, explanation)

    def _found(
        self,
        problem: Problem,
        history: Observations,
        tasks: Sequence[str],
        known: dict[Configuration, None],
        count: int,
        rng: np.random.Generator,
    ) -> tuple[list[Configuration], dict[str, Any]]:
        """Returns at most `count` configurations to measure, and the batch's explanation.

        Args:
            problem: the problem to solve.
            history: observations of all results so far.
            tasks: names of the observations' tasks, the objective first.
            known: configurations that must not be suggested. Each suggestion is added to it.
            count: maximum number of configurations.
            rng: source of random numbers for repairs.
        """
        from rocktune.tuners.bayesian.models import explained
        from rocktune.tuners.bayesian.suggestions import Suggestions

        cube = UnitCube(problem.space)
        model = Suggestions(self.fit(problem), history, noisy=self.settings.runs_each > 1)
        chosen: list[Configuration] = []
        for _ in range(count):
            # Each further suggestion treats the earlier ones as being measured.
            for point in _ranked(model, cube.points(chosen), cube):
                configuration = cube.valid_near(point, rng)
                if configuration not in known:
                    known[configuration] = None
                    chosen.append(configuration)
                    break
        models = explained(model.models, [knob.name for knob in problem.space.knobs], tasks)
        return chosen, {"models": models, "tasks_left_out": tasks_left_out(history, tasks)}


def _ranked(model: "Suggestions", pending: Reals, cube: UnitCube) -> Reals:
    """Returns the model's suggestions, moved to the centres of their cells, by expected improvement."""
    found, log_improvement = model.near_best(pending)
    rounded = np.unique(cube.points([cube.configuration(point) for point in found]), axis=0)
    # Ranked again, because rounding changes the improvement.
    return rounded[np.argsort(-log_improvement(rounded), kind="stable")]
