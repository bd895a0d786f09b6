"""Lists, shows, deletes, reports and exports the studies of a ledger."""

from collections import Counter
from pathlib import Path
from typing import Any

from rocktune.api.comparing import report_comparison
from rocktune.api.files import REPORT_NAME, claim_output, require_study, write_report_file
from rocktune.api.upgrading import report_upgrade
from rocktune.errors import UserError
from rocktune.export import export_study
from rocktune.ledger import Ledger, StudyRecord, open_ledger
from rocktune.outcome import Outcome
from rocktune.study import (
    ComparisonSpec,
    UpgradeSpec,
    file_systems_of,
    kept_trials,
    recorded_outcome,
    recorded_spec,
)
from rocktune.units import format_scale


def studies(*, ledger: str | None = None) -> list[dict[str, Any]]:
    """Returns the studies of a ledger, oldest first, with conditions, state and ratio to the baseline.

    Args:
        ledger: URL or SQLite file; None for the user's own.
    """
    with open_ledger(ledger, create=ledger is None) as opened:
        return [_summary(opened, record) for record in opened.studies()]


def show(name: str, *, ledger: str | None = None) -> dict[str, Any]:
    """Returns a study's summary, settings, trials by status, and outcome (None until it is finished).

    Raises:
        UserError: there is no such study.
    """
    with open_ledger(ledger, create=ledger is None) as opened:
        record = opened.study(name)
        outcome = recorded_outcome(opened, record)
        statuses = Counter(str(trial.status) for trial in kept_trials(opened, record))
        return _summary(opened, record) | {
            "host": record.host,
            "engine": record.engine_version,
            "file_system": file_systems_of(opened, record),
            "is_running": _is_running(opened, record),
            "trials": dict(sorted(statuses.items())),
            "spec": dict(record.spec),
            "outcome": None if outcome is None else outcome.to_json(),
        }


def delete(name: str, *, ledger: str | None = None) -> None:
    """Deletes a study with all its measurements; its report and OPTIONS file stay.

    Raises:
        UserError: there is no such study, or it is running.
    """
    with open_ledger(ledger, create=ledger is None) as opened:
        opened.delete_study(name)


def report(name: str, *, ledger: str | None = None) -> Path:
    """Writes the report of a finished study, or of a comparison's finished part, and returns its path.

    Raises:
        UserError: there is no such study, it is not finished, or the file cannot be written.
    """
    with open_ledger(ledger, create=ledger is None) as opened:
        record = opened.study(name)
        spec = recorded_spec(record.spec)
        if isinstance(spec, ComparisonSpec):
            directory = claim_output(opened, record, None)
            return Path(report_comparison(spec, opened, record, directory)["report"])
        if isinstance(spec, UpgradeSpec):
            directory = claim_output(opened, record, None)
            return Path(report_upgrade(spec, opened, record, directory)["report"])
        outcome = _finished(opened, record, "has no report; 'rocktune resume' writes its result again")
        directory = claim_output(opened, record, None)
        # The directory may have changed since the outcome was recorded.
        report = {"report": str(directory / REPORT_NAME)}
        return write_report_file(opened, record, outcome.model_copy(update=report), directory)


def export(name: str, to: str, *, point: int | None = None, ledger: str | None = None) -> str:
    """Returns a finished study's recommended configuration in another system's format, at full size.

    Args:
        name: name of the study.
        to: one of `rocktune.export.export_targets`.
        point: number of a point of the Pareto front to export instead, from 1, in the order of the outcome's
            `front`.
        ledger: URL or SQLite file; None for the user's own.

    Raises:
        UserError: the study, target or point does not exist, or the study is not finished.
    """
    with open_ledger(ledger, create=ledger is None) as opened:
        record = opened.study(name)
        return export_study(to, record, _finished(opened, record, "has no configuration to export"), point)


def _finished(ledger: Ledger, record: StudyRecord, lacks: str) -> Outcome:
    """Returns the outcome of a finished study.

    Args:
        ledger: ledger of the study.
        record: record of the study.
        lacks: what other records lack, for the message.

    Raises:
        UserError: it is a sweep, a scale check or a comparison, or is not finished.
    """
    require_study(record, lacks)
    outcome = recorded_outcome(ledger, record)
    if outcome is None:
        raise UserError(
            f"study '{record.name}' is not finished; 'rocktune resume {record.name}' continues it"
        )
    return outcome


def _summary(ledger: Ledger, record: StudyRecord) -> dict[str, Any]:
    """Returns the summary of one study for lists."""
    spec = record.spec
    if spec.get("kind") == "comparison":
        # All studies of a comparison share their conditions, so the first one's stand for all.
        spec = {**spec["studies"][0]["study"], "tuner": "comparison"}
    return {
        "study": record.name,
        "state": record.state,
        "workload": spec["workload"]["name"],
        "device": spec["device"]["name"],
        "tuner": spec.get("tuner", str(spec.get("kind")).replace("_", " ")),
        "scale": format_scale(spec["scale"]),
        "ratio_to_baseline": _ratio(ledger, record),
        "created_at": record.created_at,
    }


def _ratio(ledger: Ledger, record: StudyRecord) -> float | None:
    """Returns a study's ratio to its baseline, None if unknown.

    An outcome written by a newer rocktune must not hide the other studies; `show` reports the error.
    """
    try:
        outcome = recorded_outcome(ledger, record)
    except UserError:
        return None
    return None if outcome is None else outcome.ratio.value


def _is_running(ledger: Ledger, record: StudyRecord) -> bool:
    """Returns whether another process holds the study's lock."""
    try:
        # The lock is the operating system's, so a crashed process never counts as running.
        with ledger.lock(record):
            return False
    except UserError:
        return True
