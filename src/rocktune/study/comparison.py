"""Comparisons: several tuners on several settings with several seeds, each a study of its own."""

import itertools
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Annotated, Literal

from pydantic import Field

from rocktune.ledger import Ledger, default_ledger_url
from rocktune.spec_file import Spec
from rocktune.study.executors import Executor
from rocktune.study.measuring.interrupt import StudyInterrupted
from rocktune.study.measuring.observer import Observer
from rocktune.study.specs.estimate import estimate
from rocktune.study.specs.spec import Name, StudySpec
from rocktune.study.study import run_study

ExecutorOf = Callable[[StudySpec], AbstractContextManager[Executor]]
"""Opens what a study is measured on."""


class ComparedStudy(Spec):
    """One tuner on one setting with one seed.

    Attributes:
        setting: what is measured, as the user calls it.
        tuner: the tuner with its settings, as the user calls it.
        study: all of it.
    """

    setting: str
    tuner: str
    study: StudySpec


class ComparisonSpec(Spec):
    """What a comparison consists of. JSON-able.

    Attributes:
        kind: tells a comparison from a study.
        name: unique in its ledger.
        studies: in the order of running: of a setting and seed all tuners, one after the other.
    """

    kind: Literal["comparison"] = "comparison"
    name: Name
    studies: Annotated[tuple[ComparedStudy, ...], Field(min_length=1)]


def comparison_s(spec: ComparisonSpec) -> float:
    """Returns the wall seconds that a comparison takes at most, roughly; recorded tables take none."""
    return sum(map(_study_s, spec.studies))


def _study_s(compared: ComparedStudy) -> float:
    return 0.0 if compared.study.engine.kind == "recorded" else estimate(compared.study).total_s


def run_comparison(
    spec: ComparisonSpec, executor_of: ExecutorOf, ledger: Ledger, observer: Observer | None = None
) -> None:
    """Runs the studies of a comparison that are not finished.

    Ctrl-C ends it after the present trial. Everything recorded stays.

    Args:
        spec: what to do.
        executor_of: opens the executor for the studies of a setting; it is closed after them.
        ledger: records everything, the comparison as a study of its own name.
        observer: is told what happens.

    Raises:
        StudyInterrupted: Ctrl-C.
        UserError: a name belongs to something else, or another process runs it.
    """
    observer = observer or Observer()
    record = ledger.create_study(spec.name, spec.model_dump(mode="json"))
    with ledger.lock(record):
        if record.state == "finished":
            return
        ledger.set_state(record, "comparing")
        done = 0
        try:
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
    where = "" if ledger.url == default_ledger_url() else f" --ledger {ledger.url}"
    return StudyInterrupted(
        spec.name,
        None,
        None,
        f"rocktune resume {spec.name}{where}",
        so_far=f"{done} of {len(spec.studies)} studies are finished.",
    )
