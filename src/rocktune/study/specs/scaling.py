"""Makes the specification of a scale check from a request, and checks all that needs no measuring."""

from rocktune.engine import CommandSpec, RecordedSpec
from rocktune.engine.spec import FULL_LENGTH_S
from rocktune.errors import UserError
from rocktune.objective import objective_named
from rocktune.outcome import LARGER_FACTOR
from rocktune.study.specs.goals import check_operations
from rocktune.study.specs.protocol import protocol_of
from rocktune.study.specs.request import StudyRequest, engine_spec
from rocktune.study.specs.resolving import (
    OwnOptions,
    conditions_of,
    default_objective,
    named,
    no_own_options,
)
from rocktune.study.specs.spec import MAX_CHECKED, MIN_CHECKED, ScaleCheckSpec
from rocktune.trial import FIGURES
from rocktune.units import format_scale


def resolve_scale_check(
    request: StudyRequest, name: str, configurations: int, own_options: OwnOptions = no_own_options
) -> ScaleCheckSpec:
    """Returns the scale check that a request describes. Its tuner, constraints and budget are ignored.

    Args:
        request: the user's request.
        name: name of the check.
        configurations: number of configurations, from `MIN_CHECKED` to `MAX_CHECKED`.
        own_options: see `OwnOptions`.

    Raises:
        UserError: names the first mistake in the request.
    """
    if not MIN_CHECKED <= configurations <= MAX_CHECKED:
        raise UserError(
            f"configurations: {configurations} must be from {MIN_CHECKED} to {MAX_CHECKED}; fewer do not "
            "show how well a model ranks"
        )
    engine = engine_spec(request)
    if isinstance(engine, CommandSpec | RecordedSpec):
        raise UserError(
            f"engine: '{engine.kind}' has no models of several sizes; choose engine 'embedded' or 'db_bench'"
        )
    protocol = protocol_of(request, engine)
    objective = objective_named(request.objective or default_objective(protocol))
    if len(objective.fields) > 1:
        raise UserError(
            f"objective: models are compared by one figure, not by {objective.name}; give one --objective"
        )
    if objective.primary not in FIGURES:
        raise UserError(
            f"objective: models are compared by a measured figure, not by {objective.name}; give one such as "
            f"{default_objective(protocol)}"
        )
    conditions = named(name) | conditions_of(request, engine, own_options, protocol)
    check_operations(objective, conditions["workload"], engine)
    if conditions["scale"] % LARGER_FACTOR:
        raise UserError(
            f"scale: {format_scale(conditions['scale'])} has no model {LARGER_FACTOR} times larger; give 1/S "
            f"with S a multiple of {LARGER_FACTOR}, such as 1/64"
        )
    return ScaleCheckSpec(
        **conditions,
        configurations=configurations,
        objective=objective.primary,
        protocol=protocol,
        run_s=FULL_LENGTH_S,
    )
