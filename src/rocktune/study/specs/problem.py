"""What a tuner is told of a study."""

import math

from rocktune.device import DeviceSpec
from rocktune.objective import objective_named
from rocktune.options_account import OptionsAccount
from rocktune.space import Configuration, Space, space_from_document
from rocktune.study.specs.own_options import terms_sentences
from rocktune.study.specs.spec import ExperimentSpec, StudySpec
from rocktune.tuners import Problem
from rocktune.workload import WorkloadSpec

FULL_LENGTH_S = 100.0
"""Seconds of a full-length run at full size: the last age in Dremel's halving."""
_WRITES_PER_BYTE_KEPT = 3.0
_UNLIMITED_PUTS_S = 50_000.0


def expected_entries(workload: WorkloadSpec, device: DeviceSpec) -> float:
    """Returns the distinct keys expected in the store by the end of a full-length run, at full size.

    Equation 1 of Dremel needs this number and does not define it for runs that are ended by time. Our
    reading: a device of a given bandwidth takes each entry about three times (log, flush, and what compaction
    reads and writes), which bounds the puts of 100 s; without a limit we take 50,000 a second. Puts meet keys
    as if drawn uniformly, so that n puts leave keys * (1 - exp(-n / keys)) distinct ones; inserts are all
    distinct. What was preloaded is there already. Sessions count alike.

    Returns:
        At least 1.
    """
    total_s = _UNLIMITED_PUTS_S
    if device.bandwidth_bytes_s:
        total_s = device.bandwidth_bytes_s / (_WRITES_PER_BYTE_KEPT * workload.entry_bytes)
    mixes = [session.mix for session in workload.sessions]
    writes = sum(mix.write_share for mix in mixes)
    if writes == 0:
        return max(1.0, float(workload.preload.keys))
    inserts = FULL_LENGTH_S * total_s * sum(mix.insert for mix in mixes) / writes
    puts = FULL_LENGTH_S * total_s - inserts
    missing = workload.keys - workload.preload.keys
    return max(1.0, workload.preload.keys + missing * -math.expm1(-puts / workload.keys) + inserts)


def space_of(spec: ExperimentSpec) -> Space:
    """Returns a study's space, over the user's own options where they gave some.

    Raises:
        UserError: there is no such space, or the memory budget is too small for it.
    """
    entries = expected_entries(spec.workload, spec.device)
    return space_from_document(spec.space, spec.memory_bytes, entries, spec.base_options)


def baseline_of(spec: ExperimentSpec, space: Space) -> Configuration:
    """Returns the configuration to beat: the user's own as the space sees it, else the space's default."""
    return space.configuration_from_options(spec.base_options) if spec.base_options else space.default()


def own_notes(spec: ExperimentSpec) -> list[str]:
    """Returns what a user has to know of how their OPTIONS file was taken; nothing without one."""
    if spec.own_terms is None or spec.base_options is None:
        return []
    shares = space_of(spec).memory_shares(spec.base_options)
    return terms_sentences(spec.own_terms, spec.memory_bytes, shares, spec.base_options)


def own_account(spec: ExperimentSpec) -> OptionsAccount | None:
    """Returns what became of the user's OPTIONS file; None without one, and in older ledgers."""
    return None if spec.own_terms is None else spec.own_terms.account


def problem_of(spec: StudySpec) -> Problem:
    """Returns what the study's tuner is told.

    Raises:
        UserError: as `space_of`.
    """
    space = space_of(spec)
    return Problem(
        space=space,
        objective=objective_named(spec.objective, spec.constraints),
        scale=spec.engine.time_scale(spec.scale),
        runs_continue=spec.engine.runs_continue,
        budget_s=spec.budget_s,
        baseline=baseline_of(spec, space),
        expected_entries=expected_entries(spec.workload, spec.device),
        entry_bytes=spec.workload.entry_bytes,
    )
