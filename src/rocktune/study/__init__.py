"""Studies: the loop that measures what tuners ask for, and the verification of what they find."""

from rocktune.study.comparison import ComparisonSpec
from rocktune.study.estimate import Estimate, estimate, verifying_s
from rocktune.study.executors import Executor, LocalExecutor, crowding
from rocktune.study.interrupt import StudyInterrupted
from rocktune.study.kinds import recorded_spec
from rocktune.study.observer import Observer
from rocktune.study.outcome import spent_s
from rocktune.study.problem import space_of
from rocktune.study.recording import table_of
from rocktune.study.request import StudyRequest, engine_names, make_request
from rocktune.study.resolving import resolve, resolve_sweep
from rocktune.study.spec import StudySpec, SweepSpec, VerificationSettings
from rocktune.study.study import run_study, verify_study
from rocktune.study.sweep import run_sweep, runs_of, sweep_s

__all__ = [
    "ComparisonSpec",
    "Estimate",
    "Executor",
    "LocalExecutor",
    "Observer",
    "StudyInterrupted",
    "StudyRequest",
    "StudySpec",
    "SweepSpec",
    "VerificationSettings",
    "crowding",
    "engine_names",
    "estimate",
    "make_request",
    "recorded_spec",
    "resolve",
    "resolve_sweep",
    "run_study",
    "run_sweep",
    "runs_of",
    "space_of",
    "spent_s",
    "sweep_s",
    "table_of",
    "verify_study",
    "verifying_s",
]
