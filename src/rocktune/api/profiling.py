"""Study files made of what a store shows of its load."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import tomli_w

from rocktune.analysis.profile import Basis, Finding, Profile, gathered, profiled
from rocktune.api.logs import read_log
from rocktune.api.new_files import checked_new_file, write_new_file
from rocktune.api.requests import Given, resolved_study
from rocktune.api.traces import trace_summary
from rocktune.device import MeasuredDisk, device_file_text, measured_disks
from rocktune.engine import StoreTables, read_store_tables
from rocktune.errors import BudgetTooSmallError, UserError
from rocktune.importing import OptionsDocument, read_options_document
from rocktune.importing.logs import looks_like_log
from rocktune.study import Observer
from rocktune.units import format_bytes
from rocktune.workload import TraceSummary, workload_file_text

_PHASE = "read-tables"


@dataclass(frozen=True)
class StoreProfile:
    """A profile and the files that were written for it.

    Attributes:
        profile: the load of the store.
        options_file: the store's newest OPTIONS file; None without one.
        disk: the measured disk that the study names; None without one.
        study_file: the study file; None if none was written.
        files: all files that were written.
    """

    profile: Profile
    options_file: Path | None
    disk: MeasuredDisk | None
    study_file: Path | None
    files: tuple[Path, ...]


@dataclass(frozen=True)
class _Source:
    """What the sources have.

    Attributes:
        database: the database's directory; None for LOG files alone.
        logs: LOG files, or directories with LOG files.
        trace: a trace of its operations; None without one.
        options_file: the newest OPTIONS file of the database.
        options: its content.
    """

    database: Path | None
    logs: tuple[Path, ...]
    trace: Path | None
    options_file: Path | None
    options: OptionsDocument | None


def profile(
    sources: Sequence[str | Path], *, out: str | Path | None = None, observer: Observer | None = None
) -> StoreProfile:
    """Makes a study file of what a store shows of its load.

    The sources are only read, and the database may be in use. Its keys and values are not read; those of a
    trace are.

    Args:
        sources: a database's directory, LOG files of it and a trace of its operations, or some of them.
        out: study file to write; it must end in .toml and not exist yet. The workload and the measured disk
            are written into its directory, as NAME-workload.toml and NAME-device.toml. None writes nothing.
        observer: observer of progress.

    Raises:
        UserError: a source cannot be read or shows no data; there are two databases or traces; this machine
            lacks the worker; or a file exists or cannot be written.
    """
    path = None if out is None else checked_new_file(Path(out), "rocktune tune")
    named = {kind: checked_new_file(_named(path, kind), f"--{kind}") for kind in ("workload", "device")
             if path is not None}  # fmt: skip
    source = _source([Path(each) for each in sources])
    log = read_log(source.logs, observer=observer) if source.logs else None
    tables = _tables(source, observer or Observer())
    trace = None if source.trace is None else _trace(source.trace, observer)
    facts = gathered(log, tables, source.options, trace)
    found = profiled(facts, named["workload"].stem if path is not None else "profile")
    disk = _disk(source.database)
    if path is None:
        return StoreProfile(found, source.options_file, disk, None, ())
    written = [named["workload"]]
    write_new_file(named["workload"], workload_file_text(found.workload))
    if disk is not None:
        write_new_file(named["device"], device_file_text(disk.device))
        written.append(named["device"])
    document, findings = _with_memory(_study(found, source, written), found.findings)
    found = replace(found, findings=findings)
    write_new_file(path, _study_text(found, document))
    return StoreProfile(found, source.options_file, disk, path, (path, *written))


def _named(path: Path, kind: str) -> Path:
    return path.with_name(f"{path.stem}-{kind}.toml")


def _source(paths: Sequence[Path]) -> _Source:
    """Sorts sources into a database and LOG files.

    Raises:
        UserError: a source is missing or cannot be read, or there are several databases.
    """
    try:
        return _sorted_sources(paths)
    except OSError as failure:
        raise UserError(f"profile: {failure.filename}: cannot be read: {failure.strerror}") from None


def _sorted_sources(paths: Sequence[Path]) -> _Source:
    """Does what `_source` does, but raises OSError for a directory that cannot be searched."""
    paths = list({path.resolve(): path for path in paths}.values())
    databases = [path for path in paths if path.is_dir() and (path / "CURRENT").exists()]
    if len(databases) > 1:
        raise UserError(
            f"profile: {databases[0]} and {databases[1]} are two databases; profile each by itself"
        )
    for path in paths:
        if not path.exists():
            raise UserError(
                f"profile: {path} does not exist; name a database's directory, a LOG file or a trace"
            )
    database = databases[0] if databases else None
    others = [path for path in paths if path not in databases]
    logs = [path for path in others if path.is_dir() or looks_like_log(path)]
    traces = [path for path in others if path not in logs]
    if len(traces) > 1:
        raise UserError(f"profile: {traces[0]} and {traces[1]} are no LOG files; name one trace at most")
    if database is not None and ((database / "LOG").exists() or any(database.glob("LOG.old.*"))):
        logs.append(database)
    newest = None if database is None else newest_options_file(database)
    options = None if newest is None else read_options_document(newest)
    return _Source(database, tuple(logs), traces[0] if traces else None, newest, options)


def newest_options_file(database: Path) -> Path | None:
    """Returns a database's OPTIONS file of the highest number; None if it has none."""
    found = [path for path in database.glob("OPTIONS-*") if path.name.partition("-")[2].isdecimal()]
    return max(found, key=lambda path: int(path.name.partition("-")[2]), default=None)


def _tables(source: _Source, observer: Observer) -> StoreTables | None:
    """Returns the sums of the database's tables; None without a database."""
    if source.database is None:
        return None
    directories = [source.database.absolute(), *_table_directories(source)]
    observer.phase_started(_PHASE, 1.0)
    return read_store_tables(
        list(dict.fromkeys(directories)),
        lambda _, done, total: observer.progress(_PHASE, done / max(1.0, total), 1.0),
    )


def _trace(path: Path, observer: Observer | None) -> TraceSummary:
    """Returns what a trace holds; raises UserError if a file is neither a LOG nor a trace."""
    try:
        return trace_summary(path, observer)
    except UserError as failure:
        raise UserError(f"profile: {path} says nothing as a LOG; as a trace: {failure}") from None


def _table_directories(source: _Source) -> list[Path]:
    """Returns the existing directories of `db_paths` and `cf_paths` in the OPTIONS file."""
    if source.options is None:
        return []
    options = [*source.options.db, *(each for family in source.options.families for each in family.options)]
    paths = [
        Path(part.text)
        for option in options
        if option.name in ("db_paths", "cf_paths")
        for entry in option.parts
        for part in entry.parts
        if part.name == "path"
    ]
    return [path for path in paths if path.is_absolute() and path.is_dir()]


def _disk(database: Path | None) -> MeasuredDisk | None:
    """Returns the newest measurement of the file system that a database lies on."""
    if database is None:
        return None
    for disk in measured_disks():
        try:
            if Path(disk.directory).stat().st_dev == database.stat().st_dev:
                return disk
        except OSError:
            continue
    return None


def _study(found: Profile, source: _Source, files: Sequence[Path]) -> dict[str, Any]:
    """Returns the study of a profile, whose workload and perhaps device are in files."""
    document: dict[str, Any] = {"workload": str(files[0])}
    if len(files) > 1:
        document["device"] = str(files[1])
    if source.options_file is not None and source.options is not None:
        document["options_file"] = str(source.options_file.absolute())
        if found.cache_bytes:
            document["block_cache"] = found.cache_bytes
    if found.workload.families or (source.options is not None and len(source.options.families) > 1):
        document["column_family"] = found.main_family
    if not found.is_steady:
        document["protocol"] = "short"
    elif found.rate_ops_s is not None:
        document["rate"] = found.rate_ops_s
    return document


def _with_memory(
    document: dict[str, Any], findings: tuple[Finding, ...]
) -> tuple[dict[str, Any], tuple[Finding, ...]]:
    """Adds a memory budget to a study if its store has too little for the default space.

    The baseline's cache is then what its memtables leave of the budget, so that both sides have equal memory.
    """
    try:
        resolved_study(None, cast("Given", document))
    except BudgetTooSmallError as failure:
        # At the smallest budget a single configuration is possible.
        budget = format_bytes(1 << (2 * failure.min_bytes - 1).bit_length())
        why = "the store's own is too small for the space; the baseline has a larger block cache"
        document = {name: value for name, value in document.items() if name != "block_cache"}
        added = Finding("memory of baseline and winner", budget, Basis.ASSUMED, why)
        return document | {"memory": budget}, (*findings, added)
    except UserError:
        pass  # `rocktune tune` says what is wrong, and a changed study file mends it
    return document, findings


def _study_text(found: Profile, document: dict[str, Any]) -> str:
    """Returns the text of a study file; its workload and device are in the same directory."""
    named = {name: Path(document[name]).name for name in ("workload", "device") if name in document}
    lines = ["Made by `rocktune profile`; read what it assumed before you rely on it."]
    lines += [f"{each.basis}: {each.what}: {each.value} ({each.why})" for each in found.findings]
    lines += [f"left out: {sentence}" for sentence in found.left_out]
    # ascii(), because names may hold line ends, which would end the comment.
    comments = "".join(f"# {ascii(line)[1:-1]}\n" for line in lines)
    return comments + tomli_w.dumps(document | named)


def profile_json(made: StoreProfile) -> dict[str, Any]:
    """Returns a profile as JSON data: workload, findings, what is left out, and files."""
    found = made.profile
    return {
        "workload": found.workload.model_dump(mode="json"),
        "rate_ops_s": found.rate_ops_s,
        "column_family": found.main_family,
        "findings": [
            {"what": each.what, "value": each.value, "basis": str(each.basis), "why": each.why}
            for each in found.findings
        ],
        "left_out": list(found.left_out),
        "options_file": None if made.options_file is None else str(made.options_file),
        "device": None if made.disk is None else made.disk.directory,
        "study_file": None if made.study_file is None else str(made.study_file),
        "files": [str(path) for path in made.files],
    }
