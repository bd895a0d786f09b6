"""An engine without stores: throughput is a formula, load takes no time, and faults are injected."""

import time
import zlib
from collections.abc import Callable

import numpy as np

from rocktune.engine.base import Progress, RunFailed
from rocktune.testing.synthetic import synthetic_window
from rocktune.trial import Configuration, Experiment, Measurement, OptionMaps, Status

Fault = Callable[[Configuration, int, float], Status | None]
"""Returns how a run fails, from configuration, seed and the age to reach in seconds; None if it does not
fail.
Age 0 stands for opening the run."""


def no_fault(_configuration: Configuration, _seed: int, _until_s: float) -> None:
    """Never fails; see `Fault`."""


class SyntheticRun:
    """A run whose figures depend only on configuration and seed; see `rocktune.engine.base.Run`."""

    def __init__(self, engine: "SyntheticEngine", configuration: Configuration, seed: int) -> None:
        """Creates a run of age 0.

        Args:
            engine: gives the figures and counts the load.
            configuration: the run's configuration.
            seed: decides the noise.
        """
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
        latency_us = self._engine.latency_us(self._configuration, throughput)
        others_share = self._engine.others_share()
        space, memory_bytes = self._engine.space(self._configuration)
        window = synthetic_window(
            self._age_s, until_s, throughput, latency_us, others_share, space, memory_bytes
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
    """An engine of synthetic runs that records its calls; see `rocktune.engine.base.Engine`.

    Attributes:
        opened: (configuration, seed) of each opened run, in order.
        open_runs: the runs that are not closed.
        advanced_s: seconds of load, summed over all runs.
        experiments: the experiment of each opened run, in order.
    """

    version = "synthetic 1, assertions off"
    file_system = ""

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
        others_share: Callable[[], float] = lambda: 0.0,
        space: Callable[[Configuration], tuple[float, float]] = lambda _: (1.1, 9 << 20),
    ) -> None:
        """Creates an engine.

        Args:
            response: returns the throughput of a configuration without noise, operations per second.
            fault: says when runs fail.
            shared_noise: standard deviation of the logarithm of a factor that runs of equal seed share.
            own_noise: standard deviation of the logarithm of a factor of each configuration and seed.
            resident_bytes: bytes that a parked run holds.
            can_park: see `Engine`.
            latency_us: returns the latency of a read in microseconds, from configuration and throughput.
            pause_s: returns the wall seconds that each `advance` of a configuration's run takes.
            others_share: is called at each `advance`, and returns the share of the processors that other
                programs use during it, 0 to 1.
            space: returns a configuration's maximum space amplification and its bytes of memory at full size.
        """
        self.can_park = can_park
        self.latency_us = latency_us
        self.pause_s = pause_s
        self.others_share = others_share
        self.space = space
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
        """Returns the throughput of one run with noise, operations per second."""
        shared = np.random.default_rng(seed).normal(0, self._noise[0])
        own = np.random.default_rng([seed, zlib.crc32(configuration.key.encode())]).normal(0, self._noise[1])
        return self._response(configuration) * float(np.exp(shared + own))

    def fail_if_due(self, configuration: Configuration, seed: int, until_s: float) -> None:
        """Raises RunFailed if `fault` returns a status for these arguments."""
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
