"""The importance of knobs for a figure: Jia and Chen's R² (section VI-2), and functional ANOVA."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocktune.errors import UserError, unknown_name
from rocktune.table import Table, TableRow
from rocktune.trial import FIGURES, Status, Value

MIN_RUNS = 10
MAX_LEVELS = 16
"""Number of values of a knob above which its values are put into this many groups of equal size."""
# The time of functional ANOVA grows with the number of runs; beyond this many it uses a sample.
_MAX_ROWS_OF_FANOVA = 1000
# Optuna's 64 trees, grown in parts, because it cannot tell how far it is.
_FANOVA_PARTS = 4
_TREES_OF_PART = 16

Reals = NDArray[np.float64]


def importance_of(
    table: Table,
    fields: Sequence[str],
    seed: int = 0,
    progress: Callable[[float, float], None] = lambda done, total: None,  # noqa: ARG005 - ignores it
) -> dict[str, list[dict[str, Any]]]:
    """Returns how much of each figure's variance each knob explains.

    Args:
        table: table of measurements; failed runs are left out.
        fields: names of figures.
        seed: seed of functional ANOVA's random forest, and of its sample if there are over 1,000 runs.
        progress: called with the parts of the work that are done, and their number.

    Returns:
        By field one row for each knob that takes several values, the most important by R² first. `knob`: its
        name. `r2`: R² of the knob alone, from 0 to 1, among the runs in which it is active.
        `r2_given_first`: the highest R² of the knob among runs with one value of the first knob; None for the
        first. `given`: that value. `fanova`: the share of the variance that functional ANOVA gives to the
        knob; all shares add up to 1.

    Raises:
        UserError: a field is unknown or has no values, or there are too few runs.
    """
    for field in fields:
        if field not in FIGURES:
            raise unknown_name("field", field, FIGURES)
    rows = {field: _sound(table, field) for field in fields}
    parts = _FANOVA_PARTS * len(fields)
    progress(0, parts)
    found = {}
    for place, field in enumerate(fields):
        done = partial(_report, progress, place * _FANOVA_PARTS, parts)
        found[field] = _importance(rows[field], field, seed, done)
    return found


def _report(progress: Callable[[float, float], None], before: int, parts: int, part: int) -> None:
    """Reports that a part is done, behind `before` parts of others."""
    progress(before + part, parts)


def _sound(table: Table, field: str) -> list[TableRow]:
    """Returns the successful runs that have a figure.

    Raises:
        UserError: there are fewer than `MIN_RUNS`.
    """
    known = [row for row in table.rows if row.status is Status.OK]
    rows = [row for row in known if not math.isnan(row.figures[field])]
    if len(rows) < MIN_RUNS:
        raise UserError(
            f"importance of {field}: only {len(rows)} runs have this figure; at least {MIN_RUNS} are needed"
        )
    return rows


def _importance(
    rows: Sequence[TableRow], field: str, seed: int, progress: Callable[[int], None]
) -> list[dict[str, Any]]:
    """Returns the rows of one figure; see `importance_of`.

    Raises:
        UserError: no knob varies, or the figure does not.
    """
    explained = explained_by_knobs(rows, field)
    values = np.array([row.figures[field] for row in rows])
    shares = _fanova(rows, [each["knob"] for each in explained], values, seed, progress)
    return [each | {"fanova": shares[each["knob"]]} for each in explained]


def explained_by_knobs(rows: Sequence[TableRow], field: str) -> list[dict[str, Any]]:
    """Returns the rows of `importance_of` for one figure without the shares of functional ANOVA.

    Args:
        rows: successful runs that have the figure.
        field: name of the figure.

    Raises:
        UserError: no knob varies, or the figure does not.
    """
    values = np.array([row.figures[field] for row in rows])
    names = dict.fromkeys(name for row in rows for name in row.configuration)
    groups = {name: _groups([row.configuration.get(name) for row in rows]) for name in names}
    varied = {name: column for name, column in groups.items() if len(set(column[column >= 0].tolist())) > 1}
    if not varied or values.min() == values.max():
        raise UserError(f"importance of {field}: neither a knob nor the figure varies in these runs")
    alone = {name: r_squared(column[column >= 0], values[column >= 0]) for name, column in varied.items()}
    first = max(alone, key=lambda name: alone[name])
    found = []
    for name, r2 in alone.items():
        given_first, group = (None, None) if name == first else _given(varied[first], varied[name], values)
        given = None if group is None else rows[group].configuration[first]
        found.append(
            {
                "knob": name,
                "r2": r2,
                "r2_given_first": given_first,
                "given": None if given is None else {first: given},
            }
        )
    # The first knob leads; the others follow by R² given the first, since alone they drown in its variance.
    return sorted(found, key=lambda each: (each["knob"] != first, -(each["r2_given_first"] or 0.0)))


def r_squared(groups: NDArray[np.intp], values: Reals) -> float:
    """Returns R² of a least-squares fit with one indicator variable per group: 1 - residual / total variance.

    The fitted value of a run is the mean of its group, so R² is the share of the variance between groups.

    Args:
        groups: group of each run, numbered from 0.
        values: figure of each run.

    Returns:
        R² from 0 to 1; 0 if all values are equal.
    """
    total = float(((values - values.mean()) ** 2).sum())
    if total == 0:
        return 0.0
    counts = np.bincount(groups)
    means = np.bincount(groups, weights=values) / np.maximum(counts, 1)
    return 1 - float(((values - means[groups]) ** 2).sum()) / total


def _given(
    first: NDArray[np.intp], other: NDArray[np.intp], values: Reals
) -> tuple[float | None, int | None]:
    """Returns the highest R² of a knob among runs in one group of the first knob, and such a run's index."""
    best: tuple[float | None, int | None] = (None, None)
    for group in np.unique(first[first >= 0]):
        inside = np.flatnonzero((first == group) & (other >= 0))
        # With about one run per value every run is its group's mean, and R² would be 1 by construction.
        if len(inside) <= 2 * len(set(other[inside].tolist())):
            continue
        r2 = r_squared(other[inside], values[inside])
        if best[0] is None or r2 > best[0]:
            best = (r2, int(inside[0]))
    return best


def _groups(column: Sequence[Value | None]) -> NDArray[np.intp]:
    """Returns the group of each value: one per distinct value, or its quantile if there are many.

    None, an inactive knob, is in group -1, which counts as no group.
    """
    levels = sorted(
        {value for value in column if value is not None}, key=lambda value: (isinstance(value, str), value)
    )
    if len(levels) <= MAX_LEVELS:
        numbers = {value: number for number, value in enumerate(levels)}
        return np.array([-1 if value is None else numbers[value] for value in column])
    reals = np.array([math.nan if value is None else float(value) for value in column])
    edges = np.nanquantile(reals, np.linspace(0, 1, MAX_LEVELS + 1)[1:-1])
    return np.where(np.isnan(reals), -1, np.searchsorted(np.unique(edges), reals, side="right"))


def _fanova(
    rows: Sequence[TableRow],
    names: Sequence[str],
    values: Reals,
    seed: int,
    progress: Callable[[int], None],
) -> dict[str, float]:
    """Returns by knob its share of the variance, from Optuna's functional ANOVA.

    Calls `progress` with the parts that are done.
    """
    # Imported here, because Optuna takes half a second to import.
    import optuna
    from optuna.importance import FanovaImportanceEvaluator

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    chosen = np.arange(len(rows))
    if len(rows) > _MAX_ROWS_OF_FANOVA:
        chosen = np.random.default_rng(seed).choice(len(rows), _MAX_ROWS_OF_FANOVA, replace=False)
    # The evaluator needs every knob in every run. The most frequent value of an inactive one explains least.
    columns = {name: _filled([row.configuration.get(name) for row in rows]) for name in names}
    distributions = {name: _distribution(column, optuna.distributions) for name, column in columns.items()}
    # Optuna computes importance only from its own studies, so the runs are entered into one in memory.
    study = optuna.create_study()
    for place in chosen.tolist():
        study.add_trial(
            optuna.trial.create_trial(
                params={name: column[place] for name, column in columns.items()},
                distributions=distributions,
                value=float(values[place]),
            )
        )
    shares = dict.fromkeys(names, 0.0)
    for part in range(_FANOVA_PARTS):
        # A knob's share is the mean over trees, hence also the mean over parts of equal size.
        evaluator = FanovaImportanceEvaluator(n_trees=_TREES_OF_PART, seed=seed * _FANOVA_PARTS + part)
        for name, share in evaluator.evaluate(study).items():
            shares[name] += share
        progress(part + 1)
    total = sum(shares.values())
    return {name: share / total if total else 0.0 for name, share in shares.items()}


def _filled(column: Sequence[Value | None]) -> list[Value]:
    """Returns the column with its most frequent value in place of None."""
    ((usual, _),) = Counter(value for value in column if value is not None).most_common(1)
    return [usual if value is None else value for value in column]


def _distribution(column: Sequence[Value], distributions: Any) -> Any:
    """Returns Optuna's distribution of a knob: categorical, whole-numbered or real, by its values."""
    levels = sorted(set(column), key=lambda value: (isinstance(value, str), value))
    if len(levels) <= MAX_LEVELS or isinstance(levels[0], str):
        return distributions.CategoricalDistribution(levels)
    if all(isinstance(value, int) for value in levels):
        return distributions.IntDistribution(levels[0], levels[-1])
    return distributions.FloatDistribution(float(levels[0]), float(levels[-1]))
