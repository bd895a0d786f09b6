"""What is to be improved, and what must hold meanwhile: fields of a measurement with directions and bounds.

One field; several balanced by the worse rank; or several of which none is preferred, whose Pareto front is
then what is looked for. Constraints come before objectives (Deb's rules): whatever keeps them is better than
whatever does not, and of two that do not, the one that breaks them less.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from rocktune.errors import UserError, unknown_name
from rocktune.trial import FIGURES, Result, Status

LARGER_IS_BETTER = frozenset({"throughput_ops_s"})
SMALLER_IS_BETTER = frozenset(FIGURES) - LARGER_IS_BETTER
BALANCE = "balance"

Row = Mapping[str, float]
"""Figures by measurement field."""


class Feasibility(StrEnum):
    """Whether a result keeps the constraints; one that failed has no figures to tell."""

    FEASIBLE = "feasible"
    INFEASIBLE = "infeasible"
    FAILED = "failed"


@dataclass(frozen=True)
class Constraint:
    """A bound on a measurement field, such as a service level objective.

    Attributes:
        field: the measurement field.
        at_most: whether the bound is an upper one.
        bound: in the field's unit, above 0.
    """

    field: str
    at_most: bool
    bound: float

    def violation(self, value: float) -> float:
        """Returns by which share of the bound it is missed: 0 where it is kept, infinity for NaN."""
        if math.isnan(value):
            return math.inf
        excess = value - self.bound if self.at_most else self.bound - value
        return max(0.0, excess / self.bound)

    def __str__(self) -> str:
        return f"{self.field}{'<=' if self.at_most else '>='}{self.bound:g}"


_CONSTRAINT = re.compile(r"\s*(\w+)\s*(<=|>=)\s*(\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)\s*")


def parse_constraint(text: str) -> Constraint:
    """Reads a constraint as people write it: `read_latency_us_p99<=250`.

    Raises:
        UserError: it is malformed, its field is unknown, or its bound is 0.
    """
    match = _CONSTRAINT.fullmatch(text)
    if match is None:
        raise UserError(
            f"constraint: '{text}' is not of the form FIELD<=NUMBER or FIELD>=NUMBER, such as "
            "read_latency_us_p99<=250"
        )
    field, sign, number = match.groups()
    if field not in FIGURES:
        raise unknown_name("constraint:", field, FIGURES)
    if float(number) == 0:
        raise UserError(f"constraint: '{text}' has the bound 0; bounds are above 0")
    return Constraint(field, sign == "<=", float(number))


@dataclass(frozen=True)
class Objective:
    """One or several measurement fields, and constraints.

    Attributes:
        name: the field's name, "balance", or the names of several fields with commas between them.
        fields: those to be improved. The first is the one in which ratios to the baseline are stated.
        constraints: what must hold.
        seeks_front: whether several fields are equally dear, so that the answer is a Pareto front; otherwise
            several are balanced as in Dremel, section 4.5.1: a result's rank is the worse of its ranks.
    """

    name: str
    fields: tuple[str, ...]
    constraints: tuple[Constraint, ...] = ()
    seeks_front: bool = False

    @property
    def primary(self) -> str:
        """The field in which ratios to the baseline are stated."""
        return self.fields[0]

    @property
    def all_fields(self) -> tuple[str, ...]:
        """The fields of objectives and constraints, each once: what a measurement has to have."""
        return tuple(dict.fromkeys((*self.fields, *(constraint.field for constraint in self.constraints))))

    def is_better(self, field: str) -> int:
        """Returns +1 where larger values of `field` are better, -1 where smaller ones are."""
        return 1 if field in LARGER_IS_BETTER else -1

    def row(self, result: Result) -> dict[str, float]:
        """Returns a result's figures for `all_fields`; NaN for a failed one."""
        return {field: result.figure(field) for field in self.all_fields}

    def violation(self, row: Row) -> float:
        """Returns the sum of the constraints' violations; 0 where all are kept."""
        return math.fsum(constraint.violation(row[constraint.field]) for constraint in self.constraints)

    def feasibility(self, result: Result) -> Feasibility:
        """Returns whether a result keeps the constraints."""
        if result.status is not Status.OK:
            return Feasibility.FAILED
        return Feasibility.INFEASIBLE if self.violation(self.row(result)) else Feasibility.FEASIBLE

    def ranks(self, results: Sequence[Result]) -> list[int]:
        """Ranks results, 0 the best.

        Failed trials, and fields that are not defined, rank behind all others; then come those that break
        constraints, the worst last; then, where a front is sought, fronts behind the first. Ties keep the
        given order, and so does the whole ranking of two results whose worse ranks are equal but for their
        first field.

        Args:
            results: of equal age.

        Returns:
            The position of each result in the order from best to worst, a permutation of 0 .. len - 1.
        """
        return self.ranks_of([self.row(result) for result in results])

    def ranks_of(self, rows: Sequence[Row]) -> list[int]:
        """Ranks rows of figures as `ranks` does results.

        Args:
            rows: figures for `all_fields`; NaN ranks last.
        """
        if not rows:
            return []
        gains = self.gains(rows)
        failed = np.isneginf(gains).all(axis=1)
        violations = np.array([self.violation(row) for row in rows])
        fronts = fronts_of(gains, violations) if self.seeks_front else np.zeros(len(rows), dtype=np.intp)
        field_ranks = np.argsort(np.argsort(-gains, axis=0, kind="stable"), axis=0, kind="stable")
        worst_ranks = field_ranks.max(axis=1)
        # The last key counts first.
        order = np.lexsort((np.arange(len(rows)), field_ranks[:, 0], worst_ranks, fronts, violations, failed))
        return [int(position) for position in np.argsort(order)]

    def front(self, rows: Sequence[Row]) -> list[int]:
        """Returns the positions of the feasible rows that no other feasible one dominates.

        Of rows with equal figures one is kept.

        Args:
            rows: figures for `all_fields`.

        Returns:
            The row that is best in the first field first.
        """
        feasible = [index for index, row in enumerate(rows) if self.violation(row) == 0]
        gains = self.gains([rows[index] for index in feasible])
        known = np.flatnonzero(np.isfinite(gains).all(axis=1))
        feasible, gains = [feasible[each] for each in known], gains[known]
        _, firsts = np.unique(gains, axis=0, return_index=True)
        fronts = fronts_of(gains, np.zeros(len(gains)))
        kept = sorted((each for each in firsts if fronts[each] == 0), key=lambda each: -gains[each, 0])
        return [feasible[each] for each in kept]

    def score(self, result: Result) -> float:
        """Returns the primary field's value, signed so that larger is better; NaN unless feasible."""
        if self.feasibility(result) is not Feasibility.FEASIBLE:
            return math.nan
        return self.is_better(self.primary) * result.figure(self.primary)

    def improvement(self, value: float, reference: float) -> float:
        """Returns how many times better `value` is than `reference` in the primary field."""
        return value / reference if self.is_better(self.primary) > 0 else reference / value

    def gains(self, rows: Sequence[Row]) -> NDArray[np.float64]:
        """Returns the objective fields of each row, larger is better; minus infinity for NaN."""
        signs = np.array([self.is_better(field) for field in self.fields])
        figures = np.array([[row[field] for field in self.fields] for row in rows])
        gains = signs * figures.reshape(len(rows), len(self.fields))
        return np.where(np.isnan(gains), -np.inf, gains)


def fronts_of(gains: NDArray[np.float64], violations: NDArray[np.float64]) -> NDArray[np.intp]:
    """Returns for each row the number of the front it is in, 0 the first, by constrained domination.

    Args:
        gains: a row for each result, a column for each objective; larger is better.
        violations: of each result; a smaller one dominates whatever the gains.
    """
    count = len(gains)
    no_worse = (gains[:, None, :] >= gains[None, :, :]).all(axis=2)
    better = (gains[:, None, :] > gains[None, :, :]).any(axis=2)
    milder = violations[:, None] < violations[None, :]
    dominates = milder | ((violations[:, None] == violations[None, :]) & no_worse & better)
    fronts = np.full(count, -1, dtype=np.intp)
    number = 0
    while (fronts < 0).any():
        left = fronts < 0
        dominated = dominates[left].any(axis=0)
        fronts[left & ~dominated] = number
        number += 1
    return fronts


def objective_named(name: str | Sequence[str], constraints: Sequence[str] = ()) -> Objective:
    """Returns an objective.

    Args:
        name: a measurement field, "balance" (throughput and p99 read latency), or several fields, one by one
            or with commas between them (as in `Objective.name`), whose Pareto front is sought.
        constraints: such as "read_latency_us_p99<=250".

    Raises:
        UserError: there is no such objective, or one twice, or a constraint is malformed.
    """
    names = tuple(part.strip() for part in name.split(",")) if isinstance(name, str) else tuple(name)
    kept = tuple(parse_constraint(text) for text in constraints)
    if names == (BALANCE,):
        return Objective(BALANCE, ("throughput_ops_s", "read_latency_us_p99"), kept)
    for each in names:
        if each == BALANCE:
            raise UserError("objective: 'balance' balances by itself; name it alone, or name its fields")
        if each not in FIGURES:
            raise unknown_name("objective", each, {*FIGURES, BALANCE})
    if len(set(names)) < len(names):
        raise UserError("objective: named twice; name each field once")
    return Objective(", ".join(names), names, kept, seeks_front=len(names) > 1)
