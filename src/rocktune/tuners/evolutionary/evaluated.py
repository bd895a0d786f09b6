"""The gains and violations of measured points of the unit cube."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rocktune.objective import Objective
from rocktune.trial import Result


@dataclass(frozen=True)
class Evaluated:
    """The gains and violations of measured points.

    Attributes:
        gains: a row for each point, a column for each objective; larger is better, minus infinity for a
            failed trial.
        violations: violation of the constraints by each point; 0 if it keeps all.
    """

    gains: NDArray[np.float64]
    violations: NDArray[np.float64]


def evaluated(results: Sequence[Result], objective: Objective) -> Evaluated:
    """Returns the gains and violations of results."""
    rows = [objective.row(result) for result in results]
    return Evaluated(objective.gains(rows), np.array([objective.violation(row) for row in rows]))
