"""What is sent to the program of a process tuner, as values of JSON (docs/design/process-tuners.md)."""

import math
from collections.abc import Mapping
from typing import Any

from rocktune.objective import Objective
from rocktune.space import Knob, Value
from rocktune.trial import Result
from rocktune.tuners.base import Problem

PROTOCOL = 1
"""The version of the protocol; changes when programs of the older one would no longer work."""


def problem_message(problem: Problem, seed: int, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the problem.

    Args:
        problem: the problem.
        seed: a number from 0 to 2^32 - 1, for the program's random numbers.
        settings: the user's settings of the tuner.
    """
    objective = problem.objective
    return {
        "protocol": PROTOCOL,
        "space": problem.space.name,
        "knobs": [_knob(knob) for knob in problem.space.conditional_knobs.in_order],
        "rules": [rule.statement for rule in problem.space.rules],
        "objective": [
            {"figure": field, "direction": "max" if objective.direction(field) > 0 else "min"}
            for field in objective.fields
        ],
        "seeks_front": objective.seeks_front,
        "constraints": [
            {"figure": each.field, "at_most": each.at_most, "bound": each.bound}
            for each in objective.constraints
        ],
        "budget_s": problem.budget_s,
        "trial_s": problem.age_s(problem.trial_age_s),
        "runs_continue": problem.runs_continue,
        "scale": problem.scale,
        "memory_bytes": problem.space.memory_bytes,
        "expected_entries": problem.expected_entries,
        "entry_bytes": problem.entry_bytes,
        "default": dict(problem.space.default()),
        "baseline": dict(problem.baseline),
        "seed": seed,
        "settings": dict(settings),
    }


def _knob(knob: Knob) -> dict[str, Any]:
    """Returns a knob."""
    whole = isinstance(knob.low, int) and isinstance(knob.high, int)
    values: dict[str, Any] = {"type": "choice", "choices": list(knob.choices)}
    if not knob.choices:
        values = {"type": "integer" if whole else "real", "low": knob.low, "high": knob.high}
        values |= {"step": knob.step if whole else 0, "log": knob.log}
    when = [{"knob": each.parent, "values": list(each.values), "unless": each.unless} for each in knob.when]
    return {"name": knob.name, "unit": knob.unit, **values, "default": knob.default, "when": when}


def result_message(result: Result, objective: Objective) -> dict[str, Any]:
    """Returns the result of a trial.

    Figures that a result does not have, such as the latency of scans without scans, are left out. The
    violation of the constraints is null if a figure of them is missing.
    """
    trial, figures = result.trial, {}
    if result.measurement is not None:
        figures = {name: value for name, value in result.measurement.figures.items() if math.isfinite(value)}
    violation = objective.violation(objective.row(result))
    return {
        "configuration": dict(trial.configuration),
        "until_s": trial.until_s,
        "status": str(result.status),
        "figures": figures,
        "violation": violation if math.isfinite(violation) else None,
        "message": result.message,
    }


def refusal_message(configuration: Mapping[str, Value], until_s: float, reason: str) -> dict[str, Any]:
    """Returns the answer to a trial that is not measured, with the configuration as it was asked for."""
    return {
        "configuration": dict(configuration),
        "until_s": until_s,
        "status": "invalid",
        "figures": {},
        "violation": None,
        "message": reason,
    }
