"""Runs of one configuration on several workloads, as one run."""

from dataclasses import replace

from rocktune.engine.base import Conditions, Engine, Progress, Run
from rocktune.trial import Configuration, Experiment, Measurement, OptionMaps


def workloads_of(experiment: Experiment) -> list[Experiment]:
    """Returns the experiment on its workload alone, and on each of its neighbours."""
    workloads = (experiment.workload, *experiment.neighbours)
    return [replace(experiment, workload=workload, neighbours=()) for workload in workloads]


def conditions_of(conditions: Conditions) -> list[Conditions]:
    """Returns the conditions of the runs that a run on several workloads opens."""
    experiment, configuration = conditions
    return [(each, configuration) for each in workloads_of(experiment)]


def open_run(
    engine: Engine, experiment: Experiment, configuration: Configuration, seed: int, progress: Progress
) -> Run:
    """Opens a run on the experiment's workload and its neighbours; see `Engine.open`."""
    if not experiment.neighbours:
        return engine.open(experiment, configuration, seed, progress)
    return _RunOnNeighbours(engine, experiment, configuration, seed, progress)


class _RunOnNeighbours:
    """One run for each workload, all with equal seeds; see `Run`.

    They advance one after the other, and each is parked meanwhile. The measurement is that of the given
    workload; those of the others are in its `neighbours`.
    """

    def __init__(
        self,
        engine: Engine,
        experiment: Experiment,
        configuration: Configuration,
        seed: int,
        progress: Progress,
    ) -> None:
        """Opens the run on the given workload; see `Engine.open`."""
        self._engine = engine
        self._given, *self._others = workloads_of(experiment)
        self._opened_with = (configuration, seed)
        self._resident_bytes = 0
        self._runs: list[Run] = []
        # The others are opened when they advance: an open store that waits may compact meanwhile.
        run = self._open(self._given, progress)
        self.options: OptionMaps = run.options

    def advance(self, until_s: float, progress: Progress | None = None) -> Measurement:
        """See `Run.advance`."""
        self._resident_bytes = 0
        given = self._advanced(0, until_s, progress)
        others: dict[str, Measurement] = {}
        for number, other in enumerate(self._others, 1):
            if number == len(self._runs):
                self._open(other, progress)
            others[other.workload.name] = self._advanced(number, until_s, progress)
        return Measurement.on_neighbours(given, others)

    def park(self) -> int:
        """See `Run.park`."""
        return self._resident_bytes

    def close(self) -> None:
        """See `Run.close`."""
        for run in self._runs:
            run.close()

    def _open(self, experiment: Experiment, progress: Progress | None) -> Run:
        """Opens the run on one workload."""
        run = self._engine.open(experiment, *self._opened_with, progress)
        self._runs.append(run)
        return run

    def _advanced(self, number: int, until_s: float, progress: Progress | None) -> Measurement:
        """Advances one of the runs and parks it."""
        measured = self._runs[number].advance(until_s, progress)
        # A run under load would take the device and the processors from the next one.
        if self._engine.can_park:
            self._resident_bytes += self._runs[number].park()
        return measured
