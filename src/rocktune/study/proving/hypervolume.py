"""Computes the hypervolume that a Pareto front dominates, and its growth during a search."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from rocktune.ledger import TrialRecord
from rocktune.objective import Feasibility, Objective, Row
from rocktune.outcome_parts import Hypervolume

Bounds = Mapping[str, tuple[float, float]]
"""The (worst, best) value of each objective field: the corners of the box in which volume is measured."""


def bounds_of(rows: Iterable[Row], objective: Objective) -> Bounds | None:
    """Returns the worst and the best value of each objective among rows of figures.

    Returns:
        The bounds; None if no row has all figures, or an objective has the same value in all rows.
    """
    known = [row for row in rows if np.isfinite(objective.gains([row])).all()]
    bounds = {}
    for field in objective.fields:
        values = sorted((row[field] for row in known), key=lambda value: objective.direction(field) * value)
        if not values or values[0] == values[-1]:
            return None
        bounds[field] = (values[0], values[-1])
    return bounds


def hypervolume(rows: Sequence[Row], objective: Objective, bounds: Bounds) -> float:
    """Returns the share of the box between the bounds that feasible rows dominate; larger is better.

    Args:
        rows: rows with the objective's `all_fields`.
        objective: its fields are the dimensions.
        bounds: worst and best value of each field.

    Returns:
        A number from 0 to 1; above 1 only if a row is better than the bounds' best values.
    """
    # pymoo takes half a second to import, and most studies have one objective.
    from pymoo.indicators.hv import HV

    front = [rows[index] for index in objective.front(rows)]
    if not front:
        return 0.0
    # pymoo minimises: 0 stands for the best value and 1 for the worst, which is its reference point.
    missing = np.array(
        [[_missing(row[field], *bounds[field]) for field in objective.fields] for row in front]
    )
    inside: NDArray[np.float64] = missing[(missing < 1).all(axis=1)]
    return float(HV(ref_point=np.ones(len(objective.fields)))(inside)) if len(inside) else 0.0


def _missing(value: float, worst: float, best: float) -> float:
    """Returns the distance of a value from the best value, in units of the distance of the worst."""
    return (best - value) / (best - worst)


def hypervolume_over_time(
    records: Sequence[TrialRecord], objective: Objective, bounds: Bounds | None = None
) -> Hypervolume | None:
    """Returns the growth of the hypervolume during a search, from trials of the maximum age alone.

    Args:
        records: trials of the search, in order.
        objective: the objective of the study.
        bounds: the box; the bounds of the records by default.

    Returns:
        The growth; None if the objective has a single field, or if there are no bounds.
    """
    if not objective.seeks_front or not records:
        return None
    full_age_s = max(record.trial.until_s for record in records)
    feasible = [
        record
        for record in records
        if record.trial.until_s == full_age_s and objective.feasibility(record.result) is Feasibility.FEASIBLE
    ]
    bounds = bounds or bounds_of([objective.row(record.result) for record in feasible], objective)
    if bounds is None:
        return None
    spent_s, rows = 0.0, []
    by_time: list[tuple[float, float]] = []
    # Records hold mappings, so they cannot be hashed.
    chosen = {id(record) for record in feasible}
    for record in records:
        spent_s += record.measured_s
        if id(record) not in chosen:
            continue
        rows.append(objective.row(record.result))
        rows = [rows[index] for index in objective.front(rows)]
        volume = hypervolume(rows, objective, bounds)
        if not by_time or volume != by_time[-1][1]:
            by_time.append((spent_s, volume))
    return Hypervolume(bounds=dict(bounds), by_time=tuple(by_time))
