"""Reads and samples traces with the worker (docs/design/traces.md)."""

import re
import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from rocktune.engine.base import Progress, RunFailed
from rocktune.engine.local.locks import is_locked_by_another
from rocktune.engine.worker import find_worker, start_worker
from rocktune.errors import UserError
from rocktune.trial import Status
from rocktune.workload import TraceSummary

DEFAULT_SCAN_LENGTH = 100
"""Entries that a scan is assumed to read if a trace states neither its length nor a bound."""
MAX_SCAN_LENGTH = 100_000

# Progress restarts the time, but sorting many keys is silent.
_TIMEOUT_S = 3600.0


def import_trace(
    source: Path,
    target: Path,
    unknown_scan_length: int = DEFAULT_SCAN_LENGTH,
    preload_from: Path | None = None,
    progress: Progress | None = None,
    command: Sequence[str] | None = None,
) -> TraceSummary:
    """Reads a trace and writes its operations to a file, with ranks for keys.

    Args:
        source: the trace.
        target: the file to write; a file of this name is replaced.
        unknown_scan_length: entries that a scan is assumed to read if the trace does not say, from 1 to
            `MAX_SCAN_LENGTH`.
        preload_from: directory of the database that the trace was recorded on, whose keys are then present
            at the start; None if it is not known. It is not changed.
        progress: is called with the phase "import" and bytes of the trace, which is read twice; and with
            "stored-keys" and keys of the database.
        command: program and arguments that start a worker; the result of `find_worker` by default.

    Raises:
        UserError: the trace cannot be read, is of no known format or holds no operation; the database is
            open in a process, cannot be read, sorts its keys not bytewise or has none of the trace's keys;
            the target cannot be written; or no worker is installed.
    """
    if preload_from is not None and is_locked_by_another(preload_from / "LOCK"):
        raise UserError(
            f"preload_from: {preload_from} is open in another process, which may delete files while they are "
            "read; make a checkpoint (DB::CreateCheckpoint, ldb checkpoint) and give that"
        )
    if not 1 <= unknown_scan_length <= MAX_SCAN_LENGTH:
        raise UserError(
            f"scan-length: {unknown_scan_length} must be a number of entries from 1 to {MAX_SCAN_LENGTH:,}"
        )
    fields = {
        "source": str(source),
        "target": str(target),
        "unknown_scan_length": unknown_scan_length,
        "preload_from": "" if preload_from is None else str(preload_from),
    }
    return _asked("import_trace", fields, (source, target), progress, command)


def sample_trace(path: Path, scale: int, command: Sequence[str] | None = None) -> TraceSummary:
    """Makes the sample of a file of operations for a 1/S model, if it is missing.

    Args:
        path: the file that `import_trace` wrote. The sample lies next to it.
        scale: S; 1 for the whole trace, of which no sample is made.
        command: see `import_trace`.

    Returns:
        The sample's summary, with its errors.

    Raises:
        UserError: the file cannot be read, the sample cannot be written or would hold no operation, or no
            worker is installed.
    """
    return _asked("sample_trace", {"path": str(path), "scale": scale}, (path, path), None, command)


def _asked(
    name: str,
    fields: dict[str, Any],
    paths: tuple[Path, Path],
    progress: Progress | None,
    command: Sequence[str] | None,
) -> TraceSummary:
    """Returns the summary in a worker's reply.

    Args:
        name: the command.
        fields: its fields.
        paths: the file to name in errors, and the one that is written.
        progress: see `import_trace`.
        command: see `import_trace`.

    Raises:
        UserError: the worker refuses the command or fails.
    """
    path, written = paths
    worker = start_worker(tuple(command or find_worker()))
    try:
        reply = worker.request(name, _TIMEOUT_S, fields, progress, renewed=True)
    except RunFailed as failure:
        # The worker's own refusals name the file; what remains is a full disk, or a worker that died.
        said = failure.message if failure.status is Status.INVALID else f"{path}: {failure.message}"
        raise UserError(said) from None
    finally:
        worker.kill()
        _remove_unfinished(written, worker.pid)
    return TraceSummary.model_validate(reply["summary"])


def _remove_unfinished(path: Path, pid: int) -> None:
    """Removes what a worker that was killed, such as by Ctrl-C, left of a file that it wrote."""
    unfinished = re.compile(rf"{re.escape(path.name)}(?:\.s\d+)?\.{pid}\.(?:keys|sizes|partial)")
    with suppress(OSError):
        for each in path.parent.iterdir():
            if unfinished.fullmatch(each.name) and each.is_dir():
                shutil.rmtree(each, ignore_errors=True)
            elif unfinished.fullmatch(each.name):
                each.unlink(missing_ok=True)
