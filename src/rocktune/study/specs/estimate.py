"""Estimates the time, disk space and memory of a study before it starts."""

import math
import os
from dataclasses import dataclass, replace

from rocktune.engine.local.bases import AGED_FACTOR, DEFAULT_BASE_QUOTA_BYTES
from rocktune.study.specs.problem import ages_every_run, baseline_of, expected_entries, space_of
from rocktune.study.specs.spec import BASELINE_AGE_SHARES, DEFAULTS_PAIRS, StudySpec
from rocktune.units import MIB

_SECONDS_PER_CONFIGURATION = 75.0
"""Seconds of measuring per configuration at full size: Dremel's 2,325 s for 31 configurations."""
_LOADING_BYTES_S = 100e6
_OPENING_S = 0.05
_OTHER_SHARE = 0.05
_WORKER_BYTES = 64 * MIB
_DISK_FACTOR = 2.0
"""Ratio of disk space to data: during a compaction, its inputs and outputs exist at the same time."""
_MAX_PARKED = 16
_AGEING_FULL_SIZE_S = 7000.0
"""Seconds of load at full size until a store is steady: about the mean of the benchmark what_lasts."""


@dataclass(frozen=True)
class Estimate:
    """Upper estimates for a study.

    Attributes:
        search_s: seconds of measuring in the search, which is the budget.
        verification_s: seconds of measuring the baseline before the search and in all phases after it.
        ageing_s: wall seconds until the stores that a study ages are steady; those of its proof age together.
        other_s: wall seconds of opening, loading and everything else.
        disk_bytes: bytes in the data directory.
        memory_bytes: resident bytes of all runs that exist at the same time.
        min_total_s: all seconds if the proof is decided at its first looks.
    """

    search_s: float
    verification_s: float
    ageing_s: float
    other_s: float
    disk_bytes: int
    memory_bytes: int
    min_total_s: float = 0.0

    @property
    def total_s(self) -> float:
        """The sum of all seconds."""
        return self.search_s + self.verification_s + self.ageing_s + self.other_s

    def to_json(self) -> dict[str, float | int]:
        """Returns the attributes and `total_s`."""
        return {**self.__dict__, "total_s": self.total_s}


def verification_s(spec: StudySpec, changed_options: int, scale: int) -> dict[str, float]:
    """Returns the maximum seconds of measuring of each phase except the search, by name of the phase.

    Args:
        spec: the study.
        changed_options: maximum number of options in which the winner differs from the baseline.
        scale: S of the phases.
    """
    settings = spec.verification
    proof_runs, proof_s = 2 * settings.limit_pairs + DEFAULTS_PAIRS, spec.age_s(spec.proof_s, scale)
    offered_s = tails_s = 0.0
    # Tails are measured on the given workload alone.
    workloads = 1 + len(spec.neighbours)
    if spec.protocol == "steady":
        window_s = spec.age_s(settings.offered_s, scale)
        offered_s = 2 * settings.limit_pairs * (1 + settings.max_offered_windows) * window_s
        # The finalists and the baseline, then the pruned winner.
        tails_s = (settings.finalists + 2) * settings.pick_runs * settings.chosen_windows * window_s
    age_s, ablation_age_s = (
        workloads * spec.age_s(each_s, scale) for each_s in (settings.age_s, settings.ablation_age_s)
    )
    proof_s *= workloads
    return {
        "baseline": age_s * (1 if spec.engine.runs_continue else sum(BASELINE_AGE_SHARES)),
        "pick": _max_picked(spec) * settings.pick_runs * age_s,
        "tails": tails_s,
        "ablate": (1 + changed_options) * settings.ablation_pairs * ablation_age_s,
        "prune": 2 * settings.prune_pairs * settings.prune_attempts * age_s,
        "prove": proof_runs * proof_s,
        "offer": offered_s,
        "verify": proof_runs * proof_s + offered_s,
    }


def _max_picked(spec: StudySpec) -> int:
    """Returns the maximum number of finalists that get fresh runs."""
    return spec.verification.finalists * spec.verification.pick_rounds


def estimate(spec: StudySpec) -> Estimate:
    """Returns the estimate for a study.

    Raises:
        UserError: the memory budget is too small for the study's space.
    """
    settings = spec.verification
    first_looks = {
        "max_pairs": settings.pair_looks[0],
        "max_offered_windows": settings.offered_windows,
        "pick_rounds": 1,
    }
    early = spec.model_copy(update={"verification": settings.model_copy(update=first_looks)})
    return replace(_at_most(spec), min_total_s=_at_most(early).total_s)


def _at_most(spec: StudySpec) -> Estimate:
    """Returns the estimate for a study without `min_total_s`."""
    space = space_of(spec)
    changed = len({*space.default(), *baseline_of(spec, space)})
    phases_s = verification_s(spec, changed, spec.scale)
    measuring_s = sum(seconds for phase, seconds in phases_s.items() if phase != "verify")
    workloads = 1 + len(spec.neighbours)
    searched = math.ceil(spec.budget_s / spec.age_s(_SECONDS_PER_CONFIGURATION))
    runs = searched + math.ceil(measuring_s / spec.age_s(spec.verification.age_s))
    # Each pair of the proof has preloaded stores of its own (`seeds.base_seed_of`).
    loads = searched + workloads * (2 * spec.verification.limit_pairs + DEFAULTS_PAIRS)
    entry_bytes = spec.workload.entry_bytes
    preloaded_bytes = spec.workload.preload.keys * entry_bytes / spec.scale
    store_bytes = expected_entries(spec.workload, spec.device) * entry_bytes / spec.scale
    # All runs of a trial but the one that is measured are parked.
    parked = (min(workloads * _MAX_PARKED, searched) if spec.engine.runs_continue else 0) + workloads - 1
    run_bytes = spec.memory_bytes // spec.scale + _WORKER_BYTES
    ageing_s = _ageing_s(spec, spec.scale)
    if ages_every_run(spec):
        ageing_s += (searched + _max_picked(spec)) * spec.age_s(_AGEING_FULL_SIZE_S)
    # One run is measured while the others are parked.
    runs_bytes = (parked + 1) * _DISK_FACTOR * store_bytes
    bases_bytes = loads * preloaded_bytes * (AGED_FACTOR if ageing_s else 1)
    return Estimate(
        search_s=spec.budget_s,
        verification_s=measuring_s,
        ageing_s=ageing_s,
        other_s=loads * preloaded_bytes / _LOADING_BYTES_S
        + runs * _OPENING_S
        + _OTHER_SHARE * (spec.budget_s + measuring_s),
        disk_bytes=round(runs_bytes + min(bases_bytes, DEFAULT_BASE_QUOTA_BYTES)),
        memory_bytes=min(parked * run_bytes, parked_limit_bytes()) + run_bytes,
    )


def verifying_s(spec: StudySpec, scale: int) -> float:
    """Returns the estimated wall seconds of a verification at scale 1/`scale`, without loading data."""
    return verification_s(spec, 0, scale)["verify"] * (1 + _OTHER_SHARE) + _ageing_s(spec, scale)


def _ageing_s(spec: StudySpec, scale: int) -> float:
    """Returns the estimated wall seconds of ageing all stores of a proof at scale 1/`scale`."""
    if spec.protocol != "steady":
        return 0.0
    stores = (1 + len(spec.neighbours)) * (2 * spec.verification.limit_pairs + DEFAULTS_PAIRS)
    return stores * spec.age_s(_AGEING_FULL_SIZE_S, scale) / _ageing_together(spec, scale)


def _ageing_together(spec: StudySpec, scale: int) -> int:
    """Returns how many stores of a proof age at the same time at most; see `EmbeddedEngine.prepare`."""
    if not (spec.device.bandwidth_bytes_s or spec.device.iops):
        return 1
    aged_bytes = AGED_FACTOR * spec.workload.keys * spec.workload.entry_bytes / scale
    return max(1, min(len(os.sched_getaffinity(0)), int(DEFAULT_BASE_QUOTA_BYTES / aged_bytes)))


def parked_limit_bytes() -> int:
    """Returns the maximum resident bytes of parked runs on this machine: half of its memory."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
