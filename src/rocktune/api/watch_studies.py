"""The studies of a watch: made of a store's present load, bounded, each run in a process of its own."""

import hashlib
import math
import shutil
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import tomli_w

from rocktune.analysis.profile import OperationCounts, Profile, RatePoint, gathered, profiled
from rocktune.api.engines import engine_version
from rocktune.api.files import claim_output
from rocktune.api.profiling import newest_options_file
from rocktune.api.requests import Given, new_name, resolved_study, warm_started
from rocktune.deploy import RunningRocksDb
from rocktune.deploy.watch import Interval
from rocktune.device import device_file_text
from rocktune.engine import EmbeddedSpec, OptionsChecker, RunFailed, default_data_directory, read_store_tables
from rocktune.engine.libraries import worker_with
from rocktune.engine.processes.process_group import run_command
from rocktune.errors import TransientError, UserError
from rocktune.export import export_study
from rocktune.importing import read_options_document
from rocktune.importing.logs import LogDocument
from rocktune.ledger import Ledger, open_ledger
from rocktune.objective import BALANCE, LARGER_IS_BETTER, terms_of
from rocktune.outcome import Outcome
from rocktune.report.findings import headline
from rocktune.rocksdb_version import RocksDbVersion
from rocktune.study import StudySpec, recorded_outcome
from rocktune.study import estimate as estimate_of
from rocktune.study.specs.problem import space_of
from rocktune.study.specs.request import MAX_SCALE
from rocktune.trial import Status
from rocktune.units import format_bytes, format_scale
from rocktune.workload import workload_file_text

_NOT_LIVE = "cannot change while the database is open"
_FREE_SHARE = 0.5
"""Share of the free memory and of the free disk that a study may take at most."""
_MIN_TABLE_VERSION = RocksDbVersion((9, 8))
"""RocksDB from which a watcher changes options of tables."""
_POLITE = (("nice", "-n", "19"), ("ionice", "-c", "3"))


@dataclass(frozen=True)
class WatchedStore:
    """What a watch's study is made of.

    Attributes:
        database: directory of the database.
        document: its LOG.
        intervals: intervals of the workload to tune for.
        directory: the watch's directory, for the study's files.
    """

    database: Path
    document: LogDocument
    intervals: Sequence[Interval]
    directory: Path


def watched_study(name: str, ledger: str | None) -> StudySpec:
    """Returns the study whose settings the studies of a watch repeat.

    Raises:
        UserError: there is no such study, or it is no study of engine `embedded`.
    """
    with open_ledger(ledger, create=ledger is None) as opened:
        record = opened.study(name)
        if record.spec.get("kind") is not None:
            raise UserError(
                f"study '{name}': it is no study of one tuner; name one that 'rocktune tune' made"
            )
        spec = StudySpec.model_validate(dict(record.spec))
    if not isinstance(spec.engine, EmbeddedSpec):
        raise UserError(f"study '{name}': a watch tunes with engine 'embedded'; it has '{spec.engine.kind}'")
    return spec


def settings_digest(base: StudySpec, budget: str | None) -> str:
    """Returns a digest of the settings from which the studies of a watch are made.

    Args:
        base: the study whose settings count.
        budget: each search's time of measuring; None for that study's.
    """
    text = f"{base.model_dump_json()}\n{budget}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def new_study_name(name: str, number: int) -> str:
    """Returns a new name for the study of a watch's workload.

    Args:
        name: name of the watch's study.
        number: number of the workload.
    """
    return new_name(name[:60], "watch", str(number))


def study_spec(
    base: StudySpec, name: str, store: WatchedStore, budget: str | None, ledger: str | None
) -> StudySpec:
    """Returns the study of a store's present load and options, with the settings of another one.

    Its space has only the knobs that an open database takes, so that what it proves can be applied whole. Its
    model is as large as the other study's, or smaller where this machine has too little free memory or disk.

    Args:
        base: the study whose settings count.
        name: name of the new study.
        store: the store.
        budget: the search's time of measuring; None for the other study's.
        ledger: the ledger, whose similar studies it begins with.

    Raises:
        TransientError: no scale fits the memory and the disk that are free now.
        UserError: the load cannot be made into a workload.
    """
    profile, options_file = _profile(store, name)
    scale = _scale(base, profile)
    given = _repeated(base, store.directory / name, profile) | Given(
        scale=format_scale(scale),
        budget=base.budget_s * base.scale / scale if budget is None else budget,
        options_file=str(options_file),
        ledger=ledger,
        study=name,
    )
    spec, _ = resolved_study(None, given)
    spec = _live_only(spec.model_copy(update={"prices": base.prices}))
    # Last, because what it takes over has to be in the final space and budget.
    return warm_started(_fitting(spec, keeps_budget=budget is not None), ledger)


def _repeated(base: StudySpec, path: Path, profile: Profile) -> Given:
    """Returns the arguments for a profile's load with the settings of another study, and writes their files.

    Args:
        base: the other study.
        path: the beginning of the files' paths.
        profile: the load.
    """
    workload = profile.workload
    if base.protocol == "short" and (_seeks_throughput(base) or base.workload == base.workload.closed()):
        workload = workload.closed()
    files = {kind: path.with_name(f"{path.name}-{kind}.toml") for kind in ("workload", "device", "space")}
    files["workload"].write_text(workload_file_text(workload), encoding="utf-8")
    files["device"].write_text(device_file_text(base.device), encoding="utf-8")
    return Given(
        workload=str(files["workload"]),
        device=str(files["device"]),
        space=_space(base, files["space"]),
        rocksdb=base.engine.rocksdb if isinstance(base.engine, EmbeddedSpec) else None,
        tuner=base.tuner,
        tuner_settings=base.tuner_settings,
        protocol=base.protocol,
        objective=base.objective,
        constraints=list(base.constraints),
        robust=base.robust,
        column_family=profile.main_family if profile.workload.families else None,
        block_cache=profile.cache_bytes or None,
        verification=base.verification.model_dump(),
        rate=profile.rate_ops_s if base.protocol == "steady" else None,
        seed=base.seed,
    )


def _seeks_throughput(base: StudySpec) -> bool:
    """Returns whether a study improves throughput, which at a fixed rate is that rate."""
    objective = base.objective if isinstance(base.objective, str) else base.objective[0]
    return objective == BALANCE or any(term in LARGER_IS_BETTER for term in terms_of(objective))


def run_study(spec: StudySpec, ledger: str | None, directory: Path, may_run: Callable[[], bool]) -> bool:
    """Runs or continues a study in a process of low priority.

    Args:
        spec: the study.
        ledger: URL or SQLite file; None for the user's own.
        directory: the watch's directory; the study's files are written into a directory in it.
        may_run: is called ten times a second; the study ends once it returns False, and can be continued.

    Returns:
        True if the study is finished.

    Raises:
        TransientError: the study's process failed; it can be continued.
        UserError: the study cannot be recorded.
    """
    with open_ledger(ledger) as opened:
        version = engine_version(spec.engine) or ""
        record = opened.create_study(spec.name, spec.model_dump(mode="json"), version)
        claim_output(opened, record, directory / spec.name)
    polite = [word for words in _POLITE if shutil.which(words[0]) for word in words]
    command = [*polite, sys.executable, "-m", "rocktune.cli.main", "resume", spec.name, "--json"]
    command += [] if ledger is None else ["--ledger", ledger]

    def keep_on(_seconds: float) -> None:
        if not may_run():
            raise RunFailed(Status.TIMED_OUT, "the hours of the watch are over")

    limit = int(_free_memory_bytes() * _FREE_SHARE)
    try:
        run_command(command, timeout_s=float("inf"), memory_limit_bytes=limit, watch=keep_on)
    except RunFailed as failure:
        if failure.status is Status.TIMED_OUT:
            return False
        raise TransientError(f"study '{spec.name}': {failure.message}") from None
    return True


def outcome_of(name: str, ledger: str | None) -> tuple[Outcome, str] | None:
    """Returns a finished study's outcome and the OPTIONS file of what it recommends; None before its end."""
    with open_ledger(ledger) as opened:
        record = _found(opened, name)
        outcome = None if record is None else recorded_outcome(opened, record)
        if record is None or outcome is None:
            return None
        better = outcome.recommended == "best"
        return outcome, export_study("options-file", record, outcome) if better else ""


def recorded_study(name: str, ledger: str | None) -> StudySpec | None:
    """Returns a study of the ledger; None if it is not there yet."""
    with open_ledger(ledger) as opened:
        record = _found(opened, name)
        return None if record is None else StudySpec.model_validate(dict(record.spec))


def proof_sentence(name: str, outcome: Outcome) -> str:
    """Returns what a study proves, and if it is nothing better, why."""
    ratio = outcome.ratio
    found = (
        f"{ratio.value:.2f} ({ratio.low:.2f} to {ratio.high:.2f})" if ratio.value is not None else "no ratio"
    )
    where = f"on a {outcome.search_scale} model"
    if outcome.recommended == "best":
        return f"Study '{name}' proves {found} times the present options' figure {where}."
    return f"Study '{name}' does not prove better options: {found} {where}. {headline(outcome)}."


def _found(ledger: Ledger, name: str) -> Any:
    return next((each for each in ledger.studies() if each.name == name), None)


def _profile(store: WatchedStore, name: str) -> tuple[Profile, Path]:
    """Returns the load of the given intervals as a workload, and the newest OPTIONS file."""
    options_file = newest_options_file(store.database)
    if options_file is None:
        raise UserError(f"{store.database}: the database has no OPTIONS file")
    facts = gathered(store.document, read_store_tables([store.database]), read_options_document(options_file))
    intervals = store.intervals
    # The counts of the LOG are those since the opening, under all workloads.
    facts = replace(
        facts,
        seconds=sum(each.seconds for each in intervals),
        counts=OperationCounts(
            gets=sum(each.reads for each in intervals),
            found_gets=sum(each.found_reads for each in intervals),
            memtable_hits=sum(each.memtable_hits for each in intervals),
            writes=sum(each.writes for each in intervals),
            seeks=sum(each.seeks for each in intervals),
            steps=sum(each.steps for each in intervals),
        ),
        written_keys=sum(each.writes for each in intervals),
        rates=tuple(
            RatePoint(number * each.seconds, each.seconds, each.writes / each.seconds)
            for number, each in enumerate(intervals)
        ),
        cache_hit_share=None,
    )
    return profiled(facts, name), options_file


def _space(base: StudySpec, path: Path) -> str:
    """Returns the space of a study by its name, or writes its file."""
    file = base.space.get("file")
    if file is None:
        return str(base.space["name"])
    path.write_text(tomli_w.dumps(file), encoding="utf-8")
    return str(path)


def _live_only(spec: StudySpec) -> StudySpec:
    """Returns the study without the knobs that an open database does not take."""
    rocksdb = spec.engine.rocksdb if isinstance(spec.engine, EmbeddedSpec) else None
    with closing(OptionsChecker(worker_with(rocksdb))) as checker:
        takes = RunningRocksDb(checker.linked(), checker.mutable(), checker.watched_refusal)
    old_tables = RocksDbVersion.of(takes.linked.version) < _MIN_TABLE_VERSION
    left_out = {
        knob.plain_name: _NOT_LIVE
        for knob in space_of(spec).knobs
        if not takes.takes(knob.section, knob.option_name)
        or (knob.section == "table" and old_tables and knob.option_name != "block_cache")
    }
    return spec.model_copy(
        update={"space": spec.space | {"left_out": left_out | spec.space.get("left_out", {})}}
    )


def _scale(base: StudySpec, profile: Profile) -> int:
    """Returns S of a model about as large as the other study's: a power of 2, at most the other one's S."""
    here, there = (each.keys * each.entry_bytes for each in (profile.workload, base.workload))
    return min(base.scale, 1 << max(0, round(math.log2(base.scale * here / there))))


def _fitting(spec: StudySpec, keeps_budget: bool) -> StudySpec:
    """Returns the study at its own scale, or at the next smaller one that fits this machine."""
    memory = _free_memory_bytes() * _FREE_SHARE
    folder = default_data_directory()
    existing = next(each for each in (folder, *folder.parents) if each.exists())
    disk = shutil.disk_usage(existing).free * _FREE_SHARE
    while True:
        needed = estimate_of(spec)
        if needed.memory_bytes <= memory and needed.disk_bytes <= disk:
            return spec
        if spec.scale >= MAX_SCALE:
            raise TransientError(
                f"watch: a study at 1/{spec.scale} needs {format_bytes(needed.memory_bytes)} of memory and "
                f"{format_bytes(needed.disk_bytes)} of disk, and may take {format_bytes(memory)} and "
                f"{format_bytes(disk)}; free some"
            )
        larger = min(MAX_SCALE, 2 * spec.scale)
        budget_s = spec.budget_s if keeps_budget else spec.budget_s * spec.scale / larger
        spec = spec.model_copy(update={"scale": larger, "budget_s": budget_s})


def _free_memory_bytes() -> int:
    """Returns the memory that the kernel says new programs can have."""
    with Path("/proc/meminfo").open(encoding="ascii") as lines:
        return next(1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
