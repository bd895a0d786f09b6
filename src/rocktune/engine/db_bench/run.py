"""Runs of engine `db_bench`: one store under one benchmark."""

import math
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from rocktune.engine.base import Progress, RunFailed
from rocktune.engine.db_bench.flags import BenchmarkPlan, Flags
from rocktune.engine.db_bench.output import parse_output, parse_report
from rocktune.engine.db_bench.program import DbBenchProgram, RunLimits, used_options
from rocktune.engine.db_bench.window import window_of
from rocktune.engine.local.data_directory import DataDirectory, directory_bytes
from rocktune.engine.local.run import LocalRun, RunOwner
from rocktune.engine.processes.cgroup import DeviceCgroup
from rocktune.trial import Measurement, OptionMaps, Status
from rocktune.workload import WorkloadSpec

SPARE_S = 60.0
"""Wall seconds that a run may take in addition to three times its seconds of load."""

# db_bench's default of 1000 lets a slow store overrun its duration by many seconds.
_OPERATIONS_BETWEEN_CLOCK_CHECKS = 10
# Ages that are whole seconds but for rounding errors must not take one second more.
_ROUNDING_S = 1e-6
# Safe for every integer type that versions of db_bench have for the flag.
_SEEDS = 1 << 31


@dataclass(frozen=True)
class Store:
    """The scaled parameters of a run.

    Attributes:
        workload: the workload.
        plan: the benchmark that expresses the workload.
        options: options of the store.
        seed: seed of the random numbers, at least 0.
        memory_limit_bytes: maximum resident bytes; 0 for no limit.
        disk_limit_bytes: maximum bytes of the store; 0 for the free space of the file system.
        cgroup: cgroup that limits the device; None for an unlimited device.
    """

    workload: WorkloadSpec
    plan: BenchmarkPlan
    options: OptionMaps
    seed: int
    memory_limit_bytes: int
    disk_limit_bytes: int
    cgroup: DeviceCgroup | None


class DbBenchRun(LocalRun):
    """A store that runs one benchmark from age 0; see `rocktune.engine.base.Run`."""

    def __init__(
        self,
        program: DbBenchProgram,
        store: Store,
        data: DataDirectory,
        directory: Path,
        options: OptionMaps,
        owner: RunOwner,
    ) -> None:
        """Takes over a directory; its subdirectory `store` holds the preloaded data, if any.

        Args:
            program: the db_bench program.
            store: the parameters of the run.
            data: the data directory that contains `directory`.
            directory: see `LocalRun`.
            options: the options in effect in such a store.
            owner: see `LocalRun`.
        """
        super().__init__(directory, options, owner)
        self._program = program
        self._store = store
        self._data = data

    def _measured(self, until_s: float, progress: Progress | None) -> Measurement:
        # db_bench knows whole seconds only, so the run lasts up to one second longer than asked for.
        store, plan = self._store, self._store.plan
        directory, report = self.directory / "store", self.directory / "report.csv"
        seconds = math.ceil(until_s - _ROUNDING_S)

        def watch(elapsed_s: float) -> None:
            self._data.require_within(directory, store.disk_limit_bytes)
            if progress is not None:
                progress("advance", min(elapsed_s, until_s), until_s)

        with store.cgroup.entered() if store.cgroup else nullcontext(()) as prefix:
            limits = RunLimits(
                timeout_s=3 * seconds + SPARE_S,
                memory_bytes=store.memory_limit_bytes,
                watch=watch,
                inherited_descriptors=(self._data.lock_descriptor,),
                prefix=prefix,
            )
            finished = self._program.run(directory, store.options, self._flags(seconds, report), limits)
        output = parse_output(finished.output, plan.benchmark)
        if output is None or not output.operations:
            message = f"db_bench printed no result for {plan.benchmark}"
            raise RunFailed(Status.CRASHED, message, finished.all_output)
        self.options = used_options(directory)
        intervals = parse_report(report.read_text()) if report.exists() else []
        return window_of(
            until_s, store.workload, plan, output, finished, intervals, directory_bytes(directory)
        )

    def _flags(self, seconds: int, report: Path) -> Flags:
        """Returns the benchmark's flags with duration, seed and reports."""
        return self._store.plan.flags | {
            "benchmarks": self._store.plan.benchmark,
            "use_existing_db": "true" if self._store.workload.preload.keys else "false",
            "duration": str(seconds),
            "ops_between_duration_checks": str(_OPERATIONS_BETWEEN_CLOCK_CHECKS),
            "seed": db_bench_seed(self._store.seed),
            "histogram": "true",
            "statistics": "true",
            "report_file": str(report),
            "report_interval_seconds": "1",
        }


def db_bench_seed(seed: int) -> str:
    """Returns the text of the flag --seed; never "0", for which db_bench takes the time as its seed."""
    return str(1 + seed % _SEEDS)
