"""RocksDB in worker processes of this machine."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rocktune.device import DeviceSpec
from rocktune.engine.base import Progress
from rocktune.engine.checker import OptionsChecker
from rocktune.engine.embedded.machine import OtherCpuMeter
from rocktune.engine.local.bases import BaseCache, base_key
from rocktune.engine.local.engine import LocalEngine
from rocktune.engine.local.run import Home, LocalRun
from rocktune.engine.options import model_options, preload_options, run_options
from rocktune.engine.worker import WorkerProcess
from rocktune.trial import Configuration, Experiment, Measurement, OptionMaps
from rocktune.units import MIB
from rocktune.workload import WorkloadSpec

DEFAULT_BASE_QUOTA_BYTES = 16 << 30

_MEMORY_FACTOR = 2
_MEMORY_ALLOWANCE_BYTES = 512 * MIB
_OPEN_TIMEOUT_S = 60.0
_LOAD_SILENCE_TIMEOUT_S = 300.0
_CLOSE_STORE_TIMEOUT_S = 600.0
_PARK_TIMEOUT_S = 60.0
_MAX_MISSION_S = 3600.0


def memory_limit(experiment: Experiment) -> int:
    """Returns the resident bytes at which a run is over.

    Twice the budget at the experiment's scale, because arenas and cache entries have overheads, blocks stay
    pinned beyond the cache, and the allocator fragments; and 512 MiB for what is no part of the budget or
    does not scale: the program and its threads, the workload's tables, histograms, index blocks outside the
    cache, and the memtables and cache of RocksDB's bare defaults.
    """
    return _MEMORY_FACTOR * experiment.space.memory_bytes // experiment.scale + _MEMORY_ALLOWANCE_BYTES


@dataclass(frozen=True)
class _Store:
    """What a store is opened with, all of it scaled."""

    workload: WorkloadSpec
    device: DeviceSpec
    options: OptionMaps
    seed: int
    series_interval_s: float
    memory_limit_bytes: int

    def fields(self, directory: Path, disk_limit_bytes: int) -> dict[str, Any]:
        """Returns the fields of the worker's command `open`."""
        return {
            "directory": str(directory),
            "options": self.options,
            "workload": self.workload.model_dump(mode="json"),
            "device": self.device.model_dump(mode="json"),
            "seed": self.seed,
            "series_interval_s": self.series_interval_s,
            "memory_limit_bytes": self.memory_limit_bytes,
            "disk_limit_bytes": disk_limit_bytes,
        }


class EmbeddedRun(LocalRun):
    """A store in a worker of its own. See `rocktune.engine.base.Run`."""

    advances_once = False

    def __init__(
        self,
        worker: WorkerProcess,
        directory: Path,
        options: OptionMaps,
        home: Home,
    ) -> None:
        """Takes over an opened worker and its directory; see `LocalRun`."""
        super().__init__(directory, options, home)
        self._worker = worker

    def _measured(self, until_s: float, progress: Progress | None) -> Measurement:
        """The worker gets three times the window and a minute."""
        return self._window(3 * (until_s - self._age_s) + 60, {"until_s": until_s}, progress)

    def _window(self, timeout_s: float, end: dict[str, Any], progress: Progress | None) -> Measurement:
        others = OtherCpuMeter()
        measured = self._worker.request("advance", timeout_s, end, progress)
        return Measurement(measured | {"others": others.counted(measured["cpu_s"])})

    def advance_operations(self, operations: int, progress: Progress | None = None) -> Measurement:
        """Loads until so many operations have ended, and a few that were on their way.

        Args:
            operations: at least 1.
            progress: see `Run.advance`.

        Returns:
            The window from the run's age on; `until_s` is the age now.

        Raises:
            RunFailed: see `Run.advance`; also when the operations take longer than an hour of the run.
        """
        self._require_alive()
        end = {"until_s": self._age_s + _MAX_MISSION_S, "operations": operations}
        with self._advancing():
            window = self._window(_MAX_MISSION_S, end, progress)
        self._age_s = window.until_s
        return window

    def set_policy(self, level: int, policy: int, transition: str) -> None:
        """Changes the policy of an FLSM store's level; see `rocktune.FlsmStore.set_policy`.

        Raises:
            RunFailed: the store is no FLSM store, or refuses it; the run is then over.
        """
        self._require_alive()
        with self._remembered_failure():
            fields = {"level": level, "policy": policy, "transition": transition}
            self._worker.request("set_policy", _OPEN_TIMEOUT_S, fields)

    def restart(self, open_store: Callable[[Path], tuple[WorkerProcess, OptionMaps]]) -> None:
        """Closes the store properly and has it opened again; the run's age is then 0.

        Args:
            open_store: opens the store in the directory that it is given.

        Raises:
            RunFailed: the run is over and may only be closed.
        """
        self._require_alive()
        with self._remembered_failure():
            self._worker.close_store(_CLOSE_STORE_TIMEOUT_S)
            self._worker, self.options = open_store(self.directory)
        self._age_s = 0.0

    def _resident_bytes(self) -> int:
        """The process stays and stands still."""
        return int(self._worker.request("park", _PARK_TIMEOUT_S)["resident_bytes"])

    def _end(self) -> None:
        self._worker.close()


class EmbeddedEngine(LocalEngine):
    """Runs the linked RocksDB in worker processes. See `rocktune.engine.base.Engine`. Thread-safe.

    Attributes:
        bases: the preloaded stores.
    """

    can_park = True

    def __init__(
        self,
        data_directory: Path,
        memory_limit_bytes: int,
        disk_limit_bytes: int,
        worker: Sequence[str] | None = None,
        base_quota_bytes: int = DEFAULT_BASE_QUOTA_BYTES,
    ) -> None:
        """Finds the worker, then claims the data directory.

        Args:
            data_directory: see `DataDirectory`.
            memory_limit_bytes: resident bytes that no run may exceed, whatever its budget allows; 0 for none.
            disk_limit_bytes: bytes of a store that no run may exceed; 0 for what the file system has.
            worker: program and arguments; by default the worker that `find_worker` finds.
            base_quota_bytes: what preloaded bases may take on the disk.

        Raises:
            UserError: there is no worker or it does not start, the data directory is refused, or its file
                system is full.
        """
        super().__init__(OptionsChecker(worker), data_directory)
        self.bases = BaseCache(self.data, base_quota_bytes)
        self.version = (
            f"RocksDB {self.checker.rocksdb_version}, assertions {'on' if self.checker.assertions else 'off'}"
        )
        self._memory_limit_bytes = memory_limit_bytes
        self._disk_limit_bytes = disk_limit_bytes

    def check(self, experiment: Experiment, configuration: Configuration) -> OptionMaps:
        """See `Engine.check`: every option of the linked RocksDB, full-size."""
        return self.checker.effective(run_options(experiment, configuration))

    def open(
        self,
        experiment: Experiment,
        configuration: Configuration,
        seed: int,
        progress: Progress | None = None,
    ) -> EmbeddedRun:
        """See `Engine.open`."""
        with self._opening() as opening:
            store = self._store(experiment, run_options(experiment, configuration), seed)
            if store.workload.preload.keys:
                opening.loading_s = self._clone_base(experiment, configuration, opening.directory, progress)
            worker, options = self._open_store(store, opening.directory)
            run = EmbeddedRun(worker, opening.directory, options, self)
            self._remember(run)
        return run

    def reopen(
        self, run: EmbeddedRun, experiment: Experiment, configuration: Configuration, seed: int
    ) -> None:
        """Closes a run's store properly and opens it under another experiment; what it holds stays.

        Raises:
            RunFailed: see `Engine.open`; the run is then over.
        """
        store = self._store(experiment, run_options(experiment, configuration), seed)
        run.restart(lambda directory: self._open_store(store, directory))

    def _store(self, experiment: Experiment, options: OptionMaps, seed: int) -> _Store:
        limit_bytes = memory_limit(experiment)
        return _Store(
            workload=experiment.workload.scaled(experiment.scale),
            device=experiment.device,
            options=model_options(options, self.checker.effective(options), experiment.scale),
            seed=seed,
            series_interval_s=max(0.1, 1 / experiment.scale),
            memory_limit_bytes=min(limit_bytes, self._memory_limit_bytes or limit_bytes),
        )

    def _open_store(self, store: _Store, directory: Path) -> tuple[WorkerProcess, OptionMaps]:
        worker = WorkerProcess(self.checker.command, (self.data.lock_descriptor,))
        try:
            # What is still being removed would be missing from what is free.
            self.settle()
            fields = store.fields(directory, self.data.allowed_bytes(directory, self._disk_limit_bytes))
        except BaseException:
            worker.close()
            raise
        return worker, worker.request("open", _OPEN_TIMEOUT_S, fields)["options"]

    def _clone_base(
        self, experiment: Experiment, configuration: Configuration, target: Path, progress: Progress | None
    ) -> float:
        """Clones the run's base into `target`; returns the seconds spent on making it, 0 if it was there."""
        store = self._store(
            replace(experiment, device=DeviceSpec(name="none")),
            preload_options(experiment, configuration),
            experiment.base_seed,
        )
        made_s = 0.0

        def make(directory: Path) -> None:
            nonlocal made_s
            started = time.monotonic()
            worker, _ = self._open_store(store, directory)
            worker.request("load", _LOAD_SILENCE_TIMEOUT_S, progress=progress, renewed=True)
            worker.close_store(_CLOSE_STORE_TIMEOUT_S)
            made_s = time.monotonic() - started

        key = base_key(store.workload, store.options, store.seed, self.checker.rocksdb_version)
        self.bases.clone(key, make, target)
        return made_s
