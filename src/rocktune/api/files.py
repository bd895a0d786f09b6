"""What a finished study leaves in its output directory: an OPTIONS file and a report."""

import tempfile
from collections.abc import Callable
from pathlib import Path

from rocktune.errors import UserError
from rocktune.export import export_study
from rocktune.ledger import Ledger, StudyRecord
from rocktune.outcome import Outcome
from rocktune.report import command_line, write_report

OUT = "out"
"""The kind of event that says where a study's files go."""
OPTIONS_NAME = "OPTIONS"
REPORT_NAME = "report.html"


def require_study(study: StudyRecord, lacks: str) -> None:
    """Refuses a sweep or comparison where a study is asked for.

    Args:
        study: any of them.
        lacks: what it lacks, for the error.

    Raises:
        UserError: it is none.
    """
    kind = study.spec.get("kind")
    if kind is not None:
        raise UserError(f"study '{study.name}': a {kind} {lacks}")


def claim_output(ledger: Ledger, study: StudyRecord, out: str | Path | None) -> Path:
    """Makes a study's output directory and remembers it.

    Args:
        ledger: has the study.
        study: whose files they are.
        out: None for the one that the study had before, else `./NAME`.

    Returns:
        The directory, absolute; it can be written.

    Raises:
        UserError: it cannot.
    """
    before = ledger.events(study, OUT)
    if out is None and before:
        directory = Path(before[-1].payload["directory"])
    else:
        directory = Path(study.name if out is None else out).expanduser().absolute()
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            pass
    except OSError as failure:
        raise UserError(f"output directory {directory}: cannot be written: {failure.strerror}") from None
    if not before or before[-1].payload["directory"] != str(directory):
        ledger.add_event(study, OUT, {"directory": str(directory)})
    return directory


def write_files(ledger: Ledger, study: StudyRecord, outcome: Outcome, directory: Path) -> Outcome:
    """Writes OPTIONS file and report, each whole or not at all.

    Returns:
        The outcome with the paths `options_file` (None if there is nothing to export) and `report`, and the
        `command` that does the study again; the ledger now has them too.

    Raises:
        UserError: a file cannot be written.
    """
    options_file = directory / OPTIONS_NAME
    has_options = outcome.recommended in outcome.sides
    files = {
        "options_file": str(options_file) if has_options else None,
        "report": str(directory / REPORT_NAME),
        "command": command_line(study, outcome),
    }
    outcome = outcome.model_copy(update=files)
    if has_options:
        text = export_study("options-file", study, outcome)
        _written(options_file, lambda: _write_text(options_file, text))
    write_report_file(ledger, study, outcome, directory)
    ledger.set_outcome(study, outcome.to_json())
    return outcome


def write_report_file(ledger: Ledger, study: StudyRecord, outcome: Outcome, directory: Path) -> Path:
    """Writes the report into a directory and returns its path.

    Raises:
        UserError: it cannot be written.
    """
    path = directory / REPORT_NAME
    _written(path, lambda: write_report(path, study, outcome, ledger.trials(study)))
    return path


def _write_text(path: Path, text: str) -> None:
    unfinished = path.with_name(path.name + ".part")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(path)


def _written(path: Path, write: Callable[[], None]) -> None:
    try:
        # Hours may lie between the claim and the end of the study.
        path.parent.mkdir(parents=True, exist_ok=True)
        write()
    except OSError as failure:
        raise UserError(f"{path}: cannot be written: {failure.strerror}") from None
