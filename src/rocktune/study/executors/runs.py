"""Open runs, kept parked between the trials that continue them."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass

from rocktune.engine.base import Progress, Run
from rocktune.trial import Configuration, Experiment, Measurement, OptionMaps

RunKey = tuple[Configuration, int]
"""What a run is known by: its configuration and replicate."""


def store_digest(options: OptionMaps, experiment: Experiment, seed: int) -> str:
    """Returns what two runs of a study share if they do the same to the same store.

    Args:
        options: what the store really uses, read back.
        experiment: of which the workload may belong to the configuration.
        seed: the run's.
    """
    told = json.dumps([options, experiment.workload.model_dump(mode="json"), seed], sort_keys=True)
    return hashlib.sha256(told.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Job:
    """A stretch of a run that is to be measured, with all that it takes to open the run if it is not there.

    Attributes:
        key: which run.
        experiment: what it is opened with.
        configuration: likewise, which need not be the key's.
        seed: likewise.
        from_s: the age up to which the run has been measured before; the window begins there.
        until_s: above `from_s`.
        keep: park the run afterwards, rather than end it.
        score: how promising a run is by its latest window; larger is better. Goes to other machines with
            the job, so it holds nothing that cannot.
        measured: stores that need not be measured over this stretch again, by `store_digest`.
    """

    key: RunKey
    experiment: Experiment
    configuration: Configuration
    seed: int
    from_s: float
    until_s: float
    keep: bool
    score: Callable[[Measurement], float]
    measured: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Window:
    """A new stretch of a run.

    Attributes:
        measurement: of the window alone; None if the job's `measured` has the store, and nothing was done.
        options: what the store really uses.
        repeated_s: seconds of load that were run again to get to the window's start, because the run that
            had been there was discarded or lost.
    """

    measurement: Measurement | None
    options: OptionMaps
    repeated_s: float


@dataclass
class _Parked:
    run: Run
    age_s: float
    resident_bytes: int
    score: float


class RunKeeper:
    """Opens runs, and keeps them parked within a memory limit. Not thread-safe."""

    def __init__(self, open_run: Callable[[Job, Progress], Run], limit_bytes: int) -> None:
        """Creates a keeper without runs.

        Args:
            open_run: opens a job's run afresh; raises RunFailed.
            limit_bytes: what parked runs may hold in memory together. Beyond it the least promising ones are
                discarded, and begin again from age 0 if they are asked for after all.
        """
        self._open_run = open_run
        self._limit_bytes = limit_bytes
        self._parked: dict[RunKey, _Parked] = {}

    def advance(self, job: Job, progress: Progress) -> Window:
        """Runs a configuration until an age, whether or not its run is still here.

        Args:
            job: which run, and how far.
            progress: is told how opening and running get on.

        Raises:
            RunFailed: the run cannot be opened or fails; it has been closed.
        """
        parked = self._parked.pop(job.key, None)
        run = parked.run if parked else self._open_run(job, progress)
        try:
            if parked is None and _is_measured(run, job):
                run.close()
                return Window(None, run.options, 0.0)
            repeated_s = job.from_s - (parked.age_s if parked else 0.0)
            if repeated_s > 0:
                run.advance(job.from_s, progress)
            measurement = run.advance(job.until_s, progress)
            if job.keep:
                score = job.score(measurement)
                self._parked[job.key] = _Parked(run, job.until_s, run.park(), score)
        except BaseException:
            run.close()
            self._parked.pop(job.key, None)
            raise
        if job.keep:
            self._keep_within_limit()
        else:
            run.close()
        return Window(measurement, run.options, repeated_s)

    def release(self, key: RunKey) -> None:
        """Ends a run that is no longer needed, if it is here."""
        parked = self._parked.pop(key, None)
        if parked:
            parked.run.close()

    def close(self) -> None:
        """Ends all runs."""
        for key in list(self._parked):
            self.release(key)

    def _keep_within_limit(self) -> None:
        by_promise = sorted(self._parked, key=lambda key: self._parked[key].score)
        while (
            by_promise and sum(parked.resident_bytes for parked in self._parked.values()) > self._limit_bytes
        ):
            self.release(by_promise.pop(0))


def _is_measured(run: Run, job: Job) -> bool:
    if not (job.measured and run.options_read_back):
        return False
    return store_digest(run.options, job.experiment, job.seed) in job.measured
