"""The observations of a Bayesian search: its results as arrays."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rocktune.constraint import Constraint
from rocktune.objective import SMALLER_IS_BETTER
from rocktune.trial import Result, Status
from rocktune.tuners.base import Problem
from rocktune.tuners.unit_cube import UnitCube

Reals = NDArray[np.float64]
# Replaces figures of 0, whose logarithm is not finite.
_MIN_FIGURE = 1e-12


@dataclass(frozen=True)
class Observations:
    """The results of n trials in the order of measuring, with d knobs, t tasks and c constraints.

    Attributes:
        points: the configurations' points in the unit cube, at the centres of their cells, shape (n, d).
        gains: values of the tasks, the objective first, shape (n, t). Larger is better; values to be
            minimised are negated (docs/readings.md). NaN if not measured. Unless the model is plain, a task
            whose figures are above 0 in all trials has their logarithms, because knobs change rates and times
            by factors over orders of magnitude.
        excesses: logarithm of the ratio of each constraint's figure to its bound, shape (n, c). It is at most
            0 if the constraint is kept, and NaN if not measured. The sign is reversed for lower bounds.
        succeeded: whether each trial ended with status `ok`, shape (n,).
    """

    points: Reals
    gains: Reals
    excesses: Reals
    succeeded: NDArray[np.bool_]

    @property
    def feasible(self) -> NDArray[np.bool_]:
        """Whether each result has a value of the objective and keeps all constraints, shape (n,)."""
        return ~np.isnan(self.gains[:, 0]) & (self.excesses <= 0).all(axis=1)


def observed(
    results: Sequence[Result], problem: Problem, cube: UnitCube, tasks: Sequence[str], plain: bool = False
) -> Observations:
    """Returns results as arrays.

    Args:
        results: the results in the order of measuring, at least one.
        problem: the problem of the search.
        cube: the unit cube of the problem's space.
        tasks: the adjacent tasks' metrics (`Measurement.metric`). Smaller is better for them unless they are
            throughputs.
        plain: whether figures stay as they are, without logarithms.
    """
    objective = problem.objective
    directions = (
        objective.direction(objective.primary),
        *(-1 if _is_minimised(task) else 1 for task in tasks),
    )
    figures = np.array(
        [
            [objective.figure(result, objective.primary), *(result.metric(task) for task in tasks)]
            for result in results
        ]
    )
    figures = np.where(np.isfinite(figures), figures, np.nan)
    gains = (figures if plain else np.apply_along_axis(_logarithms, 0, figures)) * directions
    excesses = [
        [_excess(each, objective.figure(result, each.field)) for each in objective.constraints]
        for result in results
    ]
    return Observations(
        cube.points([result.trial.configuration for result in results]),
        gains,
        np.array(excesses).reshape(len(results), len(objective.constraints)),
        np.array([result.status is Status.OK for result in results]),
    )


def tasks_with_values(of: Observations) -> list[int]:
    """Returns the indices of the tasks to model: the objective, and tasks whose known values differ."""
    columns = [standardized(column) for column in of.gains.T]
    return [task for task, column in enumerate(columns) if task == 0 or np.nan_to_num(column).any()]


def tasks_left_out(of: Observations, tasks: Sequence[str]) -> dict[str, str]:
    """Returns the tasks that teach a model nothing, each with the reason.

    Args:
        of: the observations.
        tasks: names of all tasks, the objective first.
    """
    sound, left_out = int((~np.isnan(of.gains[:, 0])).sum()), {}
    for task in {*range(len(tasks))} - {*tasks_with_values(of)}:
        known = int((~np.isnan(of.gains[:, task])).sum())
        why = "equal in all of them" if known > 1 else "in too few to learn from"
        left_out[tasks[task]] = f"measured in {known} of {sound} trials" + (f", {why}" if known else "")
    return left_out


def standardized(values: Reals) -> Reals:
    """Returns values shifted and scaled to mean 0 and standard deviation 1 (Algorithm 2).

    NaN stays NaN. Equal values all become 0.
    """
    known = values[~np.isnan(values)]
    if known.size == 0:
        return values
    deviation = float(known.std(ddof=1)) if known.size > 1 else 0.0
    # Rounding gives equal values a tiny deviation, by which dividing would blow up noise.
    return np.asarray(
        (values - known.mean()) / (deviation if deviation > 1e-12 * np.abs(known).max() else 1.0)
    )


def _logarithms(figures: Reals) -> Reals:
    """Returns the logarithms of figures, or the figures themselves if one is 0 or less; NaN stays NaN."""
    return figures if np.any(figures <= 0) else np.log(figures)


def _is_minimised(metric: str) -> bool:
    """Returns whether smaller values of a metric are better."""
    # RocksDB's own counters and times all count work; less of it for the same operations is better.
    return metric in SMALLER_IS_BETTER or metric.startswith("rocksdb.")


def _excess(constraint: Constraint, figure: float) -> float:
    """Returns a figure's excess over a constraint's bound; see `Observations.excesses`."""
    # The logarithm, because the tails of latencies are long and a GP assumes normal values.
    excess = math.log(max(figure, _MIN_FIGURE) / max(constraint.bound, _MIN_FIGURE))
    return excess if constraint.at_most else -excess
