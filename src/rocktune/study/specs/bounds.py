"""Chooses the default constraints of a study."""

import itertools
from collections.abc import Sequence

from rocktune.constraint import NO_DEFAULTS, Constraint, parse_constraint
from rocktune.errors import UserError
from rocktune.outcome import Protocol

MAX_SPACE_AMPLIFICATION = 2.0
"""Bound of mean and maximum space amplification: bytes of the store for each byte of live data."""


def stated_constraints(asked: Sequence[str]) -> tuple[str, ...]:
    """Returns the constraints that a request states, without the word that leaves the defaults out.

    Raises:
        UserError: a constraint is malformed, or no figure can keep two of them.
    """
    stated = tuple(text for text in asked if text.strip() != NO_DEFAULTS)
    bounds = [parse_constraint(text) for text in stated]
    for low, high in itertools.product(bounds, bounds):
        # A multiple of the baseline's figure compares only with another one.
        comparable = low.field == high.field and low.is_relative == high.is_relative
        if comparable and high.at_most and not low.at_most and low.bound > high.bound:
            raise UserError(f"constraint: no figure keeps both {high} and {low}; leave one of them out")
    return stated


def default_constraints(
    asked: Sequence[str], protocol: Protocol, memory_bytes: int, is_part: bool
) -> tuple[str, ...]:
    """Returns the constraints that a study keeps although its request does not state them.

    They are the same for every tuner. Only the steady protocol has any, because the others repeat published
    evaluations, which had none. A constraint that the request states on a field replaces the default.

    Args:
        asked: the request's constraints.
        protocol: the study's protocol.
        memory_bytes: the memory budget at full size.
        is_part: whether the budget is that of one column family among others, so that it bounds only a part
            of the store's memory.

    Raises:
        UserError: a constraint of the request is malformed.
    """
    stated = stated_constraints(asked)
    if protocol != "steady" or len(stated) < len(asked):
        return ()
    bounds = {
        "mean_space_amplification": MAX_SPACE_AMPLIFICATION,
        "max_space_amplification": MAX_SPACE_AMPLIFICATION,
    }
    if not is_part:
        bounds["full_size_memory_bytes"] = float(memory_bytes)
    fields = {parse_constraint(text).field for text in stated}
    return tuple(
        str(Constraint(field, True, bound)) for field, bound in bounds.items() if field not in fields
    )
