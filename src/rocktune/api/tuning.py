"""Tuning, resuming and verifying."""

from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Unpack

from rocktune import study
from rocktune.api.comparing import run_recorded_comparison
from rocktune.api.engines import opened_engine
from rocktune.api.files import claim_output, require_study, write_files
from rocktune.api.requests import Given, resolved_study
from rocktune.api.sweeping import run_recorded_sweep
from rocktune.engine import CommandSpec, Engine, command_lines
from rocktune.ledger import open_ledger
from rocktune.objective import objective_named
from rocktune.study import ComparisonSpec, Observer, StudySpec, SweepSpec, recorded_spec
from rocktune.units import format_scale, parse_scale


@dataclass(frozen=True)
class Outcome:
    """What came out of a study; docs/design/verification.md lists its fields."""

    document: dict[str, Any] = field(repr=False)

    def __getitem__(self, name: str) -> Any:
        return self.document[name]

    def to_json(self) -> dict[str, Any]:
        """Returns it as JSON data."""
        return self.document


def estimate(study_file: str | Path | None = None, **given: Unpack[Given]) -> dict[str, Any]:
    """Says what a study would take, and measures and writes nothing.

    Args:
        study_file: see `tune`.
        **given: see `tune`.

    Returns:
        `study` (its name), `scale`, `commands` (what will be executed, where that is the user's own program),
        and seconds and bytes as `rocktune.study.Estimate` has them.

    Raises:
        UserError: the request is wrong somewhere.
    """
    spec, _ = resolved_study(study_file, given)
    return {
        "study": spec.name,
        "scale": format_scale(spec.scale),
        "commands": command_lines(spec.engine) if isinstance(spec.engine, CommandSpec) else [],
        **study.estimate(spec).to_json(),
    }


def tune(
    study_file: str | Path | None = None, *, observer: Observer | None = None, **given: Unpack[Given]
) -> Outcome:
    """Searches a better configuration, proves it, and writes an OPTIONS file and a report.

    A study that has this name and these settings already is gone on with.

    Args:
        study_file: a study's TOML file; what is given beside it comes first.
        observer: is told what happens.
        **given: the study, by the names of `rocktune.study.StudyRequest`.

    Raises:
        UserError: the request is wrong somewhere, or this machine lacks what it takes.
        StudyInterrupted: Ctrl-C; `resume` goes on.
    """
    spec, request = resolved_study(study_file, given)
    with _engine_of(spec) as engine, open_ledger(request.ledger) as ledger:
        record = ledger.create_study(spec.name, spec.model_dump(mode="json"), engine.version)
        directory = claim_output(ledger, record, request.out)
        outcome = study.run_study(spec, engine, ledger, observer)
        return Outcome(write_files(ledger, record, outcome, directory))


def resume(name: str, *, ledger: str | None = None, observer: Observer | None = None) -> Outcome:
    """Goes on with a study or sweep, or returns the outcome of a finished one with its files written again.

    Of a sweep the outcome is what `rocktune.sweep` returns, of a comparison what `rocktune.compare` does.

    Args:
        name: the study's.
        ledger: URL or SQLite file; None for the user's own.
        observer: is told what happens.

    Raises:
        UserError: there is no such study, or another process runs it.
        StudyInterrupted: Ctrl-C.
    """
    with open_ledger(ledger, create=ledger is None) as opened:
        record = opened.study(name)
        spec = recorded_spec(record.spec)
        if isinstance(spec, ComparisonSpec):
            return Outcome(run_recorded_comparison(spec, opened, observer))
        if isinstance(spec, SweepSpec):
            return Outcome(run_recorded_sweep(spec, opened, observer))
        observer = observer or Observer()
        observer.estimated(max(0.0, study.estimate(spec).total_s - study.spent_s(opened, record)))
        with _engine_of(spec) as engine:
            directory = claim_output(opened, record, None)
            outcome = study.run_study(spec, engine, opened, observer)
            return Outcome(write_files(opened, record, outcome, directory))


def verify(name: str, scale: str, *, ledger: str | None = None, observer: Observer | None = None) -> Outcome:
    """Proves a finished study's winner again at another scale.

    Args:
        name: the study's.
        scale: "1/S", or "1" for full size.
        ledger: URL or SQLite file; None for the user's own.
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
        with _engine_of(spec) as engine:
            directory = claim_output(opened, record, None)
            outcome = study.verify_study(spec, engine, opened, divisor, observer)
            return Outcome(write_files(opened, record, outcome, directory))


def _engine_of(spec: StudySpec) -> AbstractContextManager[Engine]:
    return opened_engine(spec.engine, objective_named(spec.objective, spec.constraints).all_fields)
