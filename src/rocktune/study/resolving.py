"""The study or sweep that a request comes to, checked as far as that takes no measuring."""

import re
from collections.abc import Callable
from typing import Any

from rocktune.device import DeviceSpec, load_device
from rocktune.engine import CommandSpec, DbBenchSpec, EngineSpec, refuse_inexpressible
from rocktune.engine.spec import FULL_LENGTH_S
from rocktune.errors import UserError
from rocktune.objective import objective_named
from rocktune.space import OptionMaps, space_document, space_from_document
from rocktune.study.problem import expected_entries, problem_of
from rocktune.study.request import (
    StudyRequest,
    engine_spec,
    require_workload,
    scale_and_budget,
)
from rocktune.study.spec import NAME_PATTERN, StudySpec, SweepSpec
from rocktune.tuners import tuner_named
from rocktune.units import format_scale, format_seconds, parse_bytes, parse_seconds
from rocktune.workload import WorkloadSpec, load_workload

BaseOptions = Callable[[], OptionMaps | None]
"""Reads the request's OPTIONS file; called once all else has been found right."""

SWEEP_MEASURED_S = 180.0
"""Jia and Chen's length of a run, at full size."""
SWEEP_WARM_UP_S = 60.0
"""How long a run is loaded before that, at full size; they say that they warm up, and not for how long."""


def _no_base_options() -> OptionMaps | None:
    return None


def resolve(request: StudyRequest, name: str, base_options: BaseOptions = _no_base_options) -> StudySpec:
    """Returns the study that a request comes to.

    Args:
        request: what was asked for.
        name: the study's.
        base_options: see `BaseOptions`.

    Raises:
        UserError: the first thing that is wrong with it.
    """
    objective_named(request.objective, request.constraints)
    engine = engine_spec(request)
    scale, budget_s = scale_and_budget(engine, request.scale, request.budget)
    spec = StudySpec(
        **_conditions(request, name, engine, scale, base_options),
        tuner=request.tuner,
        tuner_settings=request.tuner_settings,
        objective=request.objective,
        constraints=request.constraints,
        budget_s=budget_s,
        verification=request.verification,
    )
    _check_budget(spec)
    return spec


def resolve_sweep(
    request: StudyRequest,
    name: str,
    samples: int | None,
    seconds: str | float | None,
    warm_up: str | float | None,
    base_options: BaseOptions = _no_base_options,
) -> SweepSpec:
    """Returns the sweep that a request comes to; what it says of tuner, objective and budget is of no effect.

    Args:
        request: what was asked for.
        name: the sweep's.
        samples: how many configurations; None for all.
        seconds: how long each run is measured; by default what 180 s at full size come to.
        warm_up: how long it is loaded before, 0 for not at all; by default what 60 s come to where the engine
            can go on with a run, else 0.
        base_options: see `BaseOptions`.

    Raises:
        UserError: the first thing that is wrong with it.
    """
    engine = engine_spec(request)
    scale, _ = scale_and_budget(engine, request.scale, None)
    conditions = _conditions(request, name, engine, scale, base_options)
    full_size_s = SWEEP_MEASURED_S if engine.runs_continue else FULL_LENGTH_S
    time_scale = engine.time_scale(scale)
    if warm_up is None:
        warm_up_s = SWEEP_WARM_UP_S / time_scale if engine.runs_continue else 0.0
    else:
        warm_up_s = 0.0 if str(warm_up).strip() in ("0", "0s") else parse_seconds(warm_up, "warm-up")
    if samples is not None and samples < 1:
        raise UserError(f"samples: {samples} is not above 0")
    return SweepSpec(
        **conditions,
        samples=samples,
        warm_up_s=warm_up_s,
        measured_s=full_size_s / time_scale if seconds is None else parse_seconds(seconds, "seconds"),
    )


def _conditions(
    request: StudyRequest, name: str, engine: EngineSpec, scale: int, base_options: BaseOptions
) -> dict[str, Any]:
    """Returns the fields of `ExperimentSpec`."""
    if re.match(NAME_PATTERN, name) is None:
        raise UserError(
            f"study: '{name}' is no name; write up to 100 letters, digits, '-', '_' and '.', "
            "beginning with a letter or digit"
        )
    workload, device = load_workload(require_workload(request.workload)), load_device(request.device)
    check_engine(engine, workload, device)
    memory_bytes = None if request.memory is None else parse_bytes(request.memory, "memory")
    document = space_document(request.space)
    space = space_from_document(document, memory_bytes, expected_entries(workload, device))
    return {
        "name": name,
        "workload": workload,
        "device": device,
        "engine": engine,
        "space": document,
        "memory_bytes": space.memory_bytes,
        "scale": scale,
        "seed": request.seed,
        "base_options": base_options(),
    }


def check_engine(engine: EngineSpec, workload: WorkloadSpec, device: DeviceSpec) -> None:
    """Refuses what the engine cannot do, before anything runs.

    Raises:
        UserError: it is about the first such thing.
    """
    if isinstance(engine, DbBenchSpec):
        refuse_inexpressible(workload, device)
    if isinstance(engine, CommandSpec) and device != DeviceSpec(name="none"):
        raise UserError(
            f"device: a program of your own runs on the machine's own storage, not on '{device.name}'; "
            "leave the device out"
        )


def _check_budget(spec: StudySpec) -> None:
    smallest_s = tuner_named(spec.tuner, spec.tuner_settings).smallest_budget_s(problem_of(spec))
    if spec.budget_s < smallest_s * (1 - 1e-9):
        raise UserError(
            f"budget: {format_seconds(spec.budget_s)} is too small for tuner '{spec.tuner}' at scale "
            f"{format_scale(spec.scale)}; it takes at least {smallest_s:.6g} s"
        )
