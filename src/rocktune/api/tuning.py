"""Tuning, resuming and verifying."""

import re
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, TypedDict, Unpack

from rocktune import study
from rocktune.api.engines import opened_engine, own_options
from rocktune.api.files import claim_output, write_files
from rocktune.engine import CommandSpec, Engine, command_lines
from rocktune.ledger import Ledger, open_ledger
from rocktune.objective import objective_named
from rocktune.study import Observer, StudySpec
from rocktune.units import format_scale, parse_scale


class Given(TypedDict, total=False):
    """What a study may be asked for with; `rocktune.study.StudyRequest` says what each means."""

    workload: str | None
    device: str | None
    engine: str | None
    db_bench: str | Path | None
    command: dict[str, Any] | None
    space: str | None
    tuner: str | None
    tuner_settings: dict[str, Any] | None
    objective: str | Sequence[str] | None
    constraints: Sequence[str] | None
    scale: str | None
    budget: str | float | None
    memory: str | int | None
    options_file: str | Path | None
    ledger: str | None
    study: str | None
    seed: int | None
    out: str | Path | None
    verification: dict[str, Any] | None


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
    spec, _ = _resolved(study_file, given)
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
    spec, request = _resolved(study_file, given)
    with _engine_of(spec) as engine, open_ledger(request.ledger) as ledger:
        record = ledger.create_study(spec.name, spec.model_dump(mode="json"), engine.version)
        directory = claim_output(ledger, record, request.out)
        outcome = study.run_study(spec, engine, ledger, observer)
        return Outcome(write_files(ledger, record, outcome, directory))


def resume(name: str, *, ledger: str | None = None, observer: Observer | None = None) -> Outcome:
    """Goes on with a study, or returns the outcome of a finished one with its files written again.

    Args:
        name: the study's.
        ledger: URL or SQLite file; None for the user's own.
        observer: is told what happens.

    Raises:
        UserError: there is no such study, or another process runs it.
        StudyInterrupted: Ctrl-C.
    """
    with open_ledger(ledger, create=ledger is None) as opened:
        record, spec = opened.study(name), _recorded_spec(opened, name)
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
        record, spec = opened.study(name), _recorded_spec(opened, name)
        observer = observer or Observer()
        observer.estimated(study.verifying_s(spec, divisor))
        with _engine_of(spec) as engine:
            directory = claim_output(opened, record, None)
            outcome = study.verify_study(spec, engine, opened, divisor, observer)
            return Outcome(write_files(opened, record, outcome, directory))


def _engine_of(spec: StudySpec) -> AbstractContextManager[Engine]:
    return opened_engine(spec.engine, objective_named(spec.objective, spec.constraints).all_fields)


def _recorded_spec(ledger: Ledger, name: str) -> StudySpec:
    return StudySpec.model_validate(dict(ledger.study(name).spec))


def _resolved(study_file: str | Path | None, given: Given) -> tuple[StudySpec, study.StudyRequest]:
    texts = {name: str(value) if isinstance(value, Path) else value for name, value in given.items()}
    request = study.make_request(texts, None if study_file is None else Path(study_file))
    spec = study.resolve(
        request,
        request.study or _new_name(request),
        lambda: own_options(request.options_file, leave_out_foreign=request.engine == "command"),
    )
    return spec, request


def _new_name(request: study.StudyRequest) -> str:
    """Returns a name that tells what is tuned and when: `ycsb-a-nvme-20260304-093015`."""
    parts = [Path(part).stem for part in (request.workload or "study", request.device)]
    readable = re.sub(r"[^A-Za-z0-9._-]+", "-", "-".join(parts)).strip("-.")
    return f"{readable}-{datetime.now():%Y%m%d-%H%M%S}"
