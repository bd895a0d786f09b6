"""The lane of an engine in this process."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass

from rocktune.engine.base import Conditions, Engine, PreparingEngine, Progress, Run
from rocktune.engine.neighbours import conditions_of, open_run
from rocktune.study.executors.base import Lane
from rocktune.study.executors.runs import Job, Window
from rocktune.trial import RunKey


class _Abandoned(BaseException):
    """Ends a measurement that nobody waits for. It is no `Exception`, so that engines do not catch it."""


@dataclass
class _Parked:
    """A paused run with its age, its memory and its score."""

    run: Run
    age_s: float
    resident_bytes: int
    score: float


class EngineLane(Lane):
    """A lane with an engine in this process; see `Lane`.

    Runs stay parked between the trials that continue them, within a memory limit. Above the limit, the runs
    with the lowest scores are discarded. A discarded run that is continued later begins again from age 0.
    """

    def __init__(self, engine: Engine, machine: str, parked_limit_bytes: int) -> None:
        """Creates a lane.

        Args:
            engine: the engine, for this lane alone; it stays open.
            machine: see `Lane`.
            parked_limit_bytes: maximum resident bytes of all parked runs of the lane.
        """
        self.machine = machine
        self._engine = engine
        self._limit_bytes = parked_limit_bytes
        self._parked: dict[RunKey, _Parked] = {}
        self._abandoned = threading.Event()

    def prepare(self, conditions: Sequence[Conditions], progress: Progress) -> None:
        """See `Lane.prepare`."""
        if isinstance(self._engine, PreparingEngine):
            self._engine.prepare([each for some in conditions for each in conditions_of(some)], progress)

    def measure(self, job: Job, progress: Progress) -> Window:
        """See `Lane.measure`. The run is closed if any exception is raised."""

        def checked_progress(phase: str, done: float, total: float) -> None:
            """Passes progress on, and ends the measurement if the lane was abandoned."""
            if self._abandoned.is_set():
                raise _Abandoned
            progress(phase, done, total)

        # Popped, not read: a run that is measured or fails must not be found parked.
        parked = self._parked.pop(job.key, None)
        age_s = parked.age_s if parked else 0.0
        run = parked.run if parked else self._opened(job, checked_progress)
        try:
            # The parked run was discarded or lost: its recorded seconds are repeated, not recorded again.
            if job.from_s > age_s:
                run.advance(job.from_s, checked_progress)
            measurement = run.advance(job.until_s, checked_progress)
            if job.keep:
                self._parked[job.key] = _Parked(run, job.until_s, run.park(), job.score(measurement))
        except BaseException:
            run.close()
            self._parked.pop(job.key, None)
            raise
        if job.keep:
            self._keep_within_limit()
        else:
            run.close()
        return Window(measurement, run.options, job.from_s - age_s)

    def release(self, key: RunKey) -> None:
        """See `Lane.release`."""
        parked = self._parked.pop(key, None)
        if parked:
            parked.run.close()

    def release_all(self) -> None:
        """See `Lane.release_all`."""
        for key in list(self._parked):
            self.release(key)

    def abandon(self) -> None:
        """See `Lane.abandon`. The measurement ends when the engine next reports progress."""
        self._abandoned.set()

    def _opened(self, job: Job, progress: Progress) -> Run:
        """Returns a new run for a job."""
        return open_run(self._engine, job.experiment, job.configuration, job.seed, progress)

    def _keep_within_limit(self) -> None:
        """Ends parked runs with the lowest scores until the rest is within the limit."""
        # The run that was just parked takes part: it may be the least promising one.
        by_score = sorted(self._parked, key=lambda key: self._parked[key].score)
        while by_score and sum(each.resident_bytes for each in self._parked.values()) > self._limit_bytes:
            self.release(by_score.pop(0))
