"""Tuning, resuming and verifying."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

from rocktune import study
from rocktune.api.comparing import run_recorded_comparison
from rocktune.api.engines import opened_engine
from rocktune.api.executors import opened_executor
from rocktune.api.files import claim_output, require_study, write_files
from rocktune.api.requests import Given, resolved_study
from rocktune.api.sweeping import run_recorded_sweep
from rocktune.engine import CommandSpec, command_lines
from rocktune.ledger import open_ledger
from rocktune.objective import objective_named
from rocktune.options_account import account_json
from rocktune.outcome import Outcome
from rocktune.study import (
    ComparisonSpec,
    Executor,
    Observer,
    StudyRequest,
    StudySpec,
    SweepSpec,
    recorded_spec,
)
from rocktune.units import format_scale, parse_scale


@dataclass(frozen=True)
class PreparedStudy:
    """A study that was asked for and found right. So far nothing has been measured or written.

    Attributes:
        spec: the study.
        request: what was asked for.
    """

    spec: StudySpec
    request: StudyRequest

    def estimate(self) -> dict[str, Any]:
        """Returns what the study will take; see `rocktune.api.estimate`."""
        spec = self.spec
        return {
            "study": spec.name,
            "scale": format_scale(spec.scale),
            "commands": command_lines(spec.engine) if isinstance(spec.engine, CommandSpec) else [],
            "own_options_notes": study.own_notes(spec),
            "options_account": account_json(study.own_account(spec)),
            **study.estimate(spec).to_json(),
        }

    def run(
        self,
        *,
        executor: str | None = None,
        address: str | None = None,
        observer: Observer | None = None,
    ) -> Outcome:
        """Runs the study, or goes on with it, and writes its files; see `rocktune.api.tune`."""
        spec, request, observer = self.spec, self.request, observer or Observer()
        with (
            _executor_of(spec, executor, address, observer) as measuring,
            open_ledger(request.ledger) as ledger,
        ):
            record = ledger.create_study(spec.name, spec.model_dump(mode="json"), measuring.version)
            directory = claim_output(ledger, record, request.out)
            outcome = study.continue_study(spec, measuring, ledger, record, observer)
            return write_files(ledger, record, outcome, directory)


def prepare(study_file: str | Path | None = None, **given: Unpack[Given]) -> PreparedStudy:
    """Reads what a study is to be from its file and from what is given, and checks it.

    Args:
        study_file: see `tune`.
        **given: see `tune`.

    Raises:
        UserError: the request is wrong somewhere.
    """
    return PreparedStudy(*resolved_study(study_file, given))


def estimate(study_file: str | Path | None = None, **given: Unpack[Given]) -> dict[str, Any]:
    """Says what a study would take, and measures and writes nothing.

    Args:
        study_file: see `tune`.
        **given: see `tune`.

    Returns:
        `study` (its name), `scale`, `commands` (what will be executed, where that is the user's own program),
        `own_options_notes` (how the OPTIONS file is taken, in sentences), and seconds and bytes as
        `rocktune.study.Estimate` has them.

    Raises:
        UserError: the request is wrong somewhere.
    """
    return prepare(study_file, **given).estimate()


def tune(
    study_file: str | Path | None = None,
    *,
    executor: str | None = None,
    address: str | None = None,
    observer: Observer | None = None,
    **given: Unpack[Given],
) -> Outcome:
    """Searches a better configuration, proves it, and writes an OPTIONS file and a report.

    A study that has this name and these settings already is gone on with.

    Args:
        study_file: a study's TOML file; what is given beside it comes first.
        executor: where trials are measured, "local:N" (N at once, on this machine) or "ray"; by default one
            at a time. A study may be begun on one and gone on with on another.
        address: of the Ray cluster; by default the one that this machine is part of.
        observer: is told what happens.
        **given: the study, by the names of `rocktune.study.StudyRequest`.

    Raises:
        UserError: the request is wrong somewhere, or this machine lacks what it takes.
        StudyInterrupted: Ctrl-C; `resume` goes on.
    """
    prepared = prepare(study_file, **given)
    return prepared.run(executor=executor, address=address, observer=observer)


def resume(
    name: str,
    *,
    ledger: str | None = None,
    executor: str | None = None,
    address: str | None = None,
    observer: Observer | None = None,
) -> Outcome | dict[str, Any]:
    """Goes on with a study or sweep, or returns the outcome of a finished one with its files written again.

    Of a sweep it returns what `rocktune.api.sweep` does, of a comparison what `rocktune.api.compare` does.

    Args:
        name: the study's.
        ledger: URL or SQLite file; None for the user's own.
        executor: see `tune`.
        address: see `tune`.
        observer: is told what happens.

    Raises:
        UserError: there is no such study, or another process runs it.
        StudyInterrupted: Ctrl-C.
    """
    with open_ledger(ledger, create=ledger is None) as opened:
        record = opened.study(name)
        spec = recorded_spec(record.spec)
        if isinstance(spec, ComparisonSpec):
            return run_recorded_comparison(spec, opened, executor, address, observer)
        if isinstance(spec, SweepSpec):
            return run_recorded_sweep(spec, opened, executor, address, observer)
        observer = observer or Observer()
        observer.estimated(max(0.0, study.estimate(spec).total_s - study.spent_s(opened, record)))
        with _executor_of(spec, executor, address, observer) as measuring:
            directory = claim_output(opened, record, None)
            outcome = study.continue_study(spec, measuring, opened, record, observer)
            return write_files(opened, record, outcome, directory)


def verify(
    name: str,
    scale: str,
    *,
    ledger: str | None = None,
    executor: str | None = None,
    address: str | None = None,
    observer: Observer | None = None,
) -> Outcome:
    """Proves a finished study's winner again at another scale.

    Args:
        name: the study's.
        scale: "1/S", or "1" for full size.
        ledger: URL or SQLite file; None for the user's own.
        executor: see `tune`.
        address: see `tune`.
        observer: is told what happens.

    Raises:
        UserError: the scale is none, or there is no such study, or it has no winner.
        StudyInterrupted: Ctrl-C; verifying again goes on.
    """
    divisor = parse_scale(scale)
    with open_ledger(ledger, create=ledger is None) as opened:
        record = opened.study(name)
        require_study(record, "has no winner to verify")
        spec = StudySpec.model_validate(dict(record.spec))
        observer = observer or Observer()
        observer.estimated(study.verifying_s(spec, divisor))
        with _executor_of(spec, executor, address, observer) as measuring:
            directory = claim_output(opened, record, None)
            outcome = study.verify_study(spec, measuring, opened, divisor, observer)
            return write_files(opened, record, outcome, directory)


def _executor_of(
    spec: StudySpec, executor: str | None, address: str | None, observer: Observer
) -> AbstractContextManager[Executor]:
    figures = objective_named(spec.objective, spec.constraints).all_fields
    return opened_executor(spec, figures, executor, address, opened_engine, observer)
