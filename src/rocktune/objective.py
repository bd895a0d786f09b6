"""What is to be improved: a measurement's field with a direction, or several balanced by the worse rank."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rocktune.errors import unknown_name
from rocktune.trial import FIGURES, Result

LARGER_IS_BETTER = frozenset({"throughput_ops_s"})
SMALLER_IS_BETTER = frozenset(FIGURES) - LARGER_IS_BETTER
BALANCE = "balance"


@dataclass(frozen=True)
class Objective:
    """One or several measurement fields.

    Several are balanced as in Dremel, section 4.5.1: a configuration's rank is the worse of its ranks.

    Attributes:
        name: the field's name, or "balance".
        fields: the fields ranked.
    """

    name: str
    fields: tuple[str, ...]

    @property
    def primary(self) -> str:
        """The field in which ratios to the baseline are stated."""
        return self.fields[0]

    def is_better(self, field: str) -> int:
        """Returns +1 where larger values of `field` are better, -1 where smaller ones are."""
        return 1 if field in LARGER_IS_BETTER else -1

    def ranks(self, results: Sequence[Result]) -> list[int]:
        """Ranks results, 0 the best.

        Failed trials, and fields that are not defined, rank behind all others. Ties keep the given order,
        and so does the whole ranking of two results whose worse ranks are equal but for their first field.

        Args:
            results: of equal age.

        Returns:
            The position of each result in the order from best to worst, a permutation of 0 .. len - 1.
        """
        return self.ranks_of([[result.figure(field) for field in self.fields] for result in results])

    def ranks_of(self, figures: Sequence[Sequence[float]]) -> list[int]:
        """Ranks rows of figures as `ranks` does results.

        Args:
            figures: one row for each thing ranked, one column for each of `fields`; NaN ranks last.
        """
        values = np.array(
            [
                [self._sortable(field, value) for field, value in zip(self.fields, row, strict=True)]
                for row in figures
            ]
        )
        if values.size == 0:
            return []
        field_ranks = np.argsort(np.argsort(-values, axis=0, kind="stable"), axis=0, kind="stable")
        order = np.lexsort((np.arange(len(values)), field_ranks[:, 0], field_ranks.max(axis=1)))
        return [int(position) for position in np.argsort(order)]

    def _sortable(self, field: str, value: float) -> float:
        return -np.inf if np.isnan(value) else self.is_better(field) * value

    def score(self, result: Result) -> float:
        """Returns the primary field's value, signed so that larger is better; NaN for a failed trial."""
        return self.is_better(self.primary) * result.figure(self.primary)

    def improvement(self, value: float, reference: float) -> float:
        """Returns how many times better `value` is than `reference` in the primary field."""
        return value / reference if self.is_better(self.primary) > 0 else reference / value


def objective_named(name: str) -> Objective:
    """Returns the objective for a measurement field, or "balance" (throughput and p99 read latency).

    Raises:
        UserError: there is no such objective.
    """
    if name == BALANCE:
        return Objective(BALANCE, ("throughput_ops_s", "read_latency_us_p99"))
    if name not in LARGER_IS_BETTER | SMALLER_IS_BETTER:
        raise unknown_name("objective", name, LARGER_IS_BETTER | SMALLER_IS_BETTER | {BALANCE})
    return Objective(name, (name,))
