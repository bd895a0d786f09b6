"""Engine `embedded`, whose runs are stores of the linked RocksDB in worker processes."""

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from rocktune.device import DeviceSpec
from rocktune.engine.base import Conditions, Progress, RunFailed
from rocktune.engine.checker import OptionsChecker
from rocktune.engine.debt import CompactionDebt
from rocktune.engine.embedded.ageing import Ageing, OnStep, age_store, ageing_rule
from rocktune.engine.embedded.run import CLOSE_STORE_TIMEOUT_S, OPEN_TIMEOUT_S, EmbeddedRun
from rocktune.engine.embedded.together import AgeOne, age_together
from rocktune.engine.local.bases import (
    AGED_FACTOR,
    DEFAULT_BASE_QUOTA_BYTES,
    BaseCache,
    aged_base_key,
    base_key,
)
from rocktune.engine.local.engine import LocalEngine
from rocktune.engine.options import model_options, preload_options, run_options, store_options
from rocktune.engine.steadiness import WARM_UP_FULL_SIZE_S
from rocktune.engine.worker import WorkerProcess
from rocktune.space.options import own_memory_bytes
from rocktune.trial import Configuration, Experiment, OptionMaps
from rocktune.units import MIB
from rocktune.workload import WorkloadSpec

_MEMORY_FACTOR = 2
_MEMORY_ALLOWANCE_BYTES = 512 * MIB
_SEEDS_PER_BASE = 1_000_000
_LOAD_SILENCE_TIMEOUT_S = 300.0


def memory_limit(experiment: Experiment, options: OptionMaps | None = None) -> int:
    """Returns the maximum resident bytes of a run; above it the run fails as `out_of_memory`.

    It is twice the memory budget, and what column families outside of it may take, at the experiment's scale
    plus 512 MiB. Twice, because arenas and cache
    entries have overheads, blocks stay pinned beyond the cache's capacity, and the allocator fragments. The
    512 MiB are for memory that is not in the budget or does not scale: the program and its threads, the
    workload's tables, histograms, index blocks outside the cache, and the memtables and cache of RocksDB's
    bare defaults.
    """
    budget_bytes = experiment.space.memory_bytes
    if experiment.workload.families and experiment.family is not None:
        budget_bytes += sum(
            own_memory_bytes(options or {}, name) for name in experiment.workload.family_names
        )
    return _MEMORY_FACTOR * budget_bytes // experiment.scale + _MEMORY_ALLOWANCE_BYTES


@dataclass(frozen=True)
class _Store:
    """The scaled parameters with which a store is opened."""

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


@dataclass(frozen=True)
class _AgedBase:
    """The aged base of a run.

    Attributes:
        key: name of the base.
        experiment: the run's experiment.
        configuration: the run's configuration.
        store: the parameters with which the base is aged.
    """

    key: str
    experiment: Experiment
    configuration: Configuration
    store: _Store


def _aged_bytes(conditions: Conditions) -> int:
    """Returns the bytes that a run's aged base may take, with the loaded one that it is made of."""
    experiment = conditions[0]
    return round(AGED_FACTOR * experiment.workload.keys * experiment.workload.entry_bytes / experiment.scale)


def _reporting(progress: Progress | None) -> OnStep:
    """Returns what reports each step of ageing as progress."""

    def report(age_s: float, limit_s: float, _processors: float) -> None:
        if progress is not None:
            progress("age", age_s, limit_s)

    return report


class EmbeddedEngine(LocalEngine):
    """Runs the linked RocksDB in worker processes; see `rocktune.engine.base.Engine`. Thread-safe.

    Attributes:
        bases: cache of preloaded stores.
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
            memory_limit_bytes: maximum resident bytes of a run, in addition to `memory_limit`; 0 for no
                limit.
            disk_limit_bytes: maximum bytes of a store; 0 for the free space of the file system.
            worker: program and arguments of the worker; the result of `find_worker` by default.
            base_quota_bytes: maximum bytes of all preloaded bases.

        Raises:
            UserError: no worker is installed or it does not start, the data directory is refused, or its
                file system is full.
        """
        super().__init__(OptionsChecker(worker), data_directory)
        self.bases = BaseCache(self.data, base_quota_bytes)
        self.version = self.checker.engine
        self._memory_limit_bytes = memory_limit_bytes
        self._disk_limit_bytes = disk_limit_bytes
        # Wall seconds of `prepare` by base, until a run begins with the base.
        self._prepared_s: dict[str, float] = {}

    def check(self, experiment: Experiment, configuration: Configuration) -> OptionMaps:
        """See `Engine.check`. Returns all options of the linked RocksDB."""
        options = run_options(experiment, configuration)
        return self.checker.effective(store_options(experiment, options))

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
            ageing, prepared_s = None, 0.0
            if experiment.aged:
                base = self._aged_base(experiment, configuration)
                opening.loading_s = self._age(base, opening.directory, _reporting(progress), progress)
                prepared_s = self._prepared_s.pop(base.key, 0.0)
                ageing = Ageing.taken_from(opening.directory)
            elif store.workload.preload.keys:
                opening.loading_s = self._clone_base(experiment, configuration, opening.directory, progress)
            measured = ageing.amplification if ageing and ageing.is_steady else None
            worker, options, debt = self._open_store(store, opening.directory, measured)
            run = EmbeddedRun(worker, opening.directory, options, self, debt, experiment.scale)
            self._remember(run)
            if ageing is not None:
                try:
                    aged_s = opening.loading_s + prepared_s
                    run.warm_up(WARM_UP_FULL_SIZE_S / experiment.scale, ageing, aged_s)
                except BaseException:
                    run.close()
                    raise
        return run

    def prepare(self, conditions: Sequence[Conditions], progress: Progress) -> None:
        """See `PreparingEngine`. Ages stores together if their device is limited and the quota holds them."""
        missing: dict[str, AgeOne] = {}
        for experiment, configuration in conditions:
            # Without a limit, stores that age together share the real device.
            if not experiment.aged or not (experiment.device.bandwidth_bytes_s or experiment.device.iops):
                continue
            # Options that RocksDB refuses fail when the run is opened.
            with suppress(RunFailed):
                base = self._aged_base(experiment, configuration)
                if not self.bases.has(base.key):
                    missing.setdefault(base.key, partial(self._age, base, None))
        fitting = self.bases.quota_bytes // max(map(_aged_bytes, conditions), default=1)
        tasks = dict(list(missing.items())[:fitting])
        # The second store would remove the first before it is used.
        if len(tasks) < 2:
            return
        seconds = age_together(list(tasks.values()), progress)
        with self._lock:
            self.loading_s += seconds
            self._prepared_s |= dict.fromkeys(tasks, seconds / len(tasks))

    def reopen(
        self, run: EmbeddedRun, experiment: Experiment, configuration: Configuration, seed: int
    ) -> None:
        """Closes a run's store properly and opens it again under another experiment. Its data stays.

        Args:
            run: a run of this engine; its age is then 0.
            experiment: the new conditions.
            configuration: the new configuration.
            seed: the new seed.

        Raises:
            RunFailed: see `Engine.open`. The run can then only be closed.
        """
        store = self._store(experiment, run_options(experiment, configuration), seed)
        run.restart(lambda directory: self._open_store(store, directory))

    def _store(self, experiment: Experiment, options: OptionMaps, seed: int) -> _Store:
        """Returns the scaled parameters of a store for full-size options."""
        limit_bytes = memory_limit(experiment, options)
        options = store_options(experiment, options)
        return _Store(
            workload=experiment.workload.scaled(experiment.scale),
            device=experiment.device,
            options=model_options(options, self.checker.effective(options), experiment.scale),
            seed=seed,
            # One second at full size, but not below 0.1 s, which the worker can sample without effort.
            series_interval_s=max(0.1, 1 / experiment.scale),
            memory_limit_bytes=min(limit_bytes, self._memory_limit_bytes or limit_bytes),
        )

    def _open_store(
        self, store: _Store, directory: Path, measured: float | None = None
    ) -> tuple[WorkerProcess, OptionMaps, CompactionDebt]:
        """Starts a worker and opens a store in it.

        Args:
            store: the parameters.
            directory: directory of the store.
            measured: see `CompactionDebt`.

        Returns:
            The worker, the options in effect, and the charges of the store's windows.
        """
        worker = WorkerProcess(self.checker.command, (self.data.lock_descriptor,))
        try:
            # Directories that are still being removed would count as occupied space.
            self.wait_for_removals()
            fields = store.fields(directory, self.data.allowed_bytes(directory, self._disk_limit_bytes))
        except BaseException:
            worker.close()
            raise
        options = worker.request("open", OPEN_TIMEOUT_S, fields)["options"]
        return worker, options, CompactionDebt(store.workload, store.device, options, measured)

    def _aged_base(self, experiment: Experiment, configuration: Configuration) -> _AgedBase:
        """Returns the aged base with which a run begins."""
        # Ageing does not depend on the run's seed.
        store = self._store(experiment, run_options(experiment, configuration), 0)
        ageing = replace(store, workload=store.workload.closed())
        key = aged_base_key(
            ageing.workload,
            store.device,
            store.options,
            experiment.base_seed,
            self.checker.rocksdb_version,
            ageing_rule(experiment.scale),
        )
        return _AgedBase(key, experiment, configuration, ageing)

    def _age(
        self, base: _AgedBase, target: Path | None, on_step: OnStep, progress: Progress | None = None
    ) -> float:
        """Makes an aged base if it is missing, and clones it into `target` if one is given.

        Returns:
            The wall seconds spent on making the base; 0 if it existed.
        """
        experiment, made_s = base.experiment, 0.0

        def begin(directory: Path) -> None:
            if base.store.workload.preload.keys:
                self._clone_base(experiment, base.configuration, directory, progress)

        def go_on(directory: Path) -> None:
            nonlocal made_s
            started = time.monotonic()

            def open_store(steps: int) -> WorkerProcess:
                # A store that goes on after a kill meets new random numbers.
                seeded = replace(base.store, seed=experiment.base_seed * _SEEDS_PER_BASE + steps)
                return self._open_store(seeded, directory)[0]

            age_store(directory, experiment.scale, open_store, on_step)
            made_s = time.monotonic() - started

        self.bases.clone_resumable(base.key, begin, go_on, target)
        return made_s

    def _clone_base(
        self, experiment: Experiment, configuration: Configuration, target: Path, progress: Progress | None
    ) -> float:
        """Clones the run's base into `target`, and makes the base first if it is missing.

        Returns:
            The wall seconds spent on making the base; 0 if it existed.
        """
        # Without the device: its limits would slow down loading, and the base is the same.
        store = self._store(
            replace(experiment, device=DeviceSpec(name="none")),
            preload_options(experiment, configuration),
            experiment.base_seed,
        )
        made_s = 0.0

        def make(directory: Path) -> None:
            nonlocal made_s
            started = time.monotonic()
            worker, *_ = self._open_store(store, directory)
            worker.request("load", _LOAD_SILENCE_TIMEOUT_S, progress=progress, renewed=True)
            worker.close_store(CLOSE_STORE_TIMEOUT_S)
            made_s = time.monotonic() - started

        key = base_key(store.workload, store.options, store.seed, self.checker.rocksdb_version)
        self.bases.clone(key, make, target)
        return made_s
