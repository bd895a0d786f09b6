"""The bounds that follow from the baseline: multiples of its figures, and defaults that it breaks itself."""

import math
from collections.abc import Sequence

from rocktune.constraint import YIELDED_FACTOR
from rocktune.errors import UserError
from rocktune.ledger import TrialRecord
from rocktune.objective import Objective
from rocktune.outcome import Bound
from rocktune.study.proving.statistics import mean_interval
from rocktune.trial import Result, Status


def bounded_by(objective: Objective, baseline: Sequence[Result]) -> Objective:
    """Returns the objective with the bounds that follow from the means of the baseline's runs.

    Args:
        objective: the objective with the constraints as stated.
        baseline: runs of the baseline at equal age. Failed ones have no figures; without others, no bound
            that is a multiple of a figure is kept by anything.
    """
    return objective.against(
        {
            field: mean_interval([objective.figure(run, field) for run in baseline]).value
            for field in objective.all_fields
        }
    )


def searched(objective: Objective, baseline: Result) -> Objective:
    """Returns the objective with the bounds of a search.

    Args:
        objective: the objective with the constraints as stated.
        baseline: the run of the baseline before the search.

    Raises:
        UserError: a constraint is a multiple of a figure that the baseline does not have.
    """
    for constraint in objective.constraints:
        if constraint.is_relative and math.isnan(objective.figure(baseline, constraint.field)):
            why = (
                "the baseline's run has no such figure"
                if baseline.status is Status.OK
                else f"the baseline's run failed ({baseline.status}: {baseline.message})"
            )
            raise UserError(f"constraint: '{constraint}': {why}; give the bound as a number in its unit")
    return bounded_by(objective, [baseline])


def recorded_bounds(objective: Objective, trials: Sequence[TrialRecord]) -> Objective:
    """Returns the objective with the bounds of a recorded search.

    Args:
        objective: the objective with the constraints as stated.
        trials: the trials of its study, in the order of measuring.
    """
    baseline = [record.result for record in trials if record.phase == "baseline"]
    return bounded_by(objective, baseline[-1:])


def bounds_of(stated: Objective, bounded: Objective) -> tuple[Bound, ...]:
    """Returns the constraints with their bounds as the outcome has them.

    Args:
        stated: the objective with the constraints as stated.
        bounded: the same with the bounds that follow from the baseline.
    """
    return tuple(
        Bound(
            constraint=str(before),
            field=before.field,
            at_most=before.at_most,
            bound=after.bound if math.isfinite(after.bound) else None,
            is_default=before.is_default,
            has_yielded=before.is_default and after != before,
        )
        for before, after in zip(stated.constraints, bounded.constraints, strict=True)
    )


def yielded_sentence(bounds: Sequence[Bound]) -> str:
    """Returns a sentence on the defaults that the baseline breaks; "" if it keeps all."""
    broken = [bound for bound in bounds if bound.has_yielded]
    if not broken:
        return ""
    names = " and ".join(bound.constraint for bound in broken)
    return (
        f"The baseline itself does not keep {names}. The bound is {YIELDED_FACTOR:g} times its own figure "
        "instead."
    )
