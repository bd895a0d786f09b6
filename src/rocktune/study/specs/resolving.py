"""Makes the specification of a study or sweep from a request, and checks all that needs no measuring."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rocktune.device import DeviceSpec, load_device
from rocktune.engine import (
    CommandSpec,
    DbBenchSpec,
    EmbeddedSpec,
    EngineSpec,
    RecordedSpec,
    refuse_inexpressible,
)
from rocktune.errors import BudgetTooSmallError, UserError
from rocktune.importing import ImportedOptions
from rocktune.objective import objective_named
from rocktune.outcome import Protocol
from rocktune.space import FamilyEntries, space_document, space_from_document, with_deletes
from rocktune.study.specs.bounds import default_constraints, stated_constraints
from rocktune.study.specs.goals import check_operations, check_robust, checked_prices
from rocktune.study.specs.left_out import left_out_of, style_left_out
from rocktune.study.specs.own_options import OwnBaseline, own_baseline
from rocktune.study.specs.problem import (
    expected_entries,
    families_together,
    problem_of,
    space_of,
)
from rocktune.study.specs.protocol import check_compactions, protocol_of
from rocktune.study.specs.request import (
    StudyRequest,
    asked_memory,
    engine_spec,
    require_workload,
    scale_and_budget,
    tuned_family,
)
from rocktune.study.specs.spec import NAME_PATTERN, StudySpec
from rocktune.study.specs.tried import tried_of
from rocktune.table import read_table
from rocktune.tuners import tuner_named
from rocktune.tuners.tried import tried_cost_s
from rocktune.units import format_scale, format_seconds, parse_bytes, parse_scale
from rocktune.workload import DEFAULT_FAMILY, WorkloadSpec, load_workload

_DEFAULT_OBJECTIVES = {
    "steady": "sustained_throughput_ops_s",
    "short": "throughput_ops_s",
    "own": "throughput_ops_s",
}

OwnOptions = Callable[[tuple[str, ...]], ImportedOptions | None]
"""Reads the request's OPTIONS file for the column families that the workload names; None if it has no file.

Is called only if all else in the request is valid.
"""


def no_own_options(_loaded: tuple[str, ...]) -> ImportedOptions | None:
    """Returns no OPTIONS file; see `OwnOptions`."""
    return None


def resolve(
    request: StudyRequest,
    name: str,
    own_options: OwnOptions = no_own_options,
    tried: Sequence[OwnOptions] = (),
) -> StudySpec:
    """Returns the study that a request describes.

    Args:
        request: the user's request.
        name: name of the study.
        own_options: see `OwnOptions`.
        tried: readers of the files in the request's `tried`.

    Raises:
        UserError: names the first mistake in the request.
    """
    engine = engine_spec(request)
    protocol = protocol_of(request, engine)
    objective = request.objective or default_objective(protocol)
    # Checked first, because reading the OPTIONS file below starts a worker.
    stated = stated_constraints(request.constraints)
    goals = objective_named(objective, stated)
    prices = checked_prices(goals, request.prices, engine)
    conditions = named(name) | conditions_of(request, engine, own_options, protocol)
    check_operations(goals, conditions["workload"], engine)
    check_robust(request.robust, conditions["workload"], engine)
    _, budget_s = scale_and_budget(engine, format_scale(conditions["scale"]), request.budget, protocol)
    is_part = bool(conditions["workload"].families) and conditions.get("column_family") is not None
    spec = StudySpec(
        **conditions,
        tuner=request.tuner_in(protocol),
        tuner_settings=request.tuner_settings,
        objective=objective,
        constraints=stated,
        default_constraints=default_constraints(
            request.constraints, protocol, conditions["memory_bytes"], is_part
        ),
        budget_s=budget_s,
        verification=request.verification.with_pairs(request.proof_pairs),
        protocol=protocol,
        rate_ops_s=request.rate,
        prices=prices,
        robust=request.robust,
    )
    if tried:
        loaded = spec.workload.family_names if spec.workload.families else ()
        configurations = tried_of(space_of(spec), request.tried, [read(loaded) for read in tried])
        spec = spec.model_copy(update={"tried": configurations})
    if request.budget is None:
        # The default is the time of the paper's configurations, each of which takes as many runs.
        spec = spec.model_copy(update={"budget_s": budget_s * (1 + len(spec.neighbours))})
    if protocol == "steady":
        check_compactions(spec)
    _check_budget(spec)
    return spec


def default_objective(protocol: Protocol) -> str:
    """Returns the figure that a study of a protocol improves if none is named."""
    return _DEFAULT_OBJECTIVES[protocol]


def named(name: str) -> dict[str, str]:
    """Returns the field `name` of a specification; raises UserError if it is not valid."""
    if re.fullmatch(NAME_PATTERN, name) is None:
        raise UserError(
            f"study: '{name}' is not a valid name; write up to 100 letters, digits, '-', '_' and '.', "
            "beginning with a letter or digit"
        )
    return {"name": name}


def conditions_of(
    request: StudyRequest,
    engine: EngineSpec,
    own_options: OwnOptions,
    protocol: Protocol,
    choose_family: bool = True,
) -> dict[str, Any]:
    """Returns all fields of `ExperimentSpec` except the name.

    Args:
        request: the user's request.
        engine: the engine that the request names.
        own_options: see `OwnOptions`.
        protocol: decides the defaults of space and scale. In the steady one, stores hold all keys at age 0,
            whatever the workload preloads.
        choose_family: see `tuned_family`.

    Raises:
        UserError: names the first mistake in the request.
    """
    if isinstance(engine, RecordedSpec):
        return _recorded_conditions(request, engine)
    workload, device = load_workload(require_workload(request.workload)), load_device(request.device)
    workload = workload.with_all_keys() if protocol == "steady" else workload
    check_engine(engine, workload, device)
    scale, _ = scale_and_budget(engine, request.scale, request.budget, protocol)
    family = tuned_family(request, workload, choose_family)
    asked, document = asked_memory(request), space_document(request.space_in(protocol))
    entries, families = (
        expected_entries(workload, device, family),
        families_together(workload, device, family),
    )
    if workload.deletes:
        document = with_deletes(document)
    space = space_from_document(document, asked.memory_bytes, entries, families=families)
    left_out = left_out_of(space, engine, workload)
    if left_out:
        document = document | {"left_out": left_out}
        space = space_from_document(document, asked.memory_bytes, entries, families=families)
    file = own_options(workload.family_names if workload.families else ())
    own = None if file is None else own_baseline(file, document, entries, asked, families)
    if own is not None:
        if of_style := style_left_out(space, own.options):
            document = document | {"left_out": left_out | of_style}
        _require_budget(document, own, entries, families)
    return {
        "workload": workload,
        "device": device,
        "engine": engine,
        "space": document,
        "memory_bytes": space.memory_bytes if own is None else own.memory_bytes,
        "scale": scale,
        "seed": request.seed,
        "base_options": None if own is None else own.options,
        "own_terms": None if own is None else own.terms,
        "column_family": family if workload.families else _named_family(own),
    }


def _named_family(own: OwnBaseline | None) -> str | None:
    """Returns the name of the OPTIONS file's family if it is not the default one."""
    return None if own is None or own.terms.family == DEFAULT_FAMILY else own.terms.family


def _require_budget(
    document: dict[str, Any], own: OwnBaseline, entries: float, families: tuple[FamilyEntries, ...]
) -> None:
    """Raises UserError if the OPTIONS file has too little memory for every configuration of the space."""
    try:
        space_from_document(document, own.memory_bytes, entries, own.options, families)
    except BudgetTooSmallError as error:
        # The message names the budget's origin already, unless it was derived from the file.
        if own.terms.memory != "options_file":
            raise
        raise BudgetTooSmallError(
            f"{error}; this is the sum of the OPTIONS file's memtables, filters and cache; set another "
            "budget with --memory",
            error.min_bytes,
        ) from None


def _recorded_conditions(request: StudyRequest, engine: RecordedSpec) -> dict[str, Any]:
    """Returns the conditions of the table. Raises UserError if the request states others."""
    table = read_table(Path(engine.table)).conditions
    said = request.model_fields_set
    asked: dict[str, Any] = {
        "workload": "workload" in said and load_workload(require_workload(request.workload)),
        "device": "device" in said and load_device(request.device),
        "space": request.space is not None and space_document(request.space),
        "scale": request.scale is not None and parse_scale(request.scale),
        "memory": request.memory is not None and parse_bytes(request.memory, "memory"),
    }
    # What was left out of the table's space, or added to it, follows from its RocksDB and workload.
    space = {name: part for name, part in table.space.items() if name in ("name", "file")}
    recorded = dict(table) | {"memory": table.memory_bytes, "space": space}
    for field, value in asked.items():
        # False stands for a field that the request does not state.
        if value is not False and value != recorded[field]:
            raise UserError(f"{field}: table {engine.table} was measured with a different one; leave it out")
    if request.options_file is not None:
        raise UserError("options_file: a table has its own baseline; leave it out")
    for name in ("column_family", "all_families", "block_cache", "shared_cache"):
        if getattr(request, name) is not None:
            raise UserError(f"{name}: a table has its own store; leave --{name.replace('_', '-')} out")
    shared = ("workload", "device", "space", "memory_bytes", "scale", "base_options")
    return {each: getattr(table, each) for each in shared} | {"engine": engine, "seed": request.seed}


def check_scale(spec: StudySpec, scale: int) -> None:
    """Raises UserError if a study's engine cannot measure at another scale 1/`scale`."""
    if scale == spec.scale or spec.engine.kind not in ("recorded", "command"):
        return
    why = "cannot scale your own program"
    if isinstance(spec.engine, RecordedSpec):
        why = f"has only the runs of table {spec.engine.table}"
    raise UserError(
        f"scale: engine '{spec.engine.kind}' {why}; give --scale {format_scale(spec.scale)}, the scale of "
        "the study"
    )


def check_engine(engine: EngineSpec, workload: WorkloadSpec, device: DeviceSpec) -> None:
    """Raises if the engine cannot run a workload on a device; nothing is run.

    Raises:
        UserError: names the features that the engine lacks.
    """
    if workload.families and not isinstance(engine, EmbeddedSpec):
        raise UserError(
            f"workload '{workload.name}': only engine 'embedded' loads several column families; choose it, "
            "or another workload"
        )
    if workload.trace is not None and not isinstance(engine, EmbeddedSpec):
        raise UserError(
            f"workload '{workload.name}': only engine 'embedded' replays traces; choose it, or "
            "another workload"
        )
    if isinstance(engine, DbBenchSpec):
        refuse_inexpressible(workload, device)
    if isinstance(engine, CommandSpec) and device != DeviceSpec(name="none"):
        raise UserError(
            f"device: a program of your own runs on the machine's own storage, not on '{device.name}'; "
            "leave the device out"
        )


def _check_budget(spec: StudySpec) -> None:
    """Raises UserError if the budget is below the tuner's minimum."""
    workloads = 1 + len(spec.neighbours)
    problem = problem_of(spec)
    tuner_s = tuner_named(spec.tuner, spec.tuner_settings).min_budget_s(problem)
    min_s = (tuner_s + tried_cost_s(problem)) * workloads
    # A budget that equals the minimum but for rounding is enough.
    if spec.budget_s < min_s * (1 - 1e-9):
        raise UserError(
            f"budget: {format_seconds(spec.budget_s)} is too small for tuner '{spec.tuner}' at scale "
            f"{format_scale(spec.scale)}; it takes at least {min_s:.6g} s"
        )
