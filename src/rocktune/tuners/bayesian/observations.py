"""What a Bayesian search has measured, as arrays."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rocktune.objective import SMALLER_IS_BETTER, Constraint
from rocktune.trial import Result, Status
from rocktune.tuners.base import Problem
from rocktune.tuners.unit_cube import UnitCube

Reals = NDArray[np.float64]
_LEAST = 1e-12


@dataclass(frozen=True)
class Observations:
    """Results in the order of measuring; n of them, over d knobs.

    Attributes:
        points: n x d, the middles of the configurations' cells in the unit cube, so that whatever is rounded
            to one configuration is one point.
        gains: n x t, the objective first and then the adjacent tasks, each so that larger is better (what is
            to be minimised is negated: docs/readings.md); NaN where it was not measured. A figure above 0 in
            every trial is its logarithm: knobs act on rates and times by ratios, over orders of magnitude.
        excesses: n x c, for each constraint the logarithm of the ratio by which it is missed; 0 or less where
            it is kept, NaN where it was not measured.
        succeeded: n, whether the trial ended well.
    """

    points: Reals
    gains: Reals
    excesses: Reals
    succeeded: NDArray[np.bool_]

    @property
    def feasible(self) -> NDArray[np.bool_]:
        """Which of the results have a value and keep all constraints."""
        return ~np.isnan(self.gains[:, 0]) & (self.excesses <= 0).all(axis=1)


def observed(
    results: Sequence[Result], problem: Problem, cube: UnitCube, tasks: Sequence[str]
) -> Observations:
    """Returns results as arrays.

    Args:
        results: in the order of measuring, at least one.
        problem: whose objective and constraints they answer.
        cube: of its space.
        tasks: the adjacent tasks, metrics (`Measurement.metric`) of which less is better unless they are
            throughputs.
    """
    names = (problem.objective.primary, *tasks)
    signs = np.array([-1.0 if _is_minimised(name) else 1.0 for name in names])
    figures = np.array([[result.metric(name) for name in names] for result in results])
    gains = np.apply_along_axis(_logarithms, 0, np.where(np.isfinite(figures), figures, np.nan)) * signs
    excesses = [[_excess(each, result) for each in problem.objective.constraints] for result in results]
    return Observations(
        cube.points([result.trial.configuration for result in results]),
        gains,
        np.array(excesses).reshape(len(results), len(problem.objective.constraints)),
        np.array([result.status is Status.OK for result in results]),
    )


def standardized(values: Reals) -> Reals:
    """Returns a column with mean 0 and standard deviation 1 (Algorithm 2); NaN stays.

    A column without spread becomes 0.
    """
    known = values[~np.isnan(values)]
    if known.size == 0:
        return values
    deviation = float(known.std(ddof=1)) if known.size > 1 else 0.0
    return np.asarray(
        (values - known.mean()) / (deviation if deviation > 1e-12 * np.abs(known).max() else 1.0)
    )


def _logarithms(figures: Reals) -> Reals:
    """Returns a figure's logarithms, or itself if it has been 0 or less; NaN stays."""
    return figures if np.any(figures <= 0) else np.log(figures)


def _is_minimised(metric: str) -> bool:
    """Counters and times of RocksDB's own, by which RocksDB works more for the same operations, too."""
    return metric in SMALLER_IS_BETTER or metric.startswith("rocksdb.")


def _excess(constraint: Constraint, result: Result) -> float:
    """Returns by how much a constraint is missed, as the logarithm of value over bound: tails are long."""
    missed = math.log(max(result.figure(constraint.field), _LEAST) / constraint.bound)
    return missed if constraint.at_most else -missed
