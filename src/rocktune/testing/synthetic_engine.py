"""An engine without stores: throughput is a formula, time does not pass, and faults come when asked for."""

import time
import zlib
from collections.abc import Callable

import numpy as np

from rocktune.engine.base import Progress, RunFailed
from rocktune.testing.synthetic import synthetic_window
from rocktune.trial import Configuration, Experiment, Measurement, OptionMaps, Status

Fault = Callable[[Configuration, int, float], Status | None]
"""Says for a configuration, a seed and an age to be reached how the run fails; None: it goes on. At age 0
the run is being opened."""


def no_fault(_configuration: Configuration, _seed: int, _until_s: float) -> None:
    """Nothing fails."""


class SyntheticRun:
    """A run whose figures depend on configuration and seed alone; see `rocktune.engine.base.Run`."""

    def __init__(self, engine: "SyntheticEngine", configuration: Configuration, seed: int) -> None:
        """Opens it at age 0."""
        self.options: OptionMaps = {
            "db": {},
            "cf": {name: str(value) for name, value in configuration.items()},
        }
        self.closed = False
        self._engine = engine
        self._configuration = configuration
        self._seed = seed
        self._age_s = 0.0

    def advance(self, until_s: float, progress: Progress | None = None) -> Measurement:
        """See `Run.advance`."""
        assert not self.closed, "a closed run cannot be advanced"
        assert until_s > self._age_s, "ages only grow"
        self._engine.fail_if_due(self._configuration, self._seed, until_s)
        time.sleep(self._engine.pause_s(self._configuration))
        if progress is not None:
            progress("advance", until_s - self._age_s, until_s - self._age_s)
        throughput = self._engine.throughput(self._configuration, self._seed)
        window = synthetic_window(
            self._age_s, until_s, throughput, self._engine.latency_us(self._configuration, throughput)
        )
        self._engine.advanced_s += until_s - self._age_s
        self._age_s = until_s
        return window

    def park(self) -> int:
        """See `Run.park`."""
        return self._engine.resident_bytes

    def close(self) -> None:
        """See `Run.close`."""
        self.closed = True
        self._engine.open_runs.discard(self)


class SyntheticEngine:
    """Counts what it is asked for; see `rocktune.engine.base.Engine`.

    Attributes:
        opened: (configuration, seed) of every run opened, in order.
        open_runs: those that are not closed yet.
        advanced_s: seconds of load over all runs.
        experiments: the experiment of every run opened, in order.
    """

    version = "synthetic 1, assertions off"

    def __init__(
        self,
        response: Callable[[Configuration], float],
        fault: Fault = no_fault,
        shared_noise: float = 0.1,
        own_noise: float = 0.01,
        resident_bytes: int = 1 << 20,
        can_park: bool = True,
        latency_us: Callable[[Configuration, float], float] = lambda _, throughput: 1e8 / throughput,
        pause_s: Callable[[Configuration], float] = lambda _: 0.0,
    ) -> None:
        """Creates an engine.

        Args:
            response: operations per second that a configuration reaches without noise.
            fault: when runs fail.
            shared_noise: standard deviation of the factor that all runs of equal seed share, in logarithms.
            own_noise: that of a factor which belongs to configuration and seed.
            resident_bytes: what a parked run holds.
            can_park: see `Engine`.
            latency_us: the latency of a read, from configuration and throughput.
            pause_s: wall seconds that a run of a configuration takes to advance, whatever its ages.
        """
        self.can_park = can_park
        self.latency_us = latency_us
        self.pause_s = pause_s
        self.opening_s = 0.0
        self.loading_s = 0.0
        self.resident_bytes = resident_bytes
        self.opened: list[tuple[Configuration, int]] = []
        self.experiments: list[Experiment] = []
        self.open_runs: set[SyntheticRun] = set()
        self.advanced_s = 0.0
        self._response = response
        self._fault = fault
        self._noise = (shared_noise, own_noise)

    def throughput(self, configuration: Configuration, seed: int) -> float:
        """Returns the operations per second of one run."""
        shared = np.random.default_rng(seed).normal(0, self._noise[0])
        own = np.random.default_rng([seed, zlib.crc32(configuration.key.encode())]).normal(0, self._noise[1])
        return self._response(configuration) * float(np.exp(shared + own))

    def fail_if_due(self, configuration: Configuration, seed: int, until_s: float) -> None:
        """Raises RunFailed if `fault` says so."""
        status = self._fault(configuration, seed, until_s)
        if status is not None:
            raise RunFailed(status, f"made to fail as {status}")

    def check(self, experiment: Experiment, configuration: Configuration) -> OptionMaps:  # noqa: ARG002
        """See `Engine.check`."""
        return {"db": {}, "cf": {name: str(configuration[name]) for name in configuration}, "table": {}}

    def open(
        self,
        experiment: Experiment,
        configuration: Configuration,
        seed: int,
        progress: Progress | None = None,  # noqa: ARG002
    ) -> SyntheticRun:
        """See `Engine.open`."""
        self.opened.append((configuration, seed))
        self.experiments.append(experiment)
        self.fail_if_due(configuration, seed, 0.0)
        run = SyntheticRun(self, configuration, seed)
        self.open_runs.add(run)
        return run

    def close(self) -> None:
        """See `Engine.close`."""
        for run in list(self.open_runs):
            run.close()
