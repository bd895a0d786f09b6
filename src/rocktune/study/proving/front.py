"""The Pareto front of finalists that ran several times: only differences beyond noise decide."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from rocktune.objective import Objective, Row
from rocktune.study.proving.statistics import CONFIDENCE
from rocktune.trial import Result


def noise_ratio(figures: Sequence[Sequence[float]]) -> float:
    """Returns the ratio of two configurations' geometric means up to which their difference may be chance.

    It is the exponential of half of the 95% t interval of the difference of two means of logarithms. The
    variance is that of all configurations together, without the effects of configuration and replicate: two
    runs of each show little by themselves.

    Args:
        figures: a row for each configuration, a column for each replicate.

    Returns:
        The ratio, at least 1; NaN if a figure is not above 0, or with fewer than two rows or columns.
    """
    measured = np.array(figures, dtype=np.float64)
    if measured.ndim < 2 or min(measured.shape) < 2 or not (measured > 0).all():
        return math.nan
    rows, columns = measured.shape
    logarithms = np.log(measured)
    expected = logarithms.mean(axis=1, keepdims=True) + logarithms.mean(axis=0) - logarithms.mean()
    freedom = (rows - 1) * (columns - 1)
    variance = float(((logarithms - expected) ** 2).sum()) / freedom
    return math.exp(float(stdtrit(freedom, (1 + CONFIDENCE) / 2)) * math.sqrt(2 * variance / columns))


def front_noise(runs: Sequence[Sequence[Result]], objective: Objective) -> dict[str, float]:
    """Returns `noise_ratio` by field of the objective; empty without a front or if a field has none.

    Args:
        runs: the results of each configuration, in the order of the replicates, none of them failed.
        objective: the objective.
    """
    if not objective.seeks_front:
        return {}
    noise = {
        field: noise_ratio([[objective.figure(result, field) for result in of_one] for of_one in runs])
        for field in objective.fields
    }
    return {} if any(map(math.isnan, noise.values())) else noise


@dataclass(frozen=True)
class NoisyFront:
    """The front of finalists.

    Attributes:
        points: indices of the feasible rows that no other one beats beyond noise in every field, the best in
            the first field first.
        alike: for each of them, the indices of the other points from which it differs beyond noise in no
            field.
    """

    points: tuple[int, ...]
    alike: tuple[tuple[int, ...], ...]


def front_beyond_noise(rows: Sequence[Row], objective: Objective, noise: Mapping[str, float]) -> NoisyFront:
    """Returns the front of rows whose figures are means of several runs.

    Args:
        rows: figures for `objective.all_fields`.
        objective: the objective, with several fields.
        noise: see `front_noise`; if it is empty, the front is that of the means.
    """
    if not noise:
        points = tuple(objective.front(rows))
        return NoisyFront(points, ((),) * len(points))
    limits = np.log([noise[field] for field in objective.fields])
    known = [index for index, row in enumerate(rows) if _is_known(row, objective)]
    gains = _log_gains([rows[index] for index in known], objective)
    # Element [i, j] says how much better row i is than row j in each field.
    leads = gains[:, None, :] - gains[None, :, :]
    beaten = (leads > limits).all(axis=2).any(axis=0)
    alike: NDArray[np.bool_] = np.all(np.abs(leads) <= limits, axis=2)
    kept = sorted(np.flatnonzero(~beaten), key=lambda place: -gains[place, 0])
    return NoisyFront(
        tuple(known[place] for place in kept),
        tuple(
            tuple(known[other] for other in kept if other != place and alike[place, other]) for place in kept
        ),
    )


def _is_known(row: Row, objective: Objective) -> bool:
    """Returns whether a row keeps the constraints and has a figure above 0 in each field."""
    return objective.violation(row) == 0 and all(row[field] > 0 for field in objective.fields)


def _log_gains(rows: Sequence[Row], objective: Objective) -> NDArray[np.float64]:
    """Returns logarithms of the objective's fields, negated where smaller is better, shape (rows, fields)."""
    signs = np.array([objective.direction(field) for field in objective.fields])
    figures = np.array([[row[field] for field in objective.fields] for row in rows])
    return np.asarray(signs * np.log(figures.reshape(len(rows), len(signs))))
