"""Bayesian optimisation as a tuner: measure, fit, suggest (Algorithm 1 of Alabed and Yoneki)."""

import importlib.util
import warnings
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from pydantic import Field

from rocktune.errors import UserError, unknown_name
from rocktune.space import Configuration
from rocktune.spec_file import Spec
from rocktune.trial import FIGURES, Batch, Result, RunKey, Trial
from rocktune.tuners.base import Problem, Search, Tuner
from rocktune.tuners.bayesian.clusters import (
    PAPERS_TASKS,
    RECONSTRUCTED,
    Cluster,
    check_clusters,
    parts_of,
)
from rocktune.tuners.bayesian.observations import Observations, Reals, observed
from rocktune.tuners.cost import whole_times
from rocktune.tuners.unit_cube import UnitCube
from rocktune.tuners.unseen import size_of, unseen

if TYPE_CHECKING:
    from rocktune.tuners.bayesian.models import Fit
    from rocktune.tuners.bayesian.suggestions import Suggestions

Few = Annotated[int, Field(strict=True, ge=1, le=100)]


class BayesianSettings(Spec):
    """What can be chosen about every Bayesian tuner.

    Attributes:
        initial: configurations drawn at random before the first model (the paper: 1).
        at_once: configurations suggested together, to be measured at once.
        runs_each: runs of each configuration, with other random numbers each; more than one shows how noisy
            they are, and the noisy expected improvement is used.
    """

    initial: Few = 1
    at_once: Few = 1
    runs_each: Few = 1


class BayesianTuner(Tuner):
    """A model of what was measured says where to measure next; for one objective, with constraints."""

    settings_type = BayesianSettings
    settings: BayesianSettings

    @property
    def tasks(self) -> tuple[str, ...]:
        """The adjacent tasks' metrics."""
        return ()

    @abstractmethod
    def fit(self, problem: Problem) -> "Fit":
        """Returns what fits the objective's model."""

    def search(self, problem: Problem, rng: np.random.Generator) -> Search:
        """See `Tuner.search`. Each suggestion is a batch that is made when it is due."""
        settings, age_s = self.settings, problem.age_s(problem.trial_age_s)
        left, size = whole_times(problem.budget_s, age_s * settings.runs_each), size_of(problem.space)
        first = problem.space.sample(min(settings.initial, left), rng)
        item: Any = self._batch(dict.fromkeys(first), age_s, (), {})
        results: list[Result] = []
        while True:
            new = yield item
            results.extend(new)
            known = {result.trial.configuration for result in results}
            count = int(min(settings.at_once, left - len(known), size - len(known)))
            if count <= 0:
                return
            release = tuple(result.trial.run for result in new)
            item = partial(self._suggested, problem, tuple(results), count, age_s, release, rng.spawn(1)[0])

    def min_budget_s(self, problem: Problem) -> float:
        """One suggestion's."""
        if importlib.util.find_spec("botorch") is None:
            raise UserError(
                f"tuner '{self.name}': needs BoTorch, which is not here; pip install 'rocktune[bo]' "
                "(PyTorch comes with it, gigabytes)"
            )
        if len(problem.objective.fields) > 1:
            raise UserError(
                f"tuner '{self.name}': takes one objective, not '{problem.objective.name}'; name one "
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
        """Returns the next batch; `rng` is its own."""
        # Here, because PyTorch takes seconds to import, and only who asks for a suggestion shall wait.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of PyTorch to itself
            from rocktune.tuners.bayesian.suggestions import UNFIT, reproducible

        cube, explanation = UnitCube(problem.space), dict[str, Any]()
        known = dict.fromkeys(result.trial.configuration for result in results)
        chosen: dict[Configuration, None] = {}
        history = observed(results, problem, cube, self.tasks)
        with reproducible(int(rng.integers(1 << 31))):
            try:
                if not np.isnan(history.gains[:, 0]).all():
                    found = self._found(problem, history, cube, {**known}, count, rng)
                    chosen, explanation = dict.fromkeys(found[0]), found[1]
            except UNFIT as failure:
                explanation = {"no_model": " ".join(str(failure).split())[:200]}
        while len(chosen) < count:
            chosen[unseen(problem.space, {**known, **chosen}, rng)] = None
        return self._batch(chosen, age_s, release, explanation)

    def _found(
        self,
        problem: Problem,
        history: Observations,
        cube: UnitCube,
        known: dict[Configuration, None],
        count: int,
        rng: np.random.Generator,
    ) -> tuple[list[Configuration], dict[str, Any]]:
        """Returns at most `count` configurations that were not measured yet, and what the models learned."""
        from rocktune.tuners.bayesian.models import explained
        from rocktune.tuners.bayesian.suggestions import Suggestions

        model = Suggestions(self.fit(problem), history, noisy=self.settings.runs_each > 1)
        chosen: list[Configuration] = []
        for _ in range(count):
            for point in _ranked(model, cube.points(chosen), cube):
                configuration = cube.valid_near(point, rng)
                if configuration not in known:
                    known[configuration] = None
                    chosen.append(configuration)
                    break
        knobs, tasks = [knob.name for knob in problem.space.knobs], (problem.objective.primary, *self.tasks)
        return chosen, {"models": explained(model.objective, history, knobs, tasks)}


class SingleTask(BayesianTuner):
    """A GP of the objective alone."""

    name = "bo"
    summary = "Bayesian optimisation: a Gaussian process of the objective (BoTorch; extra 'bo')"

    def fit(self, problem: Problem) -> "Fit":  # noqa: ARG002 -- it needs none
        """See the base class."""
        from rocktune.tuners.bayesian.models import single_task

        return single_task


class Additive(BayesianTuner):
    """A GP that is a sum over knobs and pairs of knobs; a baseline of the paper's (Duvenaud et al. 2011)."""

    name = "additive-bo"
    summary = "Bayesian optimisation with a sum over knobs and their pairs (extra 'bo')"

    def fit(self, problem: Problem) -> "Fit":  # noqa: ARG002 -- it needs none
        """See the base class."""
        from rocktune.tuners.bayesian.models import additive

        return additive


class MultiTaskSettings(BayesianSettings):
    """What can be chosen about multi-task search.

    Attributes:
        tasks: metrics that are modelled beside the objective, for what they say about it.
    """

    tasks: tuple[str, ...] = PAPERS_TASKS


class MultiTask(BayesianTuner):
    """A GP of the objective and adjacent tasks, which share what is learned (section 3.3)."""

    name = "multitask-bo"
    summary = "Bayesian optimisation that learns from adjacent metrics too (ICM kernel; extra 'bo')"
    settings_type = MultiTaskSettings
    settings: MultiTaskSettings

    @property
    def tasks(self) -> tuple[str, ...]:
        """See the base class."""
        return self.settings.tasks

    def min_budget_s(self, problem: Problem) -> float:
        """See the base class."""
        _check_tasks(self.name, self.tasks)
        return super().min_budget_s(problem)

    def fit(self, problem: Problem) -> "Fit":  # noqa: ARG002 -- it needs none
        """See the base class."""
        from rocktune.tuners.bayesian.models import multi_task

        return multi_task


class ClusteredSettings(BayesianSettings):
    """What can be chosen about clustered search.

    Attributes:
        clusters: knobs that are modelled together, each with the metrics that they drive; None for the
            paper's. `rocktune clusters` finds them in measurements.
    """

    clusters: tuple[Cluster, ...] | None = None


class Clustered(BayesianTuner):
    """A multi-task GP for every cluster of knobs, each of few dimensions (section 3.4)."""

    name = "clustered-bo"
    summary = (
        "multi-task Bayesian optimisation by clusters of knobs: near the best in few trials (extra 'bo')"
    )
    settings_type = ClusteredSettings
    settings: ClusteredSettings

    @property
    def clusters(self) -> tuple[Cluster, ...]:
        """Those in force."""
        return RECONSTRUCTED if self.settings.clusters is None else self.settings.clusters

    @property
    def tasks(self) -> tuple[str, ...]:
        """See the base class."""
        return tuple(dict.fromkeys(task for cluster in self.clusters for task in cluster.tasks))

    def min_budget_s(self, problem: Problem) -> float:
        """See the base class."""
        _check_tasks(self.name, self.tasks)
        if self.settings.clusters is not None:
            check_clusters(self.clusters, [knob.name for knob in problem.space.knobs], self.name)
        return super().min_budget_s(problem)

    def fit(self, problem: Problem) -> "Fit":
        """See the base class."""
        from rocktune.tuners.bayesian.models import clustered

        tasks = (problem.objective.primary, *self.tasks)
        knobs = [knob.name for knob in problem.space.knobs]
        return partial(clustered, parts_of(knobs, tasks, self.clusters))


def _ranked(model: "Suggestions", pending: Reals, cube: UnitCube) -> Reals:
    """Returns points, each the middle of its configuration's cells, by expected improvement, best first."""
    found, worth = model.near_best(pending)
    rounded = np.unique(cube.points([cube.configuration(point) for point in found]), axis=0)
    return rounded[np.argsort(-worth(rounded), kind="stable")]


def _check_tasks(tuner: str, tasks: Iterable[str]) -> None:
    for task in tasks:
        if task not in FIGURES and not task.startswith("rocksdb."):
            raise unknown_name(f"tuner '{tuner}': task", task, FIGURES)
