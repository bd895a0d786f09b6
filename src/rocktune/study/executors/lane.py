"""A lane whose engine is in this process."""

import threading

from rocktune.engine.base import Engine, Progress, Run
from rocktune.study.executors.base import Lane
from rocktune.study.executors.runs import Job, RunKeeper, RunKey, Window


class _Abandoned(BaseException):
    """Nobody waits for the measurement any more. Passes through whatever an engine catches."""


class EngineLane(Lane):
    """An engine of this process, used by one thread at a time. See `Lane`."""

    def __init__(self, engine: Engine, machine: str, parked_limit_bytes: int) -> None:
        """Takes an engine for itself.

        Args:
            engine: stays open.
            machine: see `Lane`.
            parked_limit_bytes: memory that its parked runs may hold together.
        """
        self.machine = machine
        self._engine = engine
        self._keeper = RunKeeper(self._open, parked_limit_bytes if engine.can_park else 0)
        self._abandoned = threading.Event()

    def measure(self, job: Job, progress: Progress) -> Window:
        """See `Lane.measure`. What an exception of the caller's interrupts is closed."""

        def told(phase: str, done: float, total: float) -> None:
            if self._abandoned.is_set():
                raise _Abandoned
            progress(phase, done, total)

        return self._keeper.advance(job, told)

    def release(self, key: RunKey) -> None:
        """See `Lane.release`."""
        self._keeper.release(key)

    def release_all(self) -> None:
        """See `Lane.release_all`."""
        self._keeper.close()

    def abandon(self) -> None:
        """See `Lane.abandon`: at the next progress that the engine reports."""
        self._abandoned.set()

    def _open(self, job: Job, progress: Progress) -> Run:
        return self._engine.open(job.experiment, job.configuration, job.seed, progress)
