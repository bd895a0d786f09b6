"""One store under one benchmark of db_bench."""

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
from rocktune.engine.local.run import Home, LocalRun
from rocktune.engine.processes.cgroup import DeviceCgroup
from rocktune.trial import Measurement, OptionMaps, Status
from rocktune.workload import WorkloadSpec

SPARE_S = 60.0
"""Wall seconds that a run may take beyond three times its load."""

_OPERATIONS_BETWEEN_LOOKS_AT_THE_CLOCK = 10
_ROUNDING_S = 1e-6
_SEEDS = 1 << 31


@dataclass(frozen=True)
class Store:
    """What a run begins with, all of it scaled.

    Attributes:
        workload: what to do.
        plan: its benchmark.
        options: of the store.
        seed: of the random numbers, from 0.
        memory_limit_bytes: resident; 0 for no limit.
        disk_limit_bytes: of the store; 0 for what the file system has.
        cgroup: limits the device; None for no limit.
    """

    workload: WorkloadSpec
    plan: BenchmarkPlan
    options: OptionMaps
    seed: int
    memory_limit_bytes: int
    disk_limit_bytes: int
    cgroup: DeviceCgroup | None


class DbBenchRun(LocalRun):
    """A store of age 0 that is loaded once. See `rocktune.engine.base.Run`."""

    def __init__(
        self,
        program: DbBenchProgram,
        store: Store,
        data: DataDirectory,
        directory: Path,
        options: OptionMaps,
        home: Home,
    ) -> None:
        """Takes over a directory, in which `store` holds the preload, if there is one.

        Args:
            program: the db_bench.
            store: what the run begins with.
            data: where the directory is.
            directory: of the run.
            options: what such a store really uses.
            home: takes the directory back.
        """
        super().__init__(directory, options, home)
        self._program = program
        self._store = store
        self._data = data

    def _measured(self, until_s: float, progress: Progress | None) -> Measurement:
        """Loads whole seconds, at least `until_s`; the program gets thrice that and a minute."""
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
            raise RunFailed(Status.CRASHED, message, finished.said)
        self.options = used_options(directory)
        intervals = parse_report(report.read_text()) if report.exists() else []
        return window_of(
            until_s, store.workload, plan, output, finished, intervals, directory_bytes(directory)
        )

    def _flags(self, seconds: int, report: Path) -> Flags:
        return self._store.plan.flags | {
            "benchmarks": self._store.plan.benchmark,
            "use_existing_db": "true" if self._store.workload.preload.keys else "false",
            "duration": str(seconds),
            "ops_between_duration_checks": str(_OPERATIONS_BETWEEN_LOOKS_AT_THE_CLOCK),
            "seed": db_bench_seed(self._store.seed),
            "histogram": "true",
            "statistics": "true",
            "report_file": str(report),
            "report_interval_seconds": "1",
        }


def db_bench_seed(seed: int) -> str:
    """Returns the flag's text; db_bench takes 0 for the time."""
    return str(1 + seed % _SEEDS)
