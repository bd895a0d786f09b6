"""Comparisons of tuners: a study for each combination of setting, tuner and seed."""

import itertools
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Annotated, Literal

from pydantic import Field

from rocktune.ledger import Ledger
from rocktune.spec_file import Spec
from rocktune.study.executors import Executor
from rocktune.study.measuring.interrupt import StudyInterrupted, continuing_arguments
from rocktune.study.measuring.observer import Observer
from rocktune.study.specs.estimate import estimate
from rocktune.study.specs.spec import Name, StudySpec
from rocktune.study.study import run_study

ExecutorOf = Callable[[StudySpec], AbstractContextManager[Executor]]
"""Opens the executor that measures a study; the context closes it."""


class ComparedStudy(Spec):
    """One study of a comparison.

    Attributes:
        setting: the user's name for workload, device, engine and space.
        tuner: the user's name for the tuner and its settings.
        study: the complete specification, with the seed.
    """

    setting: str
    tuner: str
    study: StudySpec


class ComparisonSpec(Spec):
    """A comparison, as the ledger stores it in JSON.

    Attributes:
        kind: distinguishes a comparison from a study.
        name: name of the comparison, unique in its ledger.
        studies: the studies in the order in which they run. All tuners of a setting and seed run in a row.
    """

    kind: Literal["comparison"] = "comparison"
    name: Name
    studies: Annotated[tuple[ComparedStudy, ...], Field(min_length=1)]


def comparison_s(spec: ComparisonSpec) -> float:
    """Returns an upper estimate of a comparison's wall seconds. Recorded tables count as 0."""
    return sum(map(_study_s, spec.studies))


def _study_s(compared: ComparedStudy) -> float:
    """Returns the estimated wall seconds of a study; 0 for a recorded table."""
    return 0.0 if compared.study.engine.kind == "recorded" else estimate(compared.study).total_s


def run_comparison(
    spec: ComparisonSpec, executor_of: ExecutorOf, ledger: Ledger, observer: Observer | None = None
) -> None:
    """Runs the studies of a comparison that are not finished yet.

    Ctrl-C ends it after the trials that are being measured. All recorded trials stay.

    Args:
        spec: the comparison.
        executor_of: opens an executor, which all consecutive studies with the same engine share.
        ledger: records the studies, and the comparison itself as a study without trials.
        observer: is informed of progress; nobody by default.

    Raises:
        StudyInterrupted: the user pressed Ctrl-C.
        UserError: a name in the ledger is taken, or another process runs one of the studies.
    """
    observer = observer or Observer()
    record = ledger.create_study(spec.name, spec.model_dump(mode="json"))
    with ledger.lock(record):
        if record.state == "finished":
            return
        ledger.set_state(record, "comparing")
        done = 0
        try:
            # An executor can take seconds to start, so consecutive studies on one engine share it.
            for _, group in itertools.groupby(spec.studies, key=lambda each: each.study.engine):
                studies = list(group)
                with executor_of(studies[0].study) as executor:
                    for each in studies:
                        observer.estimated(sum(map(_study_s, spec.studies[done:])))
                        observer.note(f"Study {done + 1} of {len(spec.studies)}: {each.study.name}")
                        run_study(each.study, executor, ledger, observer)
                        done += 1
        except StudyInterrupted:
            ledger.set_state(record, "interrupted")
            raise _interrupted(spec, ledger, done) from None
        ledger.set_state(record, "finished")


def _interrupted(spec: ComparisonSpec, ledger: Ledger, done: int) -> StudyInterrupted:
    """Returns the exception that tells the user how to resume the comparison."""
    return StudyInterrupted(
        spec.name,
        None,
        None,
        f"rocktune resume {spec.name}{continuing_arguments(ledger)}",
        so_far=f"{done} of {len(spec.studies)} studies are finished.",
    )
