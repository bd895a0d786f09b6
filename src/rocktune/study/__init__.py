"""Studies: the loop that measures the trials of a tuner, and the verification of the result."""

from rocktune.study.comparison import ComparisonSpec
from rocktune.study.executors import Executor, LocalExecutor, crowding
from rocktune.study.kinds import recorded_spec
from rocktune.study.measuring.interrupt import StudyInterrupted
from rocktune.study.measuring.kept import disturbed_s, kept_trials
from rocktune.study.measuring.observer import Observer
from rocktune.study.measuring.surroundings import file_systems_of
from rocktune.study.proving.outcome import recorded_outcome, spent_s
from rocktune.study.recording import table_of
from rocktune.study.scale_check import run_scale_check, runs_at_most, scale_check_of, scale_check_s
from rocktune.study.scale_lookup import find_scale_check, has_larger_model
from rocktune.study.specs.estimate import Estimate, estimate, verifying_s
from rocktune.study.specs.problem import own_account, own_notes, space_of
from rocktune.study.specs.request import StudyRequest, engine_names
from rocktune.study.specs.resolving import resolve
from rocktune.study.specs.scaling import resolve_scale_check
from rocktune.study.specs.spec import (
    ScaleCheckSpec,
    StudySpec,
    SweepSpec,
    UpgradeSpec,
    VerificationSettings,
)
from rocktune.study.specs.study_file import make_request, replaced_fields
from rocktune.study.specs.sweeping import resolve_sweep
from rocktune.study.study import continue_study, run_study, verify_study
from rocktune.study.sweep import run_sweep, runs_of, sweep_s
from rocktune.study.upgrade import UpgradeProof, proof_of, run_upgrade, upgrade_s
from rocktune.study.warm_start import earlier_of, seeds_of

__all__ = [
    "ComparisonSpec",
    "Estimate",
    "Executor",
    "LocalExecutor",
    "Observer",
    "ScaleCheckSpec",
    "StudyInterrupted",
    "StudyRequest",
    "StudySpec",
    "SweepSpec",
    "UpgradeProof",
    "UpgradeSpec",
    "VerificationSettings",
    "continue_study",
    "crowding",
    "disturbed_s",
    "earlier_of",
    "engine_names",
    "estimate",
    "file_systems_of",
    "find_scale_check",
    "has_larger_model",
    "kept_trials",
    "make_request",
    "own_account",
    "own_notes",
    "proof_of",
    "recorded_outcome",
    "recorded_spec",
    "replaced_fields",
    "resolve",
    "resolve_scale_check",
    "resolve_sweep",
    "run_scale_check",
    "run_study",
    "run_sweep",
    "run_upgrade",
    "runs_at_most",
    "runs_of",
    "scale_check_of",
    "scale_check_s",
    "seeds_of",
    "space_of",
    "spent_s",
    "sweep_s",
    "table_of",
    "upgrade_s",
    "verify_study",
    "verifying_s",
]
