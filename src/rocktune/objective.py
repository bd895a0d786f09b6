"""Objectives and constraints: the figures to improve and the bounds that other figures must keep.

An objective has one field, or several fields that are balanced by their worst rank, or several fields whose
Pareto front is sought. A field is a figure of the measurement, the cost of operations, or a weighted sum of
such fields. Constraints come before objectives (Deb's rules): a result that keeps all constraints
beats one that breaks any. Of two results that break constraints, the smaller violation is better.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from rocktune.constraint import NAMES, Constraint, parse_constraint
from rocktune.cost import COST, COST_PARTS, Pricing
from rocktune.errors import UserError, unknown_name
from rocktune.fronts import fronts_of
from rocktune.measurement import Measurement
from rocktune.trial import FIGURES, Result, Status
from rocktune.weights import is_weighted, parse_weighted

# Every figure is one of the two, so that a new figure cannot be without a direction.
LARGER_IS_BETTER = frozenset({"throughput_ops_s", "sustained_throughput_ops_s"})
SMALLER_IS_BETTER = frozenset(FIGURES) - LARGER_IS_BETTER
BALANCE = "balance"
MAY_BE_ZERO = frozenset(
    {
        "stalled_share",
        "max_write_stop_s",
        "others_cpu_share",
        "compaction_debt_bytes",
        "skipped_keys_per_scan",
    }
)
"""Figures that are 0 in a good store, so that ratios and logarithms of them are not defined."""

Row = Mapping[str, float]
"""Figures by measurement field."""


class Feasibility(StrEnum):
    """Whether a result keeps the constraints, or failed and has no figures."""

    FEASIBLE = "feasible"
    INFEASIBLE = "infeasible"
    FAILED = "failed"


@dataclass(frozen=True)
class Objective:
    """The measurement fields to improve and the constraints to keep.

    Attributes:
        name: the field's name, "balance", or the names of several fields with commas between them.
        fields: names of the fields to improve, at least one. Ratios to the baseline use the first.
        constraints: the bounds that a feasible result keeps.
        seeks_front: whether a search returns the Pareto front of several fields. Otherwise several fields are
            balanced: a result's rank is the worst of its ranks by field (Dremel, section 4.5.1).
        pricing: prices of the field `cost`; None if no field is.
    """

    name: str
    fields: tuple[str, ...]
    constraints: tuple[Constraint, ...] = ()
    seeks_front: bool = False
    pricing: Pricing | None = None

    def against(self, baseline: Row) -> "Objective":
        """Returns the objective with the bounds that follow from the baseline (`Constraint.against`).

        Args:
            baseline: the baseline's figures for `all_fields`; NaN for those that it does not have.
        """
        bounds = tuple(each.against(baseline[each.field]) for each in self.constraints)
        return replace(self, constraints=bounds)

    def tightened(self, ratios: Mapping[str, float]) -> "Objective":
        """Returns the objective with stricter bounds.

        Args:
            ratios: by field of a constraint a ratio of at least 1, see `Constraint.tightened`. A field
                without one keeps its bound.
        """
        bounds = tuple(each.tightened(ratios.get(each.field, 1.0)) for each in self.constraints)
        return replace(self, constraints=bounds)

    @property
    def primary(self) -> str:
        """The first field, in which ratios to the baseline are stated."""
        return self.fields[0]

    @property
    def all_fields(self) -> tuple[str, ...]:
        """The fields of objectives and constraints without repetition; ranking needs all of them."""
        return tuple(dict.fromkeys((*self.fields, *(constraint.field for constraint in self.constraints))))

    @property
    def measured_fields(self) -> tuple[str, ...]:
        """The figures that an engine has to report for `all_fields`. The cost is made of counters."""
        terms = (term for field in self.all_fields for term in terms_of(field))
        return tuple(dict.fromkeys(term for term in terms if term != COST))

    @property
    def shown_fields(self) -> tuple[str, ...]:
        """`all_fields` with the terms of weighted sums and the parts of the cost."""
        terms = tuple(term for field in self.all_fields for term in terms_of(field))
        parts = self.pricing.parts if COST in terms and self.pricing is not None else ()
        return tuple(dict.fromkeys((*self.all_fields, *terms, *parts)))

    def direction(self, field: str) -> int:
        """Returns +1 if larger values of `field` are better, -1 if smaller values are."""
        return 1 if is_larger_better(field) else -1

    def figure(self, result: Result, field: str) -> float:
        """Returns a result's value of any field of an objective; NaN if the trial failed."""
        return math.nan if result.measurement is None else self.figure_of(result.measurement, field)

    def figure_of(self, measured: Measurement, field: str) -> float:
        """Returns a window's value of any field of an objective; NaN if it is not defined.

        It is the worst over the workloads of a run on several, and NaN if one of them has none.

        Raises:
            ValueError: the field is a cost and this objective has no prices.
        """
        figures = self.figures_by_workload(measured, field)
        if any(map(math.isnan, figures)):
            return math.nan
        return min(figures) if is_larger_better(field) else max(figures)

    def figures_by_workload(self, measured: Measurement, field: str) -> list[float]:
        """Returns a window's values of a field on its workload and on each of its neighbours."""
        return [self._figure_on(each, field) for each in (measured, *measured.neighbours.values())]

    def _figure_on(self, measured: Measurement, field: str) -> float:
        """Returns a window's value of a field on its own workload; see `figure_of`."""
        if is_weighted(field):
            weighted = parse_weighted(field)
            figures = {term: self._figure_on(measured, term) for term in weighted.weights}
            return weighted.score(figures, {term: self.direction(term) for term in figures})
        if field == COST or field in COST_PARTS:
            if self.pricing is None:
                raise ValueError(f"objective: '{field}' needs prices")
            return self.pricing.figure(measured, field)
        return measured.figures[field]

    def row(self, result: Result) -> dict[str, float]:
        """Returns a result's figures for `all_fields` by name; all NaN if the trial failed."""
        return {field: self.figure(result, field) for field in self.all_fields}

    def violation(self, row: Row) -> float:
        """Returns the sum of the constraints' violations; 0 if all are kept.

        No constraint may be relative to the baseline any more; see `against`.
        """
        return math.fsum(constraint.violation(row[constraint.field]) for constraint in self.constraints)

    def feasibility(self, result: Result) -> Feasibility:
        """Returns whether a result keeps all constraints, breaks one, or failed."""
        if result.status is not Status.OK:
            return Feasibility.FAILED
        return Feasibility.INFEASIBLE if self.violation(self.row(result)) else Feasibility.FEASIBLE

    def ranks(self, results: Sequence[Result]) -> list[int]:
        """Returns each result's rank, 0 for the best: a permutation of 0 .. len - 1.

        These criteria apply in turn; each decides only among results that the earlier ones leave equal:

        1. Results with figures rank before those without any (failed, or no objective field defined).
        2. A smaller violation of the constraints.
        3. The front number, if a front is sought.
        4. The worst of the result's ranks by single field.
        5. The rank in the first field.
        6. The order in `results`.

        Args:
            results: results of trials of equal age.
        """
        return self.ranks_of([self.row(result) for result in results])

    def ranks_of(self, rows: Sequence[Row]) -> list[int]:
        """Returns each row's rank by the criteria of `ranks`.

        Args:
            rows: figures for `all_fields`; NaN ranks last.
        """
        if not rows:
            return []
        gains = self.gains(rows)
        # A row may lack one field only, such as read latency without reads; it then ranks last in that field.
        failed = np.isneginf(gains).all(axis=1)
        violations = np.array([self.violation(row) for row in rows])
        fronts = fronts_of(gains, violations) if self.seeks_front else np.zeros(len(rows), dtype=np.intp)
        # Sorting twice turns an order into ranks; "stable" keeps ties in the order of the rows.
        field_ranks = np.argsort(np.argsort(-gains, axis=0, kind="stable"), axis=0, kind="stable")
        worst_ranks = field_ranks.max(axis=1)
        # lexsort compares by its last key first.
        order = np.lexsort((np.arange(len(rows)), field_ranks[:, 0], worst_ranks, fronts, violations, failed))
        return [int(rank) for rank in np.argsort(order)]

    def front(self, rows: Sequence[Row]) -> list[int]:
        """Returns the indices of the feasible rows that no other feasible row dominates, best first.

        They are ordered by the first field. Of several rows with equal figures only the first is returned.

        Args:
            rows: figures for `all_fields`; a row with NaN in an objective field is left out.
        """
        feasible = [index for index, row in enumerate(rows) if self.violation(row) == 0]
        gains = self.gains([rows[index] for index in feasible])
        # A result may keep all constraints and still lack a figure, such as read latency without reads.
        known = np.flatnonzero(np.isfinite(gains).all(axis=1))
        feasible, gains = [feasible[each] for each in known], gains[known]
        # Equal rows do not dominate each other, so all of them would be on the front.
        _, firsts = np.unique(gains, axis=0, return_index=True)
        fronts = fronts_of(gains, np.zeros(len(gains)))
        kept = sorted((each for each in firsts if fronts[each] == 0), key=lambda each: -gains[each, 0])
        return [feasible[each] for each in kept]

    def scores(self, results: Sequence[Result]) -> list[float]:
        """Returns each result's score, larger is better; NaN unless it is feasible.

        With one field, the score is the field's value, negated if smaller is better. With several fields it
        is 1 less the share of the other feasible results that beat the result in its worst field, from 0 to
        1. Such scores have a meaning only among these results.

        Args:
            results: results of trials of equal age.
        """
        # NaN for infeasible results too, so that no tuner mistakes one for a reward.
        feasible = [
            index for index, each in enumerate(results) if self.feasibility(each) is Feasibility.FEASIBLE
        ]
        gains = self.gains([self.row(results[index]) for index in feasible])
        unknown = np.isneginf(gains).all(axis=1)
        if len(self.fields) == 1:
            found = gains[:, 0]
        else:
            # Equal figures beat nobody, so a field without figures does not count.
            beaten = (gains[None, :, :] > gains[:, None, :]).sum(axis=1)
            found = 1 - beaten.max(axis=1, initial=0) / max(len(feasible) - 1, 1)
        scores = np.full(len(results), np.nan)
        scores[feasible] = np.where(unknown, np.nan, found)
        return [float(score) for score in scores]

    def improvement(self, value: float, reference: float) -> float:
        """Returns how many times better `value` is than `reference` in the primary field."""
        return value / reference if self.direction(self.primary) > 0 else reference / value

    def gains(self, rows: Sequence[Row]) -> NDArray[np.float64]:
        """Returns the objective fields of the rows, negated where smaller is better.

        Shape (rows, fields); larger is better, and minus infinity stands for NaN.
        """
        signs = np.array([self.direction(field) for field in self.fields])
        figures = np.array([[row[field] for field in self.fields] for row in rows])
        gains = signs * figures.reshape(len(rows), len(self.fields))
        return np.where(np.isnan(gains), -np.inf, gains)


def is_larger_better(field: str) -> bool:
    """Returns whether larger values of any field of an objective are better."""
    return field in LARGER_IS_BETTER or is_weighted(field)


def terms_of(field: str) -> tuple[str, ...]:
    """Returns the figures of a weighted sum, and any other field itself."""
    return tuple(parse_weighted(field).weights) if is_weighted(field) else (field,)


def objective_named(
    name: str | Sequence[str],
    constraints: Sequence[str] = (),
    defaults: Sequence[str] = (),
    pricing: Pricing | None = None,
) -> Objective:
    """Returns the objective with this name and these constraints.

    Args:
        name: a field, "balance" (throughput and p99 read latency), or several fields whose Pareto front is
            sought, as a sequence or as one text with commas between them. A field is a figure, "cost", or a
            weighted sum of those (see `parse_weighted`).
        constraints: texts for `parse_constraint`, such as "read_latency_us_p99<=250".
        defaults: the same for the default constraints.
        pricing: prices of the field "cost"; without them the objective has no values of that field.

    Raises:
        UserError: a field is unknown or named twice, or a constraint is malformed.
    """
    names = tuple(part.strip() for part in name.split(",")) if isinstance(name, str) else tuple(name)
    kept = (*map(parse_constraint, constraints), *(parse_constraint(text, True) for text in defaults))
    if names == (BALANCE,):
        return Objective(BALANCE, ("throughput_ops_s", "read_latency_us_p99"), kept, pricing=pricing)
    fields = tuple(_field(each) for each in names)
    if len(set(fields)) < len(fields):
        raise UserError("objective: a field is named twice; name each field once")
    return Objective(", ".join(fields), fields, kept, seeks_front=len(fields) > 1, pricing=pricing)


def _field(name: str) -> str:
    """Returns the field that the name of an objective stands for.

    Raises:
        UserError: a figure is unknown, or has no ratio that a weighted sum could use.
    """
    if is_weighted(name):
        weighted = parse_weighted(name)
        for term in weighted.weights:
            if term not in NAMES:
                raise unknown_name("objective", term, NAMES)
            if term in MAY_BE_ZERO:
                raise UserError(f"objective: {term} may be 0 and has no ratio; bound it with --constraint")
        return str(weighted)
    if name == BALANCE:
        raise UserError(
            "objective: 'balance' cannot be combined with other fields; name it alone, or name the fields"
        )
    if name not in NAMES:
        raise unknown_name("objective", name, {*NAMES, BALANCE})
    return name
