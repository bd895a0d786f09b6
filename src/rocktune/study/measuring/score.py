"""The score by which a lane decides which parked runs to keep."""

import math
from dataclasses import dataclass

from rocktune.objective import Objective
from rocktune.trial import Measurement


@dataclass(frozen=True)
class PrimaryScore:
    """Scores a run by the objective's first field in its latest window; larger is better.

    It is a class, not a closure, so that it can be pickled for other machines.
    """

    objective: Objective

    def __call__(self, window: Measurement) -> float:
        """Returns the score of a run's latest window; minus infinity for a figure without a value."""
        field = self.objective.primary
        value = self.objective.direction(field) * self.objective.figure_of(window, field)
        return -math.inf if math.isnan(value) else value


def equal_score(_: Measurement) -> float:
    """Scores all runs alike, for phases that park none or need all that they park."""
    return 0.0
