"""A db_bench program as an engine: fresh stores, one benchmark each."""

import json
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from rocktune.device import DeviceSpec
from rocktune.engine.base import Progress
from rocktune.engine.bases import BaseCache, base_key
from rocktune.engine.cgroup import DIRECT_IO_OPTIONS, device_cgroup
from rocktune.engine.checker import OptionsChecker
from rocktune.engine.data_directory import DataDirectory
from rocktune.engine.db_bench.flags import plan_of, preload_flags, refuse_inexpressible
from rocktune.engine.db_bench.program import DbBenchProgram, RunLimits
from rocktune.engine.db_bench.run import DbBenchRun, Opening, check_disk, db_bench_seed
from rocktune.engine.embedded import DEFAULT_BASE_QUOTA_BYTES, memory_limit
from rocktune.engine.options import model_options, preload_options, run_options
from rocktune.errors import UserError
from rocktune.space import merged_options
from rocktune.trial import Configuration, Experiment, OptionMaps

_BASE_SEED = 0
_LOAD_TIMEOUT_S = 6 * 3600.0
# RocksDB derives these from other sizes where they are 0, and writes down what it has derived.
_DERIVED = ("arena_block_size", "max_compaction_bytes")


class DbBenchEngine:
    """Runs a db_bench program. See `rocktune.engine.base.Engine`. Thread-safe.

    Attributes:
        data: where the stores are.
        bases: the preloaded ones.
        program: the db_bench.
    """

    can_park = False

    def __init__(
        self, program: str, data_directory: Path, memory_limit_bytes: int, disk_limit_bytes: int
    ) -> None:
        """Finds the program, then claims the data directory.

        Args:
            program: path of the db_bench, or its name on the PATH.
            data_directory: see `DataDirectory`.
            memory_limit_bytes: resident bytes that no run may exceed, whatever its budget allows; 0 for none.
            disk_limit_bytes: bytes of a store that no run may exceed; 0 for what the file system has.

        Raises:
            UserError: there is no such program or it is no db_bench, there is no worker, the data directory
                is refused, or its file system is full.
        """
        with ExitStack() as undone:
            self.data = DataDirectory(data_directory)
            undone.callback(self.data.close)
            self.data.require_free(0)
            with self._scratch() as scratch:
                self.program = DbBenchProgram(program, scratch)
            self._checker = OptionsChecker()
            undone.pop_all()
        self.bases = BaseCache(self.data, DEFAULT_BASE_QUOTA_BYTES)
        assertions = "on" if self.program.assertions else "off"
        self.version = f"db_bench, RocksDB {self.program.rocksdb_version}, assertions {assertions}"
        self.opening_s = 0.0
        self.loading_s = 0.0
        self._memory_limit_bytes = memory_limit_bytes
        self._disk_limit_bytes = disk_limit_bytes
        self._lock = threading.Lock()
        self._runs: set[DbBenchRun] = set()
        self._opened: dict[str, OptionMaps] = {}

    def check(self, experiment: Experiment, configuration: Configuration) -> OptionMaps:
        """See `Engine.check`."""
        return self._with_defaults(_on_device(run_options(experiment, configuration), experiment))

    def open(
        self,
        experiment: Experiment,
        configuration: Configuration,
        seed: int,
        progress: Progress | None = None,
    ) -> DbBenchRun:
        """See `Engine.open`.

        Raises:
            RunFailed: see `Engine.open`.
            UserError: db_bench cannot do what the workload says, or the device cannot be limited.
        """
        refuse_inexpressible(experiment.workload, experiment.device)
        started, loaded_s = time.monotonic(), 0.0
        directory = self.data.new_directory()
        try:
            opening = self._opening(experiment, run_options(experiment, configuration), seed)
            used = self._opened_options(opening.options)
            if opening.workload.preload.keys:
                loaded_s = self._clone_base(experiment, configuration, directory / "store", progress)
            limits = [self._disk_limit_bytes, experiment.device.capacity_bytes]
            limit_bytes = min((limit for limit in limits if limit), default=0)
            disk_limit_bytes = self.data.allowed_bytes(directory, limit_bytes)
        except BaseException:
            shutil.rmtree(directory, ignore_errors=True)
            raise
        finally:
            with self._lock:
                self.opening_s += time.monotonic() - started - loaded_s
                self.loading_s += loaded_s
        run = DbBenchRun(self.program, opening, directory, disk_limit_bytes, used, self._forget)
        with self._lock:
            self._runs.add(run)
        return run

    def close(self) -> None:
        """See `Engine.close`. The data directory keeps its bases."""
        for run in list(self._runs):
            run.close()
        self._checker.close()
        self.data.close()

    def _forget(self, run: DbBenchRun, seconds: float) -> None:
        with self._lock:
            self._runs.discard(run)
            self.opening_s += seconds

    def _opening(self, experiment: Experiment, options: OptionMaps, seed: int) -> Opening:
        device, limit_bytes = experiment.device, memory_limit(experiment)
        workload = experiment.workload.scaled(experiment.scale)
        options = _on_device(options, experiment)
        return Opening(
            workload=workload,
            plan=plan_of(workload),
            options=model_options(options, self._with_defaults(options), experiment.scale),
            seed=seed,
            memory_limit_bytes=min(limit_bytes, self._memory_limit_bytes or limit_bytes),
            cgroup=device_cgroup(device, self.data.path) if _is_limited(device) else None,
            lock_descriptor=self.data.lock_descriptor,
        )

    def _with_defaults(self, options: OptionMaps) -> OptionMaps:
        """Returns the options with the defaults of db_bench's RocksDB for all that they leave out."""
        if self.program.rocksdb_version == self._checker.rocksdb_version:
            return self._checker.effective(options)
        key = json.dumps(options, sort_keys=True)
        if key not in self._opened:
            self._opened[key] = self._opened_options(options)
        return {
            section: {
                name: text
                for name, text in texts.items()
                if name not in _DERIVED or name in options.get(section, {})
            }
            for section, texts in self._opened[key].items()
        }

    def _opened_options(self, options: OptionMaps) -> OptionMaps:
        with self._scratch() as scratch:
            return self.program.opened_options(options, scratch, RunLimits())

    def _clone_base(
        self, experiment: Experiment, configuration: Configuration, target: Path, progress: Progress | None
    ) -> float:
        """Clones the run's base into `target`; returns the seconds spent on making it, 0 if it was there."""
        unlimited = replace(experiment, device=DeviceSpec(name="none"))
        opening = self._opening(unlimited, preload_options(experiment, configuration), _BASE_SEED)
        made_s = 0.0

        def make(directory: Path) -> None:
            nonlocal made_s
            started = time.monotonic()
            self._fill(opening, directory, progress)
            made_s = time.monotonic() - started

        target.mkdir()
        key = base_key(opening.workload, opening.options, self.version)
        self.bases.clone(key, make, target)
        return made_s

    def _fill(self, opening: Opening, directory: Path, progress: Progress | None) -> None:
        """Makes a base in an empty directory."""
        with self._scratch() as scratch:
            store, workload = scratch / "store", opening.workload
            limit_bytes = self.data.allowed_bytes(store, self._disk_limit_bytes)

            def watch(_elapsed_s: float) -> None:
                held_bytes = check_disk(store, limit_bytes)
                if progress is not None:
                    keys = workload.preload.keys
                    progress("load", min(held_bytes / workload.entry_bytes, keys), keys)

            flags = preload_flags(workload) | {"seed": db_bench_seed(opening.seed)}
            limits = RunLimits(_LOAD_TIMEOUT_S, opening.memory_limit_bytes, watch, (opening.lock_descriptor,))
            self.program.run(store, opening.options, flags, limits)
            for file in store.iterdir():
                file.rename(directory / file.name)

    @contextmanager
    def _scratch(self) -> Iterator[Path]:
        """An empty directory, removed afterwards."""
        directory = self.data.new_directory()
        try:
            yield directory
        finally:
            shutil.rmtree(directory, ignore_errors=True)


def _is_limited(device: DeviceSpec) -> bool:
    return device.bandwidth_bytes_s > 0 or device.iops > 0


def _on_device(options: OptionMaps, experiment: Experiment) -> OptionMaps:
    """Returns the options with which a limited device is used as such.

    Raises:
        UserError: one of them is a knob.
    """
    if not _is_limited(experiment.device):
        return options
    for knob in experiment.space.knobs:
        if knob.section == "db" and knob.option_name in DIRECT_IO_OPTIONS:
            raise UserError(
                f"knob '{knob.name}': engine 'db_bench' sets it where the device is limited; "
                "leave it out of the space, or use device 'none'"
            )
    return merged_options(options, {"db": DIRECT_IO_OPTIONS})
