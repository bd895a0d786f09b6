"""Runs studies, continues them and verifies them at other scales."""

from rocktune.engine import Engine
from rocktune.errors import UserError
from rocktune.ledger import Ledger, StudyRecord
from rocktune.outcome import Outcome
from rocktune.study.executors import Executor, executor_of
from rocktune.study.measuring.observer import Observer
from rocktune.study.phases import Phases
from rocktune.study.proving import outcome
from rocktune.study.specs.resolving import check_scale
from rocktune.study.specs.spec import StudySpec


def run_study(
    spec: StudySpec, engine: Engine | Executor, ledger: Ledger, observer: Observer | None = None
) -> Outcome:
    """Runs a study, or continues a recorded study of the same specification, and returns its outcome.

    Ctrl-C ends it after the trials that are being measured; a second Ctrl-C ends it at once. All recorded
    trials stay.

    Args:
        spec: the study.
        engine: an engine, which measures one run at a time, or an executor. It stays open. Apart from noise,
            the outcome does not depend on the executor.
        ledger: records all trials and the outcome.
        observer: is informed of progress; nobody by default.

    Returns:
        The outcome, as recorded in the ledger.

    Raises:
        StudyInterrupted: the user pressed Ctrl-C.
        UserError: the name belongs to a study with other settings, or another process runs the study.
    """
    study = ledger.create_study(spec.name, spec.model_dump(mode="json"), engine.version)
    return continue_study(spec, engine, ledger, study, observer)


def continue_study(
    spec: StudySpec,
    engine: Engine | Executor,
    ledger: Ledger,
    study: StudyRecord,
    observer: Observer | None = None,
) -> Outcome:
    """Runs the remaining trials of a recorded study and returns its outcome; see `run_study`.

    Args:
        spec: the study.
        engine: see `run_study`.
        ledger: see `run_study`.
        study: the ledger's record of the study.
        observer: see `run_study`.
    """
    with ledger.lock(study):
        recorded = outcome.recorded_outcome(ledger, study)
        if recorded is not None:
            # A finished study is not run again.
            return recorded
        return Phases(spec, executor_of(engine), ledger, study, observer).run()


def verify_study(
    spec: StudySpec, engine: Engine | Executor, ledger: Ledger, scale: int, observer: Observer | None = None
) -> Outcome:
    """Repeats the proof of a finished study at another scale, and returns the updated outcome.

    The outcome's own fields describe the proof at the largest scale; `verifications` holds all proofs.

    Args:
        spec: the study.
        engine: see `run_study`.
        ledger: see `run_study`.
        scale: S of the proof.
        observer: see `run_study`.

    Raises:
        StudyInterrupted: the user pressed Ctrl-C. Verifying again continues the proof.
        UserError: the study has no winner, another process runs it, or its engine cannot measure at that
            scale.
    """
    check_scale(spec, scale)
    study = ledger.study(spec.name)
    with ledger.lock(study):
        recorded = outcome.recorded_outcome(ledger, study)
        if recorded is None or recorded.best is None:
            raise UserError(
                f"study '{spec.name}' has no winner to verify; finish it with 'rocktune resume {spec.name}'"
            )
        return Phases(spec, executor_of(engine), ledger, study, observer, scale).verify(
            recorded, recorded.best
        )
