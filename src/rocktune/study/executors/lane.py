"""A lane whose engine is in this process."""

import threading
from dataclasses import dataclass

from rocktune.engine.base import Engine, Progress, Run
from rocktune.study.executors.base import Lane
from rocktune.study.executors.runs import Job, Window
from rocktune.trial import RunKey


class _Abandoned(BaseException):
    """Nobody waits for the measurement any more. Passes through whatever an engine catches."""


@dataclass
class _Parked:
    run: Run
    age_s: float
    resident_bytes: int
    score: float


class EngineLane(Lane):
    """An engine of this process, used by one thread at a time. See `Lane`.

    Runs stay parked between the trials that continue them, within a memory limit. Beyond it the runs with
    the lowest scores are discarded; one that is asked for after all begins again from age 0.
    """

    def __init__(self, engine: Engine, machine: str, parked_limit_bytes: int) -> None:
        """Takes an engine for itself.

        Args:
            engine: stays open.
            machine: see `Lane`.
            parked_limit_bytes: memory that its parked runs may hold together.
        """
        self.machine = machine
        self._engine = engine
        self._limit_bytes = parked_limit_bytes
        self._parked: dict[RunKey, _Parked] = {}
        self._abandoned = threading.Event()

    def measure(self, job: Job, progress: Progress) -> Window:
        """See `Lane.measure`. What an exception of the caller's interrupts is closed."""

        def told(phase: str, done: float, total: float) -> None:
            if self._abandoned.is_set():
                raise _Abandoned
            progress(phase, done, total)

        parked = self._parked.pop(job.key, None)
        age_s = parked.age_s if parked else 0.0
        run = parked.run if parked else self._opened(job, told)
        try:
            if job.from_s > age_s:
                run.advance(job.from_s, told)
            measurement = run.advance(job.until_s, told)
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
        """See `Lane.abandon`: at the next progress that the engine reports."""
        self._abandoned.set()

    def _opened(self, job: Job, progress: Progress) -> Run:
        return self._engine.open(job.experiment, job.configuration, job.seed, progress)

    def _keep_within_limit(self) -> None:
        by_score = sorted(self._parked, key=lambda key: self._parked[key].score)
        while by_score and sum(each.resident_bytes for each in self._parked.values()) > self._limit_bytes:
            self.release(by_score.pop(0))
