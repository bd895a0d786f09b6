"""Makes and shortens the LOG files of the stores that `explain` is tested on."""

import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.rocktune.explain_stores import DUMPS, GOOD, WORKER_OPTIONS, Store
from rocktune.device import load_device
from rocktune.engine.libraries import worker_with
from rocktune.engine.worker import WorkerProcess
from rocktune.errors import UserError
from rocktune.workload import load_workload

TIMEOUT_S = 600.0
_NOISE = re.compile(
    r"supported: 0$|Compression |_blob_|table_file_|Deleted file|Try to delete WAL|Syncing log"
    r"|commit flush result|Calling FlushMem|New memtable|Generated table|: started *$|Shutdown"
    r"|Level-0 commit table|Compacting [0-9]|Compaction start summary|Block cache|compacted to:"
    r"|Approximate number of blobs|AddFile|[Rr]ead [Ll]atency|^Count: |^Min: |^Percentiles: "
    r"|Moved #|Moving \d|Expanding@|Compaction nothing to do| P50 : |^-+$"
)
_FREE = "Increasing compaction threads because "
_EVENTS = (
    "flush_started",
    "flush_finished",
    "compaction_started",
    "compaction_finished",
    "[JOB ",
    "Level summary",
)
_KEPT_EVENTS = 60
_KEPT_DUMPS = 3


def installed_db_bench(version: str, builds: Path) -> str:
    """Returns the db_bench of a version: one that `make rocksdb` built in `builds`, or the system's.

    Raises:
        UserError: there is no such program.
    """
    for program in [*sorted(map(str, builds.glob("rocksdb*/bin/db_bench"))), "db_bench"]:
        try:
            told = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
        except OSError:
            continue
        if f"version {version}" in told.stdout + told.stderr:
            return program
    raise UserError(f"db_bench {version} is not here; make rocksdb VERSION={version}, or set --builds")


def installed_worker(version: str, builds: Path) -> tuple[str, ...]:
    """Returns the worker of a version, as `installed_db_bench` does its program."""
    for path in sorted(builds.glob("rocksdb*")):
        if path.name.endswith(f"-{version}"):
            return worker_with(str(path))
    try:
        return worker_with(version)
    except UserError:
        return worker_with(str(builds / "rocksdb"))


def make_log(store: Store, directory: Path, builds: Path, seconds: int | None = None) -> str:
    """Runs a store in an empty directory and returns its LOG.

    Args:
        store: the store.
        directory: where it lies; the caller removes it.
        builds: where `make rocksdb` has built versions of RocksDB.
        seconds: shortens the run.

    Raises:
        UserError: the program is missing or failed.
    """
    if store.workload:
        _serve(store, directory, builds, seconds or 14)
    else:
        _bench(store, directory, builds, seconds)
    return (directory / "LOG").read_text(errors="replace").replace(str(directory), "/data/db")


def _bench(store: Store, directory: Path, builds: Path, seconds: int | None) -> None:
    flags: Mapping[str, Any] = {**DUMPS, **GOOD, **store.flags}
    if seconds is not None:
        flags = {
            **flags,
            "duration": seconds,
            "num": min(int(flags["num"]), 20_000),
            "stats_dump_period_sec": 1,
        }
    command = [installed_db_bench(store.version, builds), f"--db={directory}"]
    command += [f"--{name}={value}" for name, value in flags.items()]
    finished = subprocess.run(command, capture_output=True, text=True, check=False, timeout=TIMEOUT_S)
    if finished.returncode != 0:
        raise UserError(f"{store.name}: db_bench failed: {finished.stderr.strip().rpartition(chr(10))[2]}")


def _serve(store: Store, directory: Path, builds: Path, seconds: int) -> None:
    """Loads a store with the worker, and serves it from another opening, whose LOG has no bulk load."""
    options = {section: dict(values) for section, values in WORKER_OPTIONS.items()}
    for section, values in store.options.items():
        options[section] = options["cf"] | dict(values)
    fields = {
        "directory": str(directory),
        "options": options,
        "workload": _workload(store),
        "device": load_device(store.device).model_dump(mode="json"),
        "seed": 1,
        "series_interval_s": 1.0,
        "memory_limit_bytes": 0,
        "disk_limit_bytes": 0,
    }
    for command, arguments in (("load", None), ("advance", {"until_s": float(seconds)})):
        worker = WorkerProcess(installed_worker(store.version, builds))
        try:
            worker.request("open", TIMEOUT_S, fields)
            worker.request(command, TIMEOUT_S, arguments)
            worker.close_store(TIMEOUT_S)
        finally:
            worker.kill()


def _workload(store: Store) -> dict[str, Any]:
    """Returns the worker's workload: a preset at 1/64, or writes to families, at an offered rate."""
    if store.families:
        return {
            "name": store.workload,
            "threads": 2,
            "keys": 1,
            "value": {"kind": "fixed", "low": 400, "high": 400},
            "families": [{"name": name, "keys": 50_000} for name in store.families],
            "sessions": [
                {"mix": {"put": 1.0},
                 "arrival": {"kind": "fixed_rate", "operations_s": store.rate_ops_s}}
            ],
        }  # fmt: skip
    document: dict[str, Any] = load_workload(store.workload).scaled(64).model_dump(mode="json")
    for session in document["sessions"]:
        session["arrival"] = {"kind": "fixed_rate", "operations_s": store.rate_ops_s}
    return document


def shortened(text: str) -> str:
    """Returns a LOG without lines that no rule reads: most events in its middle, dumps but the last ones."""
    lines = re.sub(r', "table_properties": \{.*?\}', "", text).splitlines()
    lines = [line for line in lines if not _NOISE.search(line)]
    dumps = [at for at, line in enumerate(lines) if "DUMPING STATS" in line]
    statistics = max((at for at, line in enumerate(lines) if line.endswith("STATISTICS:")), default=0)
    events = [at for at, line in enumerate(lines) if any(word in line for word in _EVENTS)]
    dropped = set(events[_KEPT_EVENTS // 2 : max(_KEPT_EVENTS // 2, len(events) - _KEPT_EVENTS // 2)])
    dropped |= set(_old_dumps(lines, dumps))
    kept = [
        line
        for at, line in enumerate(lines)
        if at not in dropped
        # The first one after a delay ends it; those that follow say the same.
        and not (_FREE in line and _FREE in lines[at - 1])
        and not re.match(r"[\[(] +\d+, +\d+ [\])]", line)
        and (not line.startswith("rocksdb.") or (at > statistics and not re.search(r" COUNT : 0$", line)))
    ]
    return "\n".join(kept) + "\n"


def _old_dumps(lines: list[str], dumps: list[int]) -> Iterator[int]:
    """Yields the places of the lines of all dumps but the last ones; each reaches to the next message."""
    for begin in dumps[:-_KEPT_DUMPS]:
        at = begin
        while at < len(lines) and (
            at == begin or not re.match(r"\d{4}/\d\d/", lines[at]) or "DUMPING" in lines[at]
        ):
            yield at
            at += 1
