"""Studies: the loop that measures what tuners ask for, and the verification of what they find."""

from rocktune.study.estimate import Estimate, estimate, verifying_s
from rocktune.study.interrupt import StudyInterrupted
from rocktune.study.observer import Observer
from rocktune.study.outcome import spent_s
from rocktune.study.request import StudyRequest, engine_names, make_request, resolve
from rocktune.study.spec import StudySpec, VerificationSettings
from rocktune.study.study import run_study, verify_study

__all__ = [
    "Estimate",
    "Observer",
    "StudyInterrupted",
    "StudyRequest",
    "StudySpec",
    "VerificationSettings",
    "engine_names",
    "estimate",
    "make_request",
    "resolve",
    "run_study",
    "spent_s",
    "verify_study",
    "verifying_s",
]
