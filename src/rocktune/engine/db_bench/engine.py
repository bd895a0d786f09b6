"""Engine `db_bench`, whose runs are one benchmark on a new store each."""

import json
import time
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from rocktune.device import DeviceSpec
from rocktune.engine.base import Progress
from rocktune.engine.checker import OptionsChecker
from rocktune.engine.db_bench.flags import plan_of, preload_flags, refuse_inexpressible
from rocktune.engine.db_bench.program import DbBenchProgram, RunLimits
from rocktune.engine.db_bench.run import DbBenchRun, Store, db_bench_seed
from rocktune.engine.embedded.engine import memory_limit
from rocktune.engine.local.bases import DEFAULT_BASE_QUOTA_BYTES, BaseCache, base_key
from rocktune.engine.local.engine import LocalEngine
from rocktune.engine.options import model_options, preload_options, rocksdb_options
from rocktune.engine.processes.cgroup import DIRECT_IO_OPTIONS, device_cgroup
from rocktune.errors import UserError
from rocktune.space import merged_options
from rocktune.trial import Configuration, Experiment, OptionMaps

# Long enough for a preload of a terabyte at 50 MB/s.
_LOAD_TIMEOUT_S = 6 * 3600.0
# If these are 0, RocksDB derives them from other sizes and writes the derived values to its OPTIONS file.
# They
# would pin the derived values in a scaled model.
_DERIVED = ("arena_block_size", "max_compaction_bytes")


class DbBenchEngine(LocalEngine):
    """Runs a db_bench program; see `rocktune.engine.base.Engine`. Thread-safe.

    Attributes:
        bases: cache of preloaded stores.
        program: the db_bench program.
    """

    can_park = False

    def __init__(
        self, program: str, data_directory: Path, memory_limit_bytes: int, disk_limit_bytes: int
    ) -> None:
        """Finds the program, then claims the data directory.

        Args:
            program: path of the db_bench, or its name on the PATH.
            data_directory: see `DataDirectory`.
            memory_limit_bytes: maximum resident bytes of a run, in addition to its memory budget; 0 for no
                limit.
            disk_limit_bytes: maximum bytes of a store; 0 for the free space of the file system.

        Raises:
            UserError: the program does not exist or is not a db_bench, no worker is installed, the data
                directory is refused, or its file system is full.
        """
        super().__init__(OptionsChecker(), data_directory)
        with ExitStack() as undone:
            undone.callback(self.close)
            with self._scratch() as scratch:
                self.program = DbBenchProgram(program, scratch)
            undone.pop_all()
        self.bases = BaseCache(self.data, DEFAULT_BASE_QUOTA_BYTES)
        assertions = "on" if self.program.assertions else "off"
        self.version = f"db_bench, RocksDB {self.program.rocksdb_version}, assertions {assertions}"
        self._memory_limit_bytes = memory_limit_bytes
        self._disk_limit_bytes = disk_limit_bytes
        self._opened: dict[str, OptionMaps] = {}

    def check(self, experiment: Experiment, configuration: Configuration) -> OptionMaps:
        """See `Engine.check`. Returns all options of db_bench's RocksDB."""
        return self._with_defaults(
            _on_device(rocksdb_options(experiment, configuration, "db_bench"), experiment)
        )

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
            UserError: db_bench cannot express the workload, or the device cannot be limited.
        """
        refuse_inexpressible(experiment.workload, experiment.device)
        with self._opening() as opening:
            directory = opening.directory
            self.wait_for_removals()
            store = self._store(experiment, rocksdb_options(experiment, configuration, "db_bench"), seed)
            used = self._opened_options(store.options)
            if store.workload.preload.keys:
                target = directory / "store"
                opening.loading_s = self._clone_base(experiment, configuration, target, progress)
            self.data.require_within(directory, store.disk_limit_bytes)
            run = DbBenchRun(self.program, store, self.data, directory, used, self)
            self._remember(run)
        return run

    def _store(self, experiment: Experiment, options: OptionMaps, seed: int) -> Store:
        """Returns the scaled parameters of a run, with the device's cgroup."""
        device, limit_bytes = experiment.device, memory_limit(experiment)
        workload = experiment.workload.scaled(experiment.scale)
        options = _on_device(options, experiment)
        disk_limits = [limit for limit in (self._disk_limit_bytes, device.capacity_bytes) if limit]
        return Store(
            workload=workload,
            plan=plan_of(workload),
            options=model_options(options, self._with_defaults(options), experiment.scale),
            seed=seed,
            memory_limit_bytes=min(limit_bytes, self._memory_limit_bytes or limit_bytes),
            disk_limit_bytes=min(disk_limits, default=0),
            cgroup=device_cgroup(device, self.data.path) if _is_limited(device) else None,
        )

    def _with_defaults(self, options: OptionMaps) -> OptionMaps:
        """Returns the options, completed with the defaults of db_bench's RocksDB."""
        # The linked RocksDB answers in a millisecond; another version has to open a store.
        if self.program.rocksdb_version == self.checker.rocksdb_version:
            return self.checker.effective(options)
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
        """Returns all options in effect in an empty store that db_bench opens."""
        with self._scratch() as scratch:
            return self.program.opened_options(options, scratch, RunLimits())

    def _clone_base(
        self, experiment: Experiment, configuration: Configuration, target: Path, progress: Progress | None
    ) -> float:
        """Clones the run's base into `target`, and makes the base first if it is missing.

        Returns:
            The wall seconds spent on making the base; 0 if it existed.
        """
        unlimited = replace(experiment, device=DeviceSpec(name="none"))
        store = self._store(unlimited, preload_options(experiment, configuration), experiment.base_seed)
        made_s = 0.0

        def make(directory: Path) -> None:
            nonlocal made_s
            started = time.monotonic()
            self._fill(store, directory, progress)
            made_s = time.monotonic() - started

        target.mkdir()
        key = base_key(store.workload, store.options, store.seed, self.version)
        self.bases.clone(key, make, target)
        return made_s

    def _fill(self, base: Store, directory: Path, progress: Progress | None) -> None:
        """Makes a base in an empty directory: fills a store with the preload and waits for compactions."""
        with self._scratch() as scratch:
            store, workload = scratch / "store", base.workload

            def watch(_elapsed_s: float) -> None:
                held_bytes = self.data.require_within(store, base.disk_limit_bytes)
                if progress is not None:
                    keys = workload.preload.keys
                    progress("load", min(held_bytes / workload.entry_bytes, keys), keys)

            flags = preload_flags(workload) | {"seed": db_bench_seed(base.seed)}
            limits = RunLimits(_LOAD_TIMEOUT_S, base.memory_limit_bytes, watch, (self.data.lock_descriptor,))
            self.program.run(store, base.options, flags, limits)
            # Moved, because db_bench writes its OPTIONS file next to the store, where a base has no place for
            # it.
            for file in store.iterdir():
                file.rename(directory / file.name)


def _is_limited(device: DeviceSpec) -> bool:
    """Returns whether bandwidth or operations of a device are limited."""
    return device.bandwidth_bytes_s > 0 or device.iops > 0


def _on_device(options: OptionMaps, experiment: Experiment) -> OptionMaps:
    """Returns the options with direct I/O added if the device is limited.

    A cgroup does not limit I/O that the page cache absorbs.

    Raises:
        UserError: an option of direct I/O is a knob of the space.
    """
    if not _is_limited(experiment.device):
        return options
    for knob in experiment.space.knobs:
        if knob.section == "db" and knob.option_name in DIRECT_IO_OPTIONS:
            raise UserError(
                f"knob '{knob.name}': engine 'db_bench' sets this option itself if the device is limited; "
                "leave it out of the space, or use device 'none'"
            )
    return merged_options(options, {"db": DIRECT_IO_OPTIONS})
