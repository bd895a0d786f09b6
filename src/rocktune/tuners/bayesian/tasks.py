"""The choice of adjacent tasks by what was measured: correlation with the objective, and coverage."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rocktune.trial import Result
from rocktune.tuners.bayesian.clusters import PAPERS_TASKS

Reals = NDArray[np.float64]

MEASURED: Literal["measured"] = "measured"
"""The value of setting `tasks` that lets the measurements choose."""
SAME = 0.95
"""Correlation of two metrics above which the second adds no information."""
NOISE = 3.0
"""Number of standard errors, each 1 / sqrt(runs), below which a correlation counts as noise."""
MIN_TRIALS = 10
"""Sound trials before measurements choose; until then the tasks are the paper's."""
MIN_COVERAGE = 0.8
"""Share of the sound trials in which a chosen task has a value."""
MAX_TASKS = 3
"""Number of chosen tasks, as in the paper."""


def ranks(columns: Reals) -> Reals:
    """Returns each column's values replaced by their ranks."""
    from scipy.stats import rankdata

    return np.asarray(rankdata(columns, axis=0), dtype=np.float64)


def correlations(first: Reals, second: Reals) -> Reals:
    """Returns Pearson's correlation of each column of `first` with each column of `second`.

    Given ranks it is Spearman's.
    """
    first, second = first - first.mean(axis=0), second - second.mean(axis=0)
    norms = np.outer(np.linalg.norm(first, axis=0), np.linalg.norm(second, axis=0))
    return np.asarray(first.T @ second / norms)


def distinct(metrics: Reals, order: Sequence[int], taken: int, count: int) -> list[int]:
    """Returns the first columns that repeat neither an earlier one nor the column `taken`.

    Args:
        metrics: ranks of the metrics, a column each; no column is constant.
        order: indices of the columns, best first.
        taken: index of the objective's column, so that no chosen metric merely repeats it.
        count: maximum number of columns to return.
    """
    chosen: list[int] = []
    for each in order:
        if len(chosen) == count:
            break
        if np.abs(correlations(metrics[:, [each]], metrics[:, [taken, *chosen]])).max() < SAME:
            chosen.append(each)
    return chosen


def measured_tasks(results: Sequence[Result], objective: str) -> tuple[str, ...]:
    """Returns at most three metrics that correlate most with the objective, of either sign.

    A metric needs a value in 80% of the sound trials. Correlations are Spearman's over the trials in which
    both are known, and count if they exceed three standard errors. Metrics that repeat the objective or one
    another (0.95) are left out. With fewer than ten sound trials the tasks are the paper's.

    Args:
        results: results of the search so far.
        objective: name of the figure to improve.
    """
    sound = [
        result.measurement
        for result in results
        if result.measurement is not None and np.isfinite(result.metric(objective))
    ]
    if len(sound) < MIN_TRIALS:
        return PAPERS_TASKS
    names = [objective, *sorted({name for each in sound for name in each.metric_names} - {objective})]
    columns = np.array([[each.metric(name) for name in names] for each in sound])
    known = np.isfinite(columns)
    covered = known.mean(axis=0) >= MIN_COVERAGE
    columns, known = columns[:, covered], known[:, covered]
    # A median stands in for a missing value, so that it adds no correlation.
    medians = np.nanmedian(np.where(known, columns, np.nan), axis=0)
    columns = np.where(known, columns, medians)
    varied = columns.max(axis=0) > columns.min(axis=0)
    kept = [name for name, use in zip(np.array(names)[covered], varied, strict=True) if use]
    if objective not in kept:
        return PAPERS_TASKS
    ranked = ranks(columns[:, varied])
    with_objective = np.abs(correlations(ranked, ranked[:, [0]])[:, 0])
    loud = with_objective > NOISE / np.sqrt(len(sound))
    order = [each for each in np.argsort(-with_objective, kind="stable").tolist() if loud[each] and each]
    return tuple(str(kept[each]) for each in distinct(ranked, order, 0, MAX_TASKS))
