"""Summaries of traces, and workloads that replay traces."""

import hashlib
import json
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rocktune.api.new_files import checked_new_file, require_new, write_new_file
from rocktune.api.time_left import TimeLeft
from rocktune.engine import (
    DEFAULT_SCAN_LENGTH,
    DataDirectory,
    default_data_directory,
    import_trace,
    sample_trace,
)
from rocktune.errors import UserError, unknown_name
from rocktune.study import Observer
from rocktune.units import format_bytes, format_seconds, parse_scale
from rocktune.workload import TraceSummary, WorkloadSpec, load_workload, trace_workload, workload_file_text

_RATES = ("closed", "recorded")
_OPERATIONS_SUFFIX = ".operations"
_READING = 4
"""What is read of a trace; a change gets another number, so that traces are imported again."""


def trace_info(
    trace: str | Path,
    *,
    scale: str | int = 1,
    scan_length: int = DEFAULT_SCAN_LENGTH,
    preload_from: str | Path | None = None,
    observer: Observer | None = None,
) -> dict[str, Any]:
    """Returns what a trace holds, and what cannot be known of it.

    Args:
        trace: a query trace of RocksDB, the text of trace_analyzer, a CSV file, or a cache trace of Twitter;
            see docs/traces.md.
        scale: "1/S"; below 1, `sampling` says how the sample for such a model differs from the whole.
        scan_length: entries that a scan is assumed to read if the trace does not say, from 1 to 100,000.
        preload_from: directory of the database that the trace was recorded on, as it was before the trace;
            its keys are then those that the replay's store begins with. It is only read, and no process may
            have it open.
        observer: observer of progress.

    Returns:
        The fields of `rocktune.workload.TraceSummary` for the whole trace, but `sampling` is the sample's;
        `assumptions`, sentences on what a replay assumes or leaves out; and `unknown`, sentences on what no
        trace says.

    Raises:
        UserError: an argument is invalid; the trace cannot be read, is of no known format or holds no
            operation; the database is in use, cannot be read or is not that of the trace; or this machine
            lacks the worker.
    """
    divisor = parse_scale(scale)
    path = _operations(_Source.of(trace, scan_length, preload_from), observer)
    whole = sample_trace(path, 1)
    sampling = sample_trace(path, divisor).sampling if divisor > 1 else None
    return whole.model_copy(update={"sampling": sampling}).model_dump(mode="json") | _account(whole)


def trace_summary(trace: str | Path, observer: Observer | None = None) -> TraceSummary:
    """Returns what a trace holds, without the database that it was recorded on.

    Args:
        trace: see `trace_info`.
        observer: observer of progress.

    Raises:
        UserError: see `trace_info`.
    """
    return sample_trace(_operations(_Source.of(trace, DEFAULT_SCAN_LENGTH, None), observer), 1)


def write_trace_workload(
    trace: str | Path,
    out: str | Path,
    *,
    rate: str = "closed",
    threads: int = 16,
    scan_length: int = DEFAULT_SCAN_LENGTH,
    preload_from: str | Path | None = None,
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
        preload_from: see `trace_info`.
        observer: observer of progress.

    Returns:
        The fields of `rocktune.workload.TraceSummary`; `assumptions` and `unknown` as in `trace_info`; and
        `file`, the TOML file.

    Raises:
        UserError: see `trace_info`; or a file exists or cannot be written.
    """
    path = checked_new_file(Path(out), "--workload")
    if rate not in _RATES:
        raise unknown_name("rate", rate, _RATES)
    if not 1 <= threads <= 1024:
        raise UserError(f"threads: {threads} must be a number from 1 to 1,024")
    operations = path.with_suffix(_OPERATIONS_SUFFIX)
    require_new(operations, "the operations")
    source = _Source.of(trace, scan_length, preload_from)
    summary = source.read(operations, observer)
    workload = trace_workload(
        summary, operations.name, path.stem, rate == "recorded", threads, source.directory
    )
    write_new_file(path, workload_file_text(workload))
    return summary.model_dump(mode="json") | _account(summary) | {"file": str(path)}


def imported_workload(
    trace: str | Path, preload_from: str | Path | None = None, observer: Observer | None = None
) -> Path:
    """Returns the workload file of a trace, imported into the data directory unless it is there already.

    Args:
        trace: see `trace_info`.
        preload_from: see `trace_info`.
        observer: observer of progress.

    Raises:
        UserError: see `trace_info`.
    """
    source = _Source.of(trace, DEFAULT_SCAN_LENGTH, preload_from)
    _imported(source, observer)
    return source.cached()


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
    preload = trace.preload
    if scale > 1:
        notes[0] += f", sampled by key to 1/{scale}"
    notes[0] += ", at its recorded times." if recorded else ", as fast as the store takes it."
    if preload is not None:
        sample = f"about {preload.keys // scale:,} ({format_bytes(preload.bytes // scale)}) of " * (scale > 1)
        notes.append(
            f"Its store begins with {sample}the {preload.keys:,} keys ({format_bytes(preload.bytes)}) of "
            f"{preload.directory}; the trace does not touch {preload.untouched_keys:,} of these."
        )
    if recorded and seconds > span_s:
        notes.append(
            f"The trace ends after {format_seconds(span_s)} of each run's {format_seconds(seconds)} and "
            "begins again; its reads then find what the first pass wrote."
        )
    elif not recorded:
        notes.append("If a run performs all operations of the trace, the trace begins again.")
    return notes


@dataclass(frozen=True)
class _Source:
    """A trace to import.

    Attributes:
        trace: the trace.
        scan_length: entries that a scan is assumed to read if the trace does not say.
        preload_from: the database that the trace was recorded on; None if it is not known.
    """

    trace: Path
    scan_length: int
    preload_from: Path | None

    @classmethod
    def of(cls, trace: str | Path, scan_length: int, preload_from: str | Path | None) -> "_Source":
        """Returns the source for arguments of `trace_info`.

        Raises:
            UserError: the trace is not a file, or there is no directory of the database.
        """
        source = cls(Path(trace), scan_length, None if preload_from is None else Path(preload_from))
        if source.preload_from is not None and not source.preload_from.is_dir():
            raise UserError(f"preload_from: {preload_from} is no directory; give that of a RocksDB database")
        if source.trace.exists() and not source.trace.is_file():
            # A pipe of a shell exists in this process, and not in the worker that reads traces.
            raise UserError(f"{trace}: is not a file; name a file that holds a trace")
        return source

    @property
    def directory(self) -> str | None:
        """The absolute path of the database."""
        return None if self.preload_from is None else str(self.preload_from.resolve())

    def read(self, operations: Path, observer: Observer | None) -> TraceSummary:
        """Imports the trace into a file of operations."""
        watching = observer or Observer()
        watching.phase_started("import-trace", None)
        return import_trace(
            self.trace, operations, self.scan_length, self.preload_from, TimeLeft(watching).progress
        )

    def cached(self) -> Path:
        """Returns the path of the trace's workload file in the data directory.

        Raises:
            UserError: there is no such trace.
        """
        # A trace or database that changed gets another name, so that a study that goes on keeps its own.
        facts = [_READING, *_file_facts(self.trace), self.scan_length]
        if self.preload_from is not None:
            files = (
                path for path in self.preload_from.iterdir() if not path.name.startswith(("LOG", "LOCK"))
            )
            facts += [fact for path in sorted(files) for fact in _file_facts(path)]
        key = hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]
        name = f"{self.trace.stem or 'trace'}.toml"
        return default_data_directory().expanduser().absolute() / "traces" / key / name


def _file_facts(path: Path) -> list[str | int]:
    """Returns facts that change when a file changes. Raises UserError if there is no such file."""
    try:
        found = path.stat()
    except OSError as failure:
        raise UserError(f"{path}: cannot be read: {failure.strerror}") from None
    return [str(path.resolve()), found.st_size, found.st_mtime_ns]


def _imported(source: _Source, observer: Observer | None) -> WorkloadSpec:
    """Returns the workload of a trace from the data directory, and imports the trace if it is not there."""
    file = source.cached()
    if not file.exists():
        with closing(DataDirectory(default_data_directory())) as data:
            data.require_free(0)
            try:
                file.parent.mkdir(parents=True, exist_ok=True)
            except OSError as failure:
                raise UserError(f"{file.parent}: cannot be written: {failure.strerror}") from None
            operations = file.with_suffix(_OPERATIONS_SUFFIX)
            summary = source.read(operations, observer)
            workload = trace_workload(summary, operations.name, file.stem, preload_from=source.directory)
            try:
                write_new_file(file, workload_file_text(workload))
            except UserError:
                # Another process may have imported the same trace meanwhile.
                if not file.exists():
                    raise
    return load_workload(str(file))


def _operations(source: _Source, observer: Observer | None) -> Path:
    """Returns the file of operations of a trace, which is imported if it is not there."""
    imported = _imported(source, observer)
    assert imported.trace is not None, "an imported workload has a trace"
    return Path(imported.trace.path)


def _unknown(summary: TraceSummary) -> list[str]:
    """Returns sentences on what no trace says, as far as it matters for this one."""
    if summary.stored:
        return _unknown_scans(summary)
    sentences = [
        "Whether a lookup found its key; the replay loads all keys that are read before they are put."
    ]
    if not all(family.mean_value_bytes for family in summary.families):
        sentences.append("The sizes of values that are only read; the replay gives them 1,024 bytes.")
    else:
        sentences.append("The size of each value that is only read; the replay gives all the mean size.")
    sentences += _unknown_scans(summary)
    sentences.append(
        "Keys of the store that no operation names; the replay's store lacks them unless --preload-from "
        "names the database."
    )
    return sentences


def _unknown_scans(summary: TraceSummary) -> list[str]:
    """Returns a sentence on scans if the trace has any."""
    sentence = "How many entries a scan read, unless the trace states it; see the assumptions."
    return [sentence] if summary.total("scan") else []


def _account(summary: TraceSummary) -> dict[str, list[str]]:
    """Returns the sentences `assumptions` and `unknown` on a trace; see `trace_info`."""
    assumed = [f"{cases:,} {note}" for note, cases in summary.notes.items()]
    return {"assumptions": assumed, "unknown": _unknown(summary)}
