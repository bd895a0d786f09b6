"""The output directory of a study, with its OPTIONS file and its report."""

import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from rocktune.device import measured_disks, unlike
from rocktune.errors import UserError
from rocktune.export import export_study
from rocktune.ledger import Ledger, StudyRecord
from rocktune.outcome import Outcome, ScaleCheck
from rocktune.report import check_command_line, command_line, disk_notes, write_report
from rocktune.study import StudySpec, find_scale_check, kept_trials, recorded_spec
from rocktune.study.kinds import AnySpec

OUT = "out"
"""Kind of the ledger's event that records the output directory."""
OPTIONS_NAME = "OPTIONS"
REPORT_NAME = "report.html"
TABLE_NAME = "table.csv"
_MADE_HERE = b"rocktune"
"""Word in every file that rocktune writes."""


def require_study(study: StudyRecord, lacks: str) -> None:
    """Refuses a sweep, a scale check, an upgrade or a comparison.

    Args:
        study: record to check.
        lacks: what they lack, for the message.

    Raises:
        UserError: the record is one of these.
    """
    kind = study.spec.get("kind")
    if kind is not None:
        article = "an" if kind == "upgrade" else "a"
        raise UserError(f"study '{study.name}': {article} {kind.replace('_', ' ')} {lacks}")


def claim_output(
    ledger: Ledger, study: StudyRecord, out: str | Path | None, inputs: Iterable[str | Path] = ()
) -> Path:
    """Creates a study's output directory, checks that it can be written, and records it in the ledger.

    Args:
        ledger: ledger of the study.
        study: record of the study.
        out: directory; None for the study's earlier one, or else `./NAME`.
        inputs: files of the user's that the study reads and must not replace.

    Returns:
        The absolute path.

    Raises:
        UserError: the directory cannot be created or written, or has files that the study would replace.
    """
    before = ledger.events(study, OUT)
    if out is None and before:
        directory = Path(before[-1].payload["directory"])
    else:
        directory = Path(study.name if out is None else out).expanduser().absolute()
    try:
        directory.mkdir(parents=True, exist_ok=True)
        # Permission bits do not tell: root ignores them, and a full or read-only file system shows only in
        # writing.
        with tempfile.TemporaryFile(dir=directory):
            pass
    except OSError as failure:
        raise UserError(f"output directory {directory}: cannot be written: {failure.strerror}") from None
    _refuse_inputs(directory, inputs)
    # Only a change is recorded, so that resuming a study does not fill the ledger with equal events.
    if not before or before[-1].payload["directory"] != str(directory):
        _refuse_others(ledger, study, directory)
        ledger.add_event(study, OUT, {"directory": str(directory)})
    return directory


def _refuse_inputs(directory: Path, inputs: Iterable[str | Path]) -> None:
    """Raises UserError if a directory's file is one that the study reads."""
    for given in inputs:
        for name in (OPTIONS_NAME, REPORT_NAME, TABLE_NAME):
            if (directory / name).exists() and Path(given).exists() and (directory / name).samefile(given):
                raise UserError(
                    f"output directory {directory}: its file {name} is read by the study, which would "
                    "replace it; choose another directory with --out"
                )


def _is_ours(path: Path) -> bool:
    """Returns whether rocktune wrote a file."""
    try:
        return _MADE_HERE in path.read_bytes()
    except OSError:
        return False


def _refuse_others(ledger: Ledger, study: StudyRecord, directory: Path) -> None:
    """Raises UserError if a directory has files that rocktune did not write, or those of another study."""
    for path in (directory / name for name in (OPTIONS_NAME, REPORT_NAME, TABLE_NAME)):
        if path.exists() and not _is_ours(path):
            raise UserError(
                f"output directory {directory}: rocktune did not write its file {path.name} and does not "
                "replace it; choose another directory with --out"
            )
    for other in ledger.studies():
        claims = ledger.events(other, OUT) if other.name != study.name else ()
        if claims and claims[-1].payload["directory"] == str(directory):
            raise UserError(
                f"output directory {directory}: it is that of study '{other.name}', whose files would be "
                "replaced; choose another directory with --out"
            )


def write_files(ledger: Ledger, study: StudyRecord, outcome: Outcome, directory: Path) -> Outcome:
    """Writes the OPTIONS file and the report, each atomically, and looks up what is known of the conditions.

    Returns:
        The outcome with `options_file` (None if there is nothing to export), `report`, `command`,
        `scale_check`, `check_command` and `device_notes`, as it is now in the ledger.

    Raises:
        UserError: a file cannot be written.
    """
    spec = recorded_spec(study.spec)
    check = outcome.scale_check or _scale_check(ledger, spec, outcome)
    options_file = directory / OPTIONS_NAME
    has_options = outcome.recommended in outcome.sides
    files = {
        "options_file": str(options_file) if has_options else None,
        "report": str(directory / REPORT_NAME),
        "command": command_line(study, outcome),
        "scale_check": check,
        "check_command": check_command_line(study, outcome) if check is None else None,
        "device_notes": _device_notes(spec),
    }
    outcome = outcome.model_copy(update=files)
    if has_options:
        text = export_study("options-file", study, outcome)
        _written(options_file, lambda: _write_text(options_file, text))
    write_report_file(ledger, study, outcome, directory)
    # After the files exist, so that the ledger never names a file that was not written.
    ledger.set_outcome(study, outcome.to_json())
    return outcome


def _device_notes(spec: AnySpec) -> tuple[str, ...]:
    """Returns sentences on measured disks of this machine that are unlike a study's device."""
    # The user's own program uses a real disk.
    if not isinstance(spec, StudySpec) or spec.engine.kind == "command":
        return ()
    return disk_notes(spec.device, unlike(spec.device, measured_disks()))


def _scale_check(ledger: Ledger, spec: AnySpec, outcome: Outcome) -> ScaleCheck | None:
    """Returns the check of a finished study's scale; None if none is known."""
    return find_scale_check(spec, outcome.engine, ledger) if isinstance(spec, StudySpec) else None


def write_report_file(ledger: Ledger, study: StudyRecord, outcome: Outcome, directory: Path) -> Path:
    """Writes the report into a directory and returns its path.

    Raises:
        UserError: the file cannot be written.
    """
    path = directory / REPORT_NAME
    _written(path, lambda: write_report(path, study, outcome, kept_trials(ledger, study)))
    return path


def _write_text(path: Path, text: str) -> None:
    """Writes a text file atomically."""
    # A rename within one directory is atomic: a crash leaves the old file or the new one.
    unfinished = path.with_name(path.name + ".part")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(path)


def _written(path: Path, write: Callable[[], None]) -> None:
    """Runs a function that writes a file.

    Raises:
        UserError: the file cannot be written.
    """
    try:
        # Hours lie between the check of the directory and the end of the study; it may be gone by now.
        path.parent.mkdir(parents=True, exist_ok=True)
        write()
    except OSError as failure:
        raise UserError(f"{path}: cannot be written: {failure.strerror}") from None
