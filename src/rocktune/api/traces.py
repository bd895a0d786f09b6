"""Summaries of traces, and workloads that replay traces."""

import hashlib
import json
from contextlib import closing
from pathlib import Path
from typing import Any

from rocktune.api.new_files import checked_new_file, write_new_file
from rocktune.engine import (
    DEFAULT_SCAN_LENGTH,
    DataDirectory,
    default_data_directory,
    import_trace,
    sample_trace,
)
from rocktune.errors import UserError, unknown_name
from rocktune.study import Observer
from rocktune.units import format_seconds, parse_scale
from rocktune.workload import TraceSummary, WorkloadSpec, load_workload, trace_workload, workload_file_text

_RATES = ("closed", "recorded")
_OPERATIONS_SUFFIX = ".operations"


def trace_info(
    trace: str | Path,
    *,
    scale: str | int = 1,
    scan_length: int = DEFAULT_SCAN_LENGTH,
    observer: Observer | None = None,
) -> dict[str, Any]:
    """Returns what a trace holds, and what cannot be known of it.

    Args:
        trace: a query trace of RocksDB, the text of trace_analyzer, a CSV file, or a cache trace of Twitter;
            see docs/traces.md.
        scale: "1/S"; below 1, `sampling` says how the sample for such a model differs from the whole.
        scan_length: entries that a scan is assumed to read if the trace does not say, from 1 to 100,000.
        observer: observer of progress.

    Returns:
        The fields of `rocktune.workload.TraceSummary` for the whole trace, but `sampling` is the sample's;
        `assumptions`, sentences on what a replay assumes or leaves out; and `unknown`, sentences on what no
        trace says.

    Raises:
        UserError: an argument is invalid; the trace cannot be read, is of no known format or holds no
            operation; or this machine lacks the worker.
    """
    divisor = parse_scale(scale)
    imported = _imported(Path(trace), scan_length, observer)
    assert imported.trace is not None, "an imported workload has a trace"
    path = Path(imported.trace.path)
    whole = sample_trace(path, 1)
    sampling = sample_trace(path, divisor).sampling if divisor > 1 else None
    return whole.model_copy(update={"sampling": sampling}).model_dump(mode="json") | _account(whole)


def write_trace_workload(
    trace: str | Path,
    out: str | Path,
    *,
    rate: str = "closed",
    threads: int = 16,
    scan_length: int = DEFAULT_SCAN_LENGTH,
    observer: Observer | None = None,
) -> dict[str, Any]:
    """Writes a workload that replays a trace: a TOML file, and a file of operations next to it.

    The files hold no key and no value of the trace.

    Args:
        trace: see `trace_info`.
        out: TOML file to write, for `--workload`; it must not exist yet.
        rate: "closed" (a thread's next operation starts when its last one has ended) or "recorded" (at the
            recorded times).
        threads: number of threads that issue operations, from 1 to 1,024.
        scan_length: see `trace_info`.
        observer: observer of progress.

    Returns:
        The fields of `rocktune.workload.TraceSummary`; `assumptions` and `unknown` as in `trace_info`; and
        `file`, the TOML file.

    Raises:
        UserError: see `trace_info`; or a file cannot be written.
    """
    path = checked_new_file(Path(out), "--workload")
    if rate not in _RATES:
        raise unknown_name("rate", rate, _RATES)
    if not 1 <= threads <= 1024:
        raise UserError(f"threads: {threads} must be a number from 1 to 1,024")
    operations = path.with_suffix(_OPERATIONS_SUFFIX)
    summary = _read(Path(trace), operations, scan_length, observer)
    workload = trace_workload(summary, operations.name, path.stem, rate == "recorded", threads)
    write_new_file(path, workload_file_text(workload))
    return summary.model_dump(mode="json") | _account(summary) | {"file": str(path)}


def imported_workload(trace: str | Path, observer: Observer | None = None) -> Path:
    """Returns the workload file of a trace, imported into the data directory unless it is there already.

    Raises:
        UserError: see `trace_info`.
    """
    path = Path(trace)
    _imported(path, DEFAULT_SCAN_LENGTH, observer)
    return _cached(path, DEFAULT_SCAN_LENGTH)


def trace_notes(workload: WorkloadSpec, scale: int, seconds: float) -> list[str]:
    """Returns sentences on the replay of a workload's trace; empty if it has no trace.

    Args:
        workload: the workload at full size.
        scale: S of the model.
        seconds: length of a run.
    """
    if workload.trace is None:
        return []
    trace, recorded = workload.trace, workload.sessions[0].arrival.kind == "recorded"
    span_s = trace.seconds / scale
    notes = [f"Replays a trace of {trace.operations:,} operations in {format_seconds(trace.seconds)}"]
    if scale > 1:
        notes[0] += f", sampled by key to 1/{scale}"
    notes[0] += ", at its recorded times." if recorded else ", as fast as the store takes it."
    if recorded and seconds > span_s:
        notes.append(
            f"The trace ends after {format_seconds(span_s)} of each run's {format_seconds(seconds)} and "
            "begins again; its reads then find what the first pass wrote."
        )
    elif not recorded:
        notes.append("If a run performs all operations of the trace, the trace begins again.")
    return notes


def _imported(trace: Path, scan_length: int, observer: Observer | None) -> WorkloadSpec:
    """Returns the workload of a trace from the data directory, and imports the trace if it is not there."""
    file = _cached(trace, scan_length)
    if not file.exists():
        with closing(DataDirectory(default_data_directory())) as data:
            data.require_free(0)
            try:
                file.parent.mkdir(parents=True, exist_ok=True)
            except OSError as failure:
                raise UserError(f"{file.parent}: cannot be written: {failure.strerror}") from None
            operations = file.with_suffix(_OPERATIONS_SUFFIX)
            summary = _read(trace, operations, scan_length, observer)
            write_new_file(file, workload_file_text(trace_workload(summary, operations.name, file.stem)))
    return load_workload(str(file))


def _cached(trace: Path, scan_length: int) -> Path:
    """Returns the path of a trace's workload file in the data directory.

    Raises:
        UserError: there is no such trace.
    """
    try:
        found = trace.stat()
    except OSError as failure:
        raise UserError(f"{trace}: cannot be read: {failure.strerror}") from None
    # A trace that changed gets another name, so that a study that goes on keeps its own.
    facts = json.dumps([str(trace.resolve()), found.st_size, found.st_mtime_ns, scan_length])
    key = hashlib.sha256(facts.encode()).hexdigest()[:16]
    return default_data_directory().expanduser().absolute() / "traces" / key / f"{trace.stem or 'trace'}.toml"


def _read(trace: Path, operations: Path, scan_length: int, observer: Observer | None) -> TraceSummary:
    """Imports a trace."""
    watching = observer or Observer()
    watching.phase_started("import-trace", 0.0)
    return import_trace(trace, operations, scan_length, watching.progress)


def _unknown(summary: TraceSummary) -> list[str]:
    """Returns sentences on what no trace says, as far as it matters for this one."""
    sentences = [
        "Whether a lookup found its key; the replay loads all keys that are read before they are put."
    ]
    if not all(family.mean_value_bytes for family in summary.families):
        sentences.append("The sizes of values that are only read; the replay gives them 1,024 bytes.")
    else:
        sentences.append("The size of each value that is only read; the replay gives all the mean size.")
    if summary.total("scan"):
        sentences.append("How many entries a scan read, unless the trace states it; see the assumptions.")
    sentences.append("Keys of the store that no operation names; the replay's store lacks them.")
    return sentences


def _account(summary: TraceSummary) -> dict[str, list[str]]:
    """Returns the sentences `assumptions` and `unknown` on a trace; see `trace_info`."""
    assumed = [f"{cases:,} {note}" for note, cases in summary.notes.items()]
    return {"assumptions": assumed, "unknown": _unknown(summary)}
