"""The Bayesian tuners: a search with a model each, as in Alabed and Yoneki's comparison."""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal

from rocktune.errors import unknown_name
from rocktune.trial import FIGURES, Result
from rocktune.tuners.base import Problem
from rocktune.tuners.bayesian.clusters import (
    PAPERS_TASKS,
    RECONSTRUCTED,
    Cluster,
    check_clusters,
    parts_of,
)
from rocktune.tuners.bayesian.search import BayesianSettings, BayesianTuner
from rocktune.tuners.bayesian.tasks import MEASURED, measured_tasks

if TYPE_CHECKING:
    from rocktune.tuners.bayesian.models import Fit


class SingleTask(BayesianTuner):
    """The Bayesian tuner with a GP of the objective."""

    name = "bo"
    summary = "Bayesian optimisation: a Gaussian process of the objective (BoTorch; extra 'bo')"

    def fit(self, problem: Problem) -> "Fit":  # noqa: ARG002 -- not needed
        """Returns the function that fits this tuner's model of the objective to observations."""
        from rocktune.tuners.bayesian.models import single_task

        return partial(single_task, warped=not self.settings.plain)


class Additive(BayesianTuner):
    """The Bayesian tuner with a GP that is a sum over knobs and pairs of knobs.

    It is a baseline in Alabed and Yoneki's paper (Duvenaud et al. 2011).
    """

    name = "additive-bo"
    summary = "Bayesian optimisation with a sum over knobs and their pairs (extra 'bo')"

    def fit(self, problem: Problem) -> "Fit":  # noqa: ARG002 -- not needed
        """Returns the function that fits this tuner's model of the objective to observations."""
        from rocktune.tuners.bayesian.models import additive

        return partial(additive, warped=not self.settings.plain)


class MultiTaskSettings(BayesianSettings):
    """The settings of tuner `multitask-bo`.

    Attributes:
        tasks: metrics that are modelled together with the objective, because they correlate with it; or
            "measured" for the three that correlate most with it in the search's own trials.
    """

    tasks: tuple[str, ...] | Literal["measured"] = PAPERS_TASKS


class MultiTask(BayesianTuner):
    """The Bayesian tuner with a joint GP of the objective and adjacent tasks (section 3.3)."""

    name = "multitask-bo"
    summary = "Bayesian optimisation that learns from adjacent metrics too (ICM kernel; extra 'bo')"
    settings_type = MultiTaskSettings
    settings: MultiTaskSettings

    def tasks(self, problem: Problem, results: Sequence[Result]) -> tuple[str, ...]:
        """Returns the metrics of the adjacent tasks: those of the settings, or the measured ones."""
        if self.settings.tasks == MEASURED:
            return measured_tasks(results, problem.objective.primary)
        return self.settings.tasks

    def min_budget_s(self, problem: Problem) -> float:
        """Returns the cost of one configuration in seconds of measuring; also checks the settings."""
        if self.settings.tasks != MEASURED:
            _check_tasks(self.name, self.settings.tasks)
        return super().min_budget_s(problem)

    def fit(self, problem: Problem) -> "Fit":  # noqa: ARG002 -- not needed
        """Returns the function that fits this tuner's model of the objective to observations."""
        from rocktune.tuners.bayesian.models import multi_task

        return partial(multi_task, warped=not self.settings.plain)


class ClusteredSettings(BayesianSettings):
    """The settings of tuner `clustered-bo`.

    Attributes:
        clusters: groups of knobs that are modelled together, each with the metrics that they influence; None
            for the paper's. `rocktune clusters` finds them in measurements.
    """

    clusters: tuple[Cluster, ...] | None = None


class Clustered(BayesianTuner):
    """The Bayesian tuner with a multi-task GP for each cluster of knobs (section 3.4)."""

    name = "clustered-bo"
    summary = (
        "multi-task Bayesian optimisation by clusters of knobs: near the best in few trials (extra 'bo')"
    )
    settings_type = ClusteredSettings
    settings: ClusteredSettings

    @property
    def clusters(self) -> tuple[Cluster, ...]:
        """The clusters of the settings, or the paper's."""
        return RECONSTRUCTED if self.settings.clusters is None else self.settings.clusters

    def tasks(self, problem: Problem, results: Sequence[Result]) -> tuple[str, ...]:  # noqa: ARG002
        """Returns the metrics of the clusters' tasks."""
        return self._tasks

    @property
    def _tasks(self) -> tuple[str, ...]:
        """The metrics of the clusters' tasks."""
        return tuple(dict.fromkeys(task for cluster in self.clusters for task in cluster.tasks))

    def min_budget_s(self, problem: Problem) -> float:
        """Returns the cost of one configuration in seconds of measuring; also checks the settings."""
        _check_tasks(self.name, self._tasks)
        if self.settings.clusters is not None:
            check_clusters(self.clusters, [knob.name for knob in problem.space.knobs], self.name)
        return super().min_budget_s(problem)

    def fit(self, problem: Problem) -> "Fit":
        """Returns the function that fits this tuner's models of the objective to observations."""
        from rocktune.tuners.bayesian.models import clustered, independent

        tasks = (problem.objective.primary, *self._tasks)
        knobs = [knob.name for knob in problem.space.knobs]
        parts = parts_of(knobs, tasks, self.clusters)
        return partial(independent if self.settings.plain else clustered, parts)


def _check_tasks(tuner: str, tasks: Iterable[str]) -> None:
    """Raises a UserError if a task is neither a figure nor a statistic of RocksDB."""
    for task in tasks:
        if task not in FIGURES and not task.startswith("rocksdb."):
            raise unknown_name(f"tuner '{tuner}': task", task, FIGURES)
