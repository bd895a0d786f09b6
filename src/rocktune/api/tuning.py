"""Tunes, resumes and verifies studies."""

from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

from rocktune import study
from rocktune.api.comparing import run_recorded_comparison
from rocktune.api.engines import engine_version, opened_engine
from rocktune.api.executors import opened_executor
from rocktune.api.files import claim_output, require_study, write_files
from rocktune.api.requests import Given, resolved_study
from rocktune.api.scaling import run_recorded_scale_check
from rocktune.api.sweeping import run_recorded_sweep
from rocktune.api.traces import trace_notes
from rocktune.api.upgrading import run_recorded_upgrade
from rocktune.engine import CommandSpec, command_lines
from rocktune.engine.spec import FULL_LENGTH_S
from rocktune.errors import UserError
from rocktune.ledger import open_ledger
from rocktune.options_account import account_json
from rocktune.outcome import Outcome, ScaleCheck
from rocktune.report import scale_sentences
from rocktune.study import (
    ComparisonSpec,
    Executor,
    Observer,
    ScaleCheckSpec,
    StudyRequest,
    StudySpec,
    SweepSpec,
    UpgradeSpec,
    recorded_spec,
)
from rocktune.study.specs.problem import objective_of
from rocktune.units import format_scale, parse_scale


@dataclass(frozen=True)
class PreparedStudy:
    """A checked study that has not measured or written anything yet.

    Attributes:
        spec: the study.
        request: request that it was made from.
        notes: sentences on fields of the study file that have no effect.
    """

    spec: StudySpec
    request: StudyRequest
    notes: tuple[str, ...] = ()

    def estimate(self) -> dict[str, Any]:
        """Returns the estimated time, disk and memory; see `rocktune.api.estimate`."""
        spec, check = self.spec, self._scale_check()
        return {
            "study": spec.name,
            "scale": format_scale(spec.scale),
            "scale_check": None if check is None else check.to_json(),
            "scale_notes": scale_sentences(check),
            "commands": command_lines(spec.engine) if isinstance(spec.engine, CommandSpec) else [],
            "own_options_notes": [*self.notes, *study.own_notes(spec)],
            "trace_notes": trace_notes(
                spec.workload, spec.scale, FULL_LENGTH_S / spec.engine.time_scale(spec.scale)
            ),
            "options_account": account_json(study.own_account(spec)),
            "default_constraints": list(spec.default_constraints),
            **study.estimate(spec).to_json(),
        }

    def _scale_check(self) -> ScaleCheck | None:
        """Returns the check of the study's scale; None if none is known."""
        if not study.has_larger_model(self.spec):
            return None
        version = engine_version(self.spec.engine)
        if version is None:
            return None
        # Without a ledger yet, or with one that cannot be read, rocktune's own checks remain.
        with suppress(UserError), open_ledger(self.request.ledger, create=False) as ledger:
            return study.find_scale_check(self.spec, version, ledger)
        return study.find_scale_check(self.spec, version, None)

    def run(
        self,
        *,
        executor: str | None = None,
        address: str | None = None,
        observer: Observer | None = None,
    ) -> Outcome:
        """Runs or continues the study and writes its files; see `rocktune.api.tune`."""
        spec, request, observer = self.spec, self.request, observer or Observer()
        with (
            # The executor opens first, so that a missing program leaves no empty study in the ledger.
            _executor_of(spec, executor, address, observer) as measuring,
            open_ledger(request.ledger) as ledger,
        ):
            record = ledger.create_study(spec.name, spec.model_dump(mode="json"), measuring.version)
            given = (request.options_file, *request.tried)
            directory = claim_output(ledger, record, request.out, filter(None, given))
            outcome = study.continue_study(spec, measuring, ledger, record, observer)
            return write_files(ledger, record, outcome, directory)


def prepare(study_file: str | Path | None = None, **given: Unpack[Given]) -> PreparedStudy:
    """Returns a checked study.

    Args:
        study_file: see `tune`.
        **given: see `tune`.

    Raises:
        UserError: a part of the request is invalid.
    """
    notes = study.replaced_fields(given, None if study_file is None else Path(study_file))
    spec, request = resolved_study(study_file, given)
    if request.warm_start and not any(each.study for each in spec.tried):
        notes = (
            *notes,
            "Warm start: no earlier study of the ledger is similar enough, or the budget too small.",
        )
    return PreparedStudy(spec, request, notes)


def estimate(study_file: str | Path | None = None, **given: Unpack[Given]) -> dict[str, Any]:
    """Returns the estimated time, disk and memory of a study, without measuring or writing anything.

    Args:
        study_file: see `tune`.
        **given: see `tune`.

    Returns:
        `study` (the name), `scale`, `commands` (the user's own programs that will be executed),
        `own_options_notes` and `trace_notes` (how OPTIONS file and trace are used, in sentences),
        `scale_check` (the fields of
        `rocktune.outcome.ScaleCheck`, None if no check of the scale is known), `scale_notes` (sentences, if
        the scale does not rank), and the fields of `rocktune.study.Estimate`.

    Raises:
        UserError: a part of the request is invalid.
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
    """Searches for a better configuration, proves it, and writes an OPTIONS file and a report.

    An existing study with this name and equal settings is continued.

    Args:
        study_file: a study's TOML file; `given` overrides it.
        executor: where trials are measured: "local:N" (N workers on this machine) or "ray"; "local:1" by
            default. A study can be continued with another executor.
        address: address of the Ray cluster; by default the one on this machine.
        observer: observer of phases, trials and progress.
        **given: the study, by fields of `rocktune.study.StudyRequest`.

    Raises:
        UserError: a part of the request is invalid, or this machine lacks something that is needed.
        StudyInterrupted: Ctrl-C was pressed; `resume` continues.
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
) -> Outcome | ScaleCheck | dict[str, Any]:
    """Continues a study, sweep, scale check, upgrade or comparison. Writes the files of a finished one again.

    Args:
        name: name of the study.
        ledger: URL or SQLite file; None for the user's own.
        executor: see `tune`.
        address: see `tune`.
        observer: observer of phases, trials and progress.

    Returns:
        The outcome of a study, or the result of `rocktune.api.sweep`, `check_scale`, `upgrade` or `compare`.

    Raises:
        UserError: there is no such study, or another process runs it.
        StudyInterrupted: Ctrl-C was pressed.
    """
    with open_ledger(ledger, create=ledger is None) as opened:
        record = opened.study(name)
        spec = recorded_spec(record.spec)
        if isinstance(spec, ComparisonSpec):
            return run_recorded_comparison(spec, opened, executor, address, observer)
        if isinstance(spec, SweepSpec):
            return run_recorded_sweep(spec, opened, executor, address, observer)
        if isinstance(spec, ScaleCheckSpec):
            return run_recorded_scale_check(spec, opened, executor, address, observer)
        if isinstance(spec, UpgradeSpec):
            return run_recorded_upgrade(spec, opened, executor, address, observer)
        observer = observer or Observer()
        # What was measured before the interruption is not measured again. The estimate has no repeats of
        # disturbed runs, so neither may the spent time have any.
        spent_s = study.spent_s(opened, record) - study.disturbed_s(opened, record)
        observer.estimated(max(0.0, study.estimate(spec).total_s - spent_s))
        with _executor_of(spec, executor, address, observer) as measuring:
            directory = claim_output(opened, record, None)
            outcome = study.continue_study(spec, measuring, opened, record, observer)
            return write_files(opened, record, outcome, directory)


def verify(
    name: str,
    scale: str,
    *,
    pairs: int | None = None,
    ledger: str | None = None,
    executor: str | None = None,
    address: str | None = None,
    observer: Observer | None = None,
) -> Outcome:
    """Proves a finished study's winner again at another scale, and writes the files again.

    Args:
        name: name of the study.
        scale: "1/S", or "1" for full size.
        pairs: number of pairs of this proof; None for the study's own setting.
        ledger: URL or SQLite file; None for the user's own.
        executor: see `tune`.
        address: see `tune`.
        observer: observer of phases, trials and progress.

    Raises:
        UserError: the scale or the number of pairs is invalid, there is no such study, or it has no winner.
        StudyInterrupted: Ctrl-C was pressed; verifying again continues.
    """
    divisor = parse_scale(scale)
    with open_ledger(ledger, create=ledger is None) as opened:
        record = opened.study(name)
        require_study(record, "has no winner to verify")
        spec = StudySpec.model_validate(dict(record.spec))
        spec = spec.model_copy(update={"verification": spec.verification.with_pairs(pairs)})
        observer = observer or Observer()
        # Runs at another scale take another time, so the study's own estimate does not hold.
        observer.estimated(study.verifying_s(spec, divisor))
        with _executor_of(spec, executor, address, observer) as measuring:
            directory = claim_output(opened, record, None)
            outcome = study.verify_study(spec, measuring, opened, divisor, observer)
            return write_files(opened, record, outcome, directory)


def _executor_of(
    spec: StudySpec, executor: str | None, address: str | None, observer: Observer
) -> AbstractContextManager[Executor]:
    """Opens the executor of a study; see `opened_executor`."""
    figures = objective_of(spec, spec.scale).measured_fields
    return opened_executor(spec, figures, executor, address, opened_engine, observer)
