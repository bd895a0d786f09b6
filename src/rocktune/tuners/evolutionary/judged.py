"""What is known of places of the unit cube once they are measured."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rocktune.objective import Objective
from rocktune.trial import Result


@dataclass(frozen=True)
class Judged:
    """What is known of places.

    Attributes:
        gains: a row for each place, a column for each objective; larger is better, minus infinity for a
            failure.
        violations: by how much each breaks the constraints; 0 for none.
    """

    gains: NDArray[np.float64]
    violations: NDArray[np.float64]


def judged(results: Sequence[Result], objective: Objective) -> Judged:
    """Returns what results are worth, as arrays."""
    rows = [objective.row(result) for result in results]
    return Judged(objective.gains(rows), np.array([objective.violation(row) for row in rows]))
