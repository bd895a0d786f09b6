"""One store under one benchmark of db_bench."""

import math
import shutil
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from rocktune.engine.base import Progress, RunFailed
from rocktune.engine.cgroup import DeviceCgroup
from rocktune.engine.data_directory import directory_bytes
from rocktune.engine.db_bench.flags import BenchmarkPlan, Flags
from rocktune.engine.db_bench.output import parse_output, parse_report
from rocktune.engine.db_bench.program import DbBenchProgram, RunLimits, used_options
from rocktune.engine.db_bench.window import window_of
from rocktune.trial import Measurement, OptionMaps, Status
from rocktune.units import format_bytes
from rocktune.workload import WorkloadSpec

SPARE_S = 60.0
"""Wall seconds that a run may take beyond three times its load."""

_OPERATIONS_BETWEEN_LOOKS_AT_THE_CLOCK = 10
_ROUNDING_S = 1e-6
_SEEDS = 1 << 31


@dataclass(frozen=True)
class Opening:
    """What a run begins with, all of it scaled.

    Attributes:
        workload: what to do.
        plan: its benchmark.
        options: of the store.
        seed: of the random numbers, from 0.
        memory_limit_bytes: resident; 0 for no limit.
        cgroup: limits the device; None for no limit.
        lock_descriptor: held as long as the program lives.
    """

    workload: WorkloadSpec
    plan: BenchmarkPlan
    options: OptionMaps
    seed: int
    memory_limit_bytes: int
    cgroup: DeviceCgroup | None
    lock_descriptor: int


class DbBenchRun:
    """A store of age 0 that is loaded once. See `rocktune.engine.base.Run`."""

    def __init__(
        self,
        program: DbBenchProgram,
        opening: Opening,
        directory: Path,
        disk_limit_bytes: int,
        options: OptionMaps,
        on_close: Callable[["DbBenchRun", float], None],
    ) -> None:
        """Takes over a directory, in which `store` holds the preload, if there is one.

        Args:
            program: the db_bench.
            opening: what the run begins with.
            directory: of the run.
            disk_limit_bytes: of the store.
            options: what a store with the opening's options really uses.
            on_close: gets the seconds that closing took.
        """
        self.options = options
        self._program = program
        self._opening = opening
        self._directory = directory
        self._disk_limit_bytes = disk_limit_bytes
        self._on_close = on_close
        self._advanced = False
        self._failure: RunFailed | None = None
        self._closed = False

    def advance(self, until_s: float, progress: Progress | None = None) -> Measurement:
        """See `Run.advance`. Loads whole seconds, at least `until_s`; it gets thrice that and a minute."""
        if self._closed:
            raise ValueError("the run is closed")
        if self._failure is not None:
            raise RunFailed(self._failure.status, self._failure.message, self._failure.output)
        if self._advanced or until_s <= 0:
            raise ValueError(f"the run cannot advance to {until_s} s: db_bench runs once, from 0")
        try:
            measurement = self._measured(until_s, progress)
        except RunFailed as failure:
            self._failure = failure
            raise
        except BaseException:
            self._failure = RunFailed(Status.CRASHED, "db_bench was interrupted")
            raise
        self._advanced = True
        return measurement

    def park(self) -> int:
        """See `Run.park`. Between its start and its end there is nothing of it in memory."""
        return 0

    def close(self) -> None:
        """See `Run.close`."""
        if self._closed:
            return
        self._closed = True
        started = time.monotonic()
        shutil.rmtree(self._directory, ignore_errors=True)
        self._on_close(self, time.monotonic() - started)

    def _measured(self, until_s: float, progress: Progress | None) -> Measurement:
        opening, plan = self._opening, self._opening.plan
        store, report = self._directory / "store", self._directory / "report.csv"
        seconds = math.ceil(until_s - _ROUNDING_S)

        def watch(elapsed_s: float) -> None:
            check_disk(store, self._disk_limit_bytes)
            if progress is not None:
                progress("advance", min(elapsed_s, until_s), until_s)

        with opening.cgroup.entered() if opening.cgroup else nullcontext(()) as prefix:
            limits = RunLimits(
                timeout_s=3 * seconds + SPARE_S,
                memory_bytes=opening.memory_limit_bytes,
                watch=watch,
                inherited_descriptors=(opening.lock_descriptor,),
                prefix=prefix,
            )
            finished = self._program.run(store, opening.options, self._flags(seconds, report), limits)
        output = parse_output(finished.output, plan.benchmark)
        if output is None or not output.operations:
            message = f"db_bench printed no result for {plan.benchmark}"
            raise RunFailed(Status.CRASHED, message, finished.said)
        self.options = used_options(store)
        intervals = parse_report(report.read_text()) if report.exists() else []
        return window_of(until_s, opening.workload, plan, output, finished, intervals, directory_bytes(store))

    def _flags(self, seconds: int, report: Path) -> Flags:
        return self._opening.plan.flags | {
            "benchmarks": self._opening.plan.benchmark,
            "use_existing_db": "true" if self._opening.workload.preload.keys else "false",
            "duration": str(seconds),
            "ops_between_duration_checks": str(_OPERATIONS_BETWEEN_LOOKS_AT_THE_CLOCK),
            "seed": db_bench_seed(self._opening.seed),
            "histogram": "true",
            "statistics": "true",
            "report_file": str(report),
            "report_interval_seconds": "1",
        }


def db_bench_seed(seed: int) -> str:
    """Returns the flag's text; db_bench takes 0 for the time."""
    return str(1 + seed % _SEEDS)


def check_disk(store: Path, limit_bytes: int) -> int:
    """Returns the bytes that a store takes.

    Raises:
        RunFailed: they are more than its limit (status `out_of_disk`).
    """
    held_bytes = directory_bytes(store)
    if held_bytes > limit_bytes:
        raise RunFailed(
            Status.OUT_OF_DISK,
            f"the store takes {format_bytes(held_bytes)}; {format_bytes(limit_bytes)} are allowed",
        )
    return held_bytes
