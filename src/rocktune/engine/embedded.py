"""RocksDB in worker processes of this machine."""

import shutil
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rocktune.device import DeviceSpec
from rocktune.engine.base import Progress, RunFailed
from rocktune.engine.bases import BaseCache, base_key
from rocktune.engine.checker import OptionsChecker
from rocktune.engine.data_directory import DataDirectory
from rocktune.engine.options import model_options, preload_options, run_options
from rocktune.engine.worker import WorkerProcess
from rocktune.trial import Configuration, Experiment, Measurement, OptionMaps, Status
from rocktune.units import MIB
from rocktune.workload import WorkloadSpec

DEFAULT_BASE_QUOTA_BYTES = 16 << 30

_MEMORY_FACTOR = 2
_MEMORY_ALLOWANCE_BYTES = 512 * MIB
_OPEN_TIMEOUT_S = 60.0
_LOAD_SILENCE_TIMEOUT_S = 300.0
_CLOSE_STORE_TIMEOUT_S = 600.0
_PARK_TIMEOUT_S = 60.0
_BASE_SEED = 0


def memory_limit(experiment: Experiment) -> int:
    """Returns the resident bytes at which a run is over.

    Twice the budget at the experiment's scale, because arenas and cache entries have overheads, blocks stay
    pinned beyond the cache, and the allocator fragments; and 512 MiB for what is no part of the budget or
    does not scale: the program and its threads, the workload's tables, histograms, index blocks outside the
    cache, and the memtables and cache of RocksDB's bare defaults.
    """
    return _MEMORY_FACTOR * experiment.space.memory_bytes // experiment.scale + _MEMORY_ALLOWANCE_BYTES


@dataclass(frozen=True)
class _Opening:
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


class EmbeddedRun:
    """A store in a worker of its own. See `rocktune.engine.base.Run`."""

    def __init__(
        self,
        worker: WorkerProcess,
        directory: Path,
        options: OptionMaps,
        on_close: Callable[["EmbeddedRun", float], None],
    ) -> None:
        """Takes over an opened worker and its directory; `on_close` gets the seconds that closing took."""
        self.options = options
        self._worker = worker
        self._directory = directory
        self._on_close = on_close
        self._age_s = 0.0
        self._failure: RunFailed | None = None
        self._closed = False

    def advance(self, until_s: float, progress: Progress | None = None) -> Measurement:
        """See `Run.advance`. The worker gets three times the window and a minute."""
        if until_s <= self._age_s:
            raise ValueError(f"the run's age is {self._age_s} s already; it cannot advance to {until_s} s")
        timeout_s = 3 * (until_s - self._age_s) + 60
        raw = self._request("advance", timeout_s, {"until_s": until_s}, progress)
        self._age_s = until_s
        return Measurement(raw)

    def park(self) -> int:
        """See `Run.park`. The process stays and stands still."""
        return int(self._request("park", _PARK_TIMEOUT_S)["resident_bytes"])

    def close(self) -> None:
        """See `Run.close`."""
        if self._closed:
            return
        self._closed = True
        started = time.monotonic()
        self._worker.close()
        shutil.rmtree(self._directory, ignore_errors=True)
        self._on_close(self, time.monotonic() - started)

    def _request(
        self,
        command: str,
        timeout_s: float,
        fields: dict[str, Any] | None = None,
        progress: Progress | None = None,
    ) -> dict[str, Any]:
        if self._closed:
            raise ValueError("the run is closed")
        if self._failure is not None:
            raise RunFailed(self._failure.status, self._failure.message)
        try:
            return self._worker.request(command, timeout_s, fields, progress)
        except RunFailed as failure:
            self._failure = failure
            raise
        except BaseException:
            self._failure = RunFailed(Status.CRASHED, f"'{command}' was interrupted")
            raise


class EmbeddedEngine:
    """Runs the linked RocksDB in worker processes. See `rocktune.engine.base.Engine`. Thread-safe.

    Attributes:
        checker: answers questions about options; knows the linked RocksDB's version.
        data: where the stores are.
        bases: the preloaded ones.
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
        self.checker = OptionsChecker(worker)
        with ExitStack() as undone:
            undone.callback(self.checker.close)
            self.data = DataDirectory(data_directory)
            undone.callback(self.data.close)
            self.data.require_free(0)
            undone.pop_all()
        self.bases = BaseCache(self.data, base_quota_bytes)
        self.version = (
            f"RocksDB {self.checker.rocksdb_version}, assertions {'on' if self.checker.assertions else 'off'}"
        )
        self.opening_s = 0.0
        self.loading_s = 0.0
        self._memory_limit_bytes = memory_limit_bytes
        self._disk_limit_bytes = disk_limit_bytes
        self._lock = threading.Lock()
        self._runs: set[EmbeddedRun] = set()

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
        started, loaded_s = time.monotonic(), 0.0
        directory = self.data.new_directory()
        try:
            opening = self._opening(experiment, run_options(experiment, configuration), seed)
            if opening.workload.preload.keys:
                loaded_s = self._clone_base(experiment, configuration, directory, progress)
            worker, options = self._open_store(opening, directory)
        except BaseException:
            shutil.rmtree(directory, ignore_errors=True)
            raise
        finally:
            with self._lock:
                self.opening_s += time.monotonic() - started - loaded_s
                self.loading_s += loaded_s
        run = EmbeddedRun(worker, directory, options, self._forget)
        with self._lock:
            self._runs.add(run)
        return run

    def close(self) -> None:
        """See `Engine.close`. The data directory keeps its bases."""
        for run in list(self._runs):
            run.close()
        self.checker.close()
        self.data.close()

    def _forget(self, run: EmbeddedRun, seconds: float) -> None:
        with self._lock:
            self._runs.discard(run)
            self.opening_s += seconds

    def _opening(self, experiment: Experiment, options: OptionMaps, seed: int) -> _Opening:
        limit_bytes = memory_limit(experiment)
        return _Opening(
            workload=experiment.workload.scaled(experiment.scale),
            device=experiment.device,
            options=model_options(options, self.checker.effective(options), experiment.scale),
            seed=seed,
            series_interval_s=max(0.1, 1 / experiment.scale),
            memory_limit_bytes=min(limit_bytes, self._memory_limit_bytes or limit_bytes),
        )

    def _open_store(self, opening: _Opening, directory: Path) -> tuple[WorkerProcess, OptionMaps]:
        fields = opening.fields(directory, self.data.allowed_bytes(directory, self._disk_limit_bytes))
        worker = WorkerProcess(self.checker.command, (self.data.lock_descriptor,))
        return worker, worker.request("open", _OPEN_TIMEOUT_S, fields)["options"]

    def _clone_base(
        self, experiment: Experiment, configuration: Configuration, target: Path, progress: Progress | None
    ) -> float:
        """Clones the run's base into `target`; returns the seconds spent on making it, 0 if it was there."""
        opening = self._opening(
            replace(experiment, device=DeviceSpec(name="none")),
            preload_options(experiment, configuration),
            _BASE_SEED,
        )
        made_s = 0.0

        def make(directory: Path) -> None:
            nonlocal made_s
            started = time.monotonic()
            worker, _ = self._open_store(opening, directory)
            worker.request("load", _LOAD_SILENCE_TIMEOUT_S, progress=progress, renewed=True)
            worker.close_store(_CLOSE_STORE_TIMEOUT_S)
            made_s = time.monotonic() - started

        key = base_key(opening.workload, opening.options, self.checker.rocksdb_version)
        self.bases.clone(key, make, target)
        return made_s
