"""Shared measuring code of the benchmarks: experiments by preset names, and one measured run."""

import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.common.claims import Settings
from rocktune.device import load_device
from rocktune.engine import EmbeddedEngine
from rocktune.space import load_space
from rocktune.study import Observer
from rocktune.study.specs.problem import expected_entries
from rocktune.trial import Configuration, Experiment, Measurement, Result
from rocktune.workload import load_workload

WRITE_HEAVY = "dremel-write-heavy"
READ_HEAVY = "dremel-read-heavy"
PRELOADED = "dremel-preloaded"


def experiment_of(
    workload: str, device: str, scale: int, space_name: str = "dremel", memory_bytes: int | None = None
) -> Experiment:
    """Returns the experiment for presets or files; without a budget it has the space's own."""
    workload_spec, device_spec = load_workload(workload), load_device(device)
    space = load_space(space_name, memory_bytes, expected_entries(workload_spec, device_spec))
    return Experiment(workload=workload_spec, device=device_spec, scale=scale, space=space, base_options={})


@contextmanager
def processors_awake() -> Iterator[None]:
    """Keeps all processors awake, because a virtual processor is slow to wake from idle.

    One process per processor spins at the lowest priority, with the instruction that leaves the core's other
    thread alone. Measured on 2 virtual processors with 8 interleaved pairs of Jia and Chen's default at 1/64:
    the coefficient of variation fell from 3.3% to 1.6% for throughput and from 2.6% to 1.4% for p99 latency.
    CPU time per operation fell by a quarter.
    """
    spinning = [subprocess.Popen([sys.executable, "-c", _SPIN, str(cpu)]) for cpu in os.sched_getaffinity(0)]
    try:
        yield
    finally:
        for each in spinning:
            each.kill()
            each.wait()


_SPIN = """
import ctypes, os, signal, sys
libc, lock = ctypes.CDLL(None), ctypes.c_int()
libc.prctl(1, signal.SIGKILL)  # ends with its parent
os.sched_setaffinity(0, {int(sys.argv[1])})
os.nice(19)
os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
os.setsid()  # into an autogroup of its own: in this one it would keep the group's share from other groups
try:
    with open("/proc/self/autogroup", "w") as autogroup:
        autogroup.write("19")
except OSError:
    pass  # where there are none, the above is enough
libc.pthread_spin_init(ctypes.byref(lock), 0)
while True:
    libc.pthread_spin_lock(ctypes.byref(lock))
"""


@contextmanager
def embedded_engine() -> Iterator[EmbeddedEngine]:
    """Yields an engine on a temporary data directory."""
    with tempfile.TemporaryDirectory(prefix="rocktune-benchmark-") as directory:
        engine = EmbeddedEngine(Path(directory) / "data", memory_limit_bytes=8 << 30, disk_limit_bytes=0)
        try:
            yield engine
        finally:
            engine.close()


class Teller(Observer):
    """An observer that prints the progress of a long measurement, at most every half minute."""

    def __init__(self, settings: Settings, what: str) -> None:
        """Creates an observer that prints with `settings.say`, each time with `what`."""
        self._settings, self._what = settings, what
        self._trials = 0
        self._told_at = -math.inf

    def phase_started(self, name: str, total_s: float | None) -> None:
        """See `Observer`."""
        self._trials = 0
        self._tell(f"{name}, {total_s or 0:.0f} s")

    def progress(self, phase: str, done: float, total: float) -> None:
        """See `Observer`."""
        if phase == "map":
            self._tell(f"{done:.0f} of {total:.0f} s")

    def trial_finished(self, result: Result) -> None:
        """See `Observer`."""
        self._trials += 1
        self._tell(f"trial {self._trials}, {result.status.value}")

    def _tell(self, text: str) -> None:
        if time.monotonic() - self._told_at >= 30:
            self._told_at = time.monotonic()
            self._settings.say(f"{self._what}: {text}")


def measure(
    engine: EmbeddedEngine,
    experiment: Experiment,
    configuration: Configuration,
    seed: int,
    ages_s: tuple[float, ...],
) -> Measurement:
    """Runs a fresh store to the last of `ages_s`, pausing at each, and returns the whole as one window."""
    run = engine.open(experiment, configuration, seed)
    try:
        total = run.advance(ages_s[0])
        for age_s in ages_s[1:]:
            run.park()
            total = total.merged(run.advance(age_s))
        return total
    finally:
        run.close()
