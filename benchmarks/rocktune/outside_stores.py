"""Stores of the outside check: db_bench loads, ages and measures them; rocktune only starts it.

DIR/.rocktune-data        the marker, without which rocktune writes and deletes nothing
DIR/lock                  held by the driver and by the db_bench that it started
DIR/CONFIGURATION/store/  the store of a configuration, kept from call to call
DIR/program/              scratch space for asking db_bench its version
"""

import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path

from benchmarks.common.measuring import READ_HEAVY, WRITE_HEAVY, experiment_of
from benchmarks.rocktune.outside_chunks import (
    LOAD,
    LOADED_BY,
    MEASURED_BY,
    PHASES,
    Chunk,
    Conditions,
    Figures,
    Step,
    load_figures,
    measured_figures,
)
from benchmarks.rocktune.what_lasts import options_of
from rocktune.engine import RunFailed
from rocktune.engine.db_bench.flags import Flags, plan_of, preload_flags
from rocktune.engine.db_bench.output import parse_report
from rocktune.engine.db_bench.program import DbBenchProgram, RunLimits, used_options
from rocktune.engine.db_bench.run import db_bench_seed
from rocktune.engine.local.claiming import RESERVED_FREE_BYTES, claim, refuse_unsafe
from rocktune.engine.local.data_directory import directory_bytes
from rocktune.engine.local.locks import locked
from rocktune.engine.processes.cgroup import DIRECT_IO_OPTIONS, DeviceCgroup, device_cgroup
from rocktune.errors import UserError
from rocktune.space import merged_options, parse_block_cache, scaled_options
from rocktune.trial import Experiment, OptionMaps, Status
from rocktune.units import format_bytes
from rocktune.workload import WorkloadSpec
from rocktune.workload.distributions import KeyChooserSpec

SETTINGS: Mapping[str, str] = {"write-heavy": WRITE_HEAVY, "read-heavy": READ_HEAVY}
"""Each setting's workload, whose keys db_bench draws uniformly: it has no Zipf distribution for this mix."""
UNLIMITED = "the machine's own disk, without limit"
_MEND = "name an empty or new directory with --data"
# Universal compaction holds up to twice its data while it merges the largest run, and db_bench's values
# compress to half. The rest is for write buffers and logs, which small models do not divide.
_SPACE_FACTOR = 2
_SPACE_FLOOR_BYTES = 256 << 20
_LOOK_EVERY_S = 5.0
_LOAD_TIMEOUT_S = 6 * 3600.0
_SPARE_S = 120.0


def workload_of(setting: str, scale: int) -> WorkloadSpec:
    """Returns a setting's workload at scale 1/S: uniform keys, all of them loaded in random order."""
    workload = experiment_of(SETTINGS[setting], "none", scale).workload
    return workload.model_copy(update={"key_chooser": KeyChooserSpec()}).with_all_keys().scaled(scale)


def max_store_bytes(scale: int) -> int:
    """Returns the maximum size of one store in bytes; db_bench is ended above it."""
    workload = workload_of("write-heavy", scale)
    return round(_SPACE_FACTOR * workload.keys * workload.entry_bytes) + _SPACE_FLOOR_BYTES


def seed_of(step: Step, seed: int) -> int:
    """Returns the seed of a chunk's random numbers; chunks that differ only in the configuration share it.

    db_bench seeds its n-th thread, counted over both parts, with n more than its seed. Seeds that are nearer
    than the number of threads would repeat the keys of other chunks.
    """
    kind = len(PHASES) * list(SETTINGS).index(step.setting) + PHASES.index(step.phase)
    return ((seed * 100 + kind) * 10_000 + step.number) * 1_000


class Stores:
    """The stores of all configurations in one data directory."""

    def __init__(self, directory: Path, program: DbBenchProgram, device: str, scale: int, lock: int) -> None:
        """Use `opened` instead, which claims and locks the directory."""
        self._directory = directory
        self._program = program
        self._device = device
        self._scale = scale
        self._lock = lock
        self._cgroup = _cgroup(device, directory, scale)

    @property
    def engine(self) -> str:
        """The version of RocksDB that measures."""
        assertions = "on" if self._program.assertions else "off"
        return f"stock db_bench, RocksDB {self._program.rocksdb_version}, assertions {assertions}"

    @property
    def device(self) -> str:
        """The limit of the device."""
        return f"{self._device} by a cgroup, for reads and for writes" if self._cgroup else UNLIMITED

    def require_space(self, configurations: Sequence[str]) -> str:
        """Returns a sentence on the disk use.

        Raises:
            UserError: the stores could outgrow the free space.
        """
        limit_bytes = max_store_bytes(self._scale)
        present_bytes = sum(directory_bytes(self._directory / each) for each in configurations)
        needed_bytes = limit_bytes * len(configurations) - present_bytes
        free_bytes = shutil.disk_usage(self._directory).free - RESERVED_FREE_BYTES
        if needed_bytes > free_bytes:
            raise UserError(
                f"--data {self._directory}: {format_bytes(needed_bytes)} are needed, and "
                f"{format_bytes(free_bytes)} are free; free some, or name a directory elsewhere"
            )
        return (
            f"{len(configurations)} stores of at most {format_bytes(limit_bytes)} each are kept in "
            f"{self._directory}; {format_bytes(present_bytes)} are there"
        )

    def measure(self, step: Step, conditions: Conditions) -> Chunk:
        """Runs a chunk in db_bench and returns it.

        A load replaces the configuration's store. All other chunks continue it.

        Raises:
            UserError: db_bench failed, the store is missing, or it does not have the configuration's options.
        """
        home = self._directory / step.configuration
        store, report = home / "store", home / "report.csv"
        if step.phase == LOAD:
            shutil.rmtree(home, ignore_errors=True)
            home.mkdir()
        elif not store.is_dir():
            raise UserError(
                f"--data {self._directory}: the store of '{step.configuration}' is missing; name the "
                "directory that holds it, or new directories --out and --data"
            )
        started = time.monotonic()
        options = self.options(step)
        figures = self._run(step, options, conditions, store, report)
        require_options(step, options, used_options(store))
        series = () if step.phase == LOAD else parse_report(report.read_text())
        return Chunk(step, conditions, figures, round(time.monotonic() - started, 1), series)

    def options(self, step: Step) -> OptionMaps:
        """Returns the options of a step's configuration at the scale, with direct I/O."""
        experiment: Experiment = experiment_of(SETTINGS[step.setting], self._device, self._scale)
        full_size = merged_options(options_of(step.configuration, experiment), {"db": DIRECT_IO_OPTIONS})
        return scaled_options(full_size, self._scale)

    def _run(
        self, step: Step, options: OptionMaps, conditions: Conditions, store: Path, report: Path
    ) -> Figures:
        workload, is_load = workload_of(step.setting, self._scale), step.phase == LOAD
        flags = _load_flags(workload) if is_load else _chunk_flags(workload, conditions.part_s, report)
        flags |= {"seed": db_bench_seed(seed_of(step, conditions.seed)), "statistics": "true"}
        timeout_s = _LOAD_TIMEOUT_S if is_load else 6 * conditions.part_s + _SPARE_S
        with nullcontext(()) if is_load or self._cgroup is None else self._cgroup.entered() as prefix:
            limits = RunLimits(timeout_s, 0, self._watch(store), (self._lock,), prefix)
            try:
                finished = self._program.run(store, options, flags, limits)
            except RunFailed as failure:
                raise UserError(f"{step}: {failure.message}") from None
        figures = load_figures(finished.output) if is_load else measured_figures(finished.output)
        processors = round(finished.cpu_s / finished.seconds, 3)
        return replace(figures, db_bytes=directory_bytes(store), processors=processors)

    def _watch(self, store: Path) -> Callable[[float], None]:
        """Returns a function that ends db_bench if the store is too large."""
        limit_bytes, looked_s = max_store_bytes(self._scale), 0.0

        def watch(elapsed_s: float) -> None:
            nonlocal looked_s
            # A walk over all files ten times a second would take processor time from db_bench.
            if elapsed_s - looked_s < _LOOK_EVERY_S:
                return
            looked_s = elapsed_s
            held_bytes = directory_bytes(store)
            if held_bytes > limit_bytes:
                taken, allowed = format_bytes(held_bytes), format_bytes(limit_bytes)
                raise RunFailed(Status.OUT_OF_DISK, f"the store takes {taken}; {allowed} are allowed")

        return watch


def require_options(step: Step, given: OptionMaps, used: OptionMaps) -> None:
    """Checks the options that RocksDB wrote down when db_bench opened the store.

    Raises:
        UserError: one of the given options had another value.
    """
    for section, texts in given.items():
        for name, text in texts.items():
            found = used[section].get(name, text)
            if _value(name, found) != _value(name, text):
                raise UserError(f"{step}: db_bench used {name}={found} instead of {text}")


def _value(name: str, text: str) -> str | float:
    """Returns what an option's text stands for, as far as its spelling differs between versions."""
    if name == "block_cache":
        return parse_block_cache(text).capacity_bytes
    with suppress(ValueError):
        return float(text)
    return text


@contextmanager
def opened(directory: Path, db_bench: str, device: str, scale: int) -> Iterator[Stores]:
    """Claims a data directory and yields its stores. No other call uses the directory meanwhile.

    Args:
        directory: an empty or missing directory, or one that has rocktune's marker file.
        db_bench: path of the program, or its name on the PATH.
        device: name of a device preset; where no cgroup can limit the disk, it is not limited.
        scale: S of the 1/S model.

    Raises:
        UserError: the directory is refused or in use, or the program is not a db_bench.
    """
    path = directory.expanduser().resolve()
    refuse_unsafe(path, f"--data {path}", _MEND)
    claim(path, f"--data {path}", _MEND)
    try:
        with locked(path / "lock", wait=False) as descriptor:
            scratch = path / "program"
            scratch.mkdir(exist_ok=True)
            try:
                program = DbBenchProgram(db_bench, scratch)
            finally:
                shutil.rmtree(scratch, ignore_errors=True)
            yield Stores(path, program, device, scale, descriptor)
    except BlockingIOError:
        raise UserError(f"--data {path}: another call uses it; wait for its end") from None


def _cgroup(device: str, directory: Path, scale: int) -> DeviceCgroup | None:
    """Returns the cgroup that limits the disk; None if it cannot or shall not be limited."""
    spec = experiment_of(WRITE_HEAVY, device, scale).device
    if not (spec.bandwidth_bytes_s or spec.iops):
        return None
    try:
        return device_cgroup(spec, directory)
    except UserError:
        return None


def _load_flags(workload: WorkloadSpec) -> Flags:
    # Ageing follows, so nothing is gained by waiting for compactions.
    return preload_flags(workload) | {"benchmarks": LOADED_BY, "histogram": "true"}


def _chunk_flags(workload: WorkloadSpec, part_s: int, report: Path) -> Flags:
    """Returns the flags of a chunk: a part that fills the caches of the reopened store, and one that counts.

    db_bench overwrites the report file in each part.
    """
    return plan_of(workload).flags | {
        "benchmarks": f"{MEASURED_BY},{MEASURED_BY}",
        "use_existing_db": "true",
        "duration": str(part_s),
        "ops_between_duration_checks": "10",
        "histogram": "true",
        "report_file": str(report),
        "report_interval_seconds": "1",
    }
