"""Ages several stores at the same time, so that a proof waits less."""

import os
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from rocktune.engine.base import Progress, RunFailed
from rocktune.engine.embedded.ageing import OnStep

_POLL_S = 0.2
BUSY_SHARE = 1.1
"""Processors that the workers of stores which age together may ask for, as a share of those there are."""

AgeOne = Callable[[OnStep], float]
"""Ages a store, calls its argument after each step, and returns the wall seconds. It may raise RunFailed."""


class _Stopped(BaseException):
    """Ends the ageing of a store. It is no `Exception`, so that nobody takes it for a failed run."""


class _Watch:
    """The progress of the stores that age together. Thread-safe."""

    def __init__(self, stores: int) -> None:
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._ages_s = [0.0] * stores
        self._limits_s = [0.0] * stores
        self._processors: list[float] = []

    def of(self, store: int) -> OnStep:
        """Returns what the ageing of a store calls after each step."""

        def on_step(age_s: float, limit_s: float, processors: float) -> None:
            if self._stopped.is_set():
                raise _Stopped
            with self._lock:
                self._ages_s[store], self._limits_s[store] = age_s, limit_s
                self._processors.append(processors)

        return on_step

    def stop(self) -> None:
        """Makes all stores end with their present step."""
        self._stopped.set()

    def allows(self, running: int) -> bool:
        """Returns whether one store more may age beside a number of others."""
        with self._lock:
            if running == 0:
                return True
            available = len(os.sched_getaffinity(0))
            # Unknown until the first step of the first store ends.
            if not self._processors or running >= available:
                return False
            # The mean, because single steps differ by a factor of three.
            each = sum(self._processors) / len(self._processors)
            return (running + 1) * each <= BUSY_SHARE * available

    def report(self, progress: Progress) -> None:
        """Passes on the sum of the ages, and of the limits as far as they are known."""
        with self._lock:
            done_s, total_s = sum(self._ages_s), max(self._limits_s) * len(self._limits_s)
        if total_s:
            progress("age", done_s, total_s)


def age_together(tasks: Sequence[AgeOne], progress: Progress) -> float:
    """Ages stores, several at a time where the processors carry it.

    Another store begins if the workers then ask for at most `BUSY_SHARE` of the processors, by the steps so
    far. A store on a limited device then ages about as it does alone (docs/design/steady-state.md).

    Args:
        tasks: one for each store, in the order in which they begin. A store that fails is left out; the run
            that needs it meets the failure again.
        progress: is called in this thread, with the phase "age". If it raises, all stores end with their
            present step, and the exception is passed on.

    Returns:
        The wall seconds that it took.
    """
    started, watch = time.monotonic(), _Watch(len(tasks))
    waiting, running = list(enumerate(tasks)), set[Future[float]]()
    with ThreadPoolExecutor(max(1, len(tasks)), "rocktune-ageing") as pool:
        try:
            while waiting or running:
                while waiting and watch.allows(len(running)):
                    number, task = waiting.pop(0)
                    running.add(pool.submit(task, watch.of(number)))
                ended, running = wait(running, _POLL_S, FIRST_COMPLETED)
                for each in ended:
                    if not isinstance(each.exception(), RunFailed):
                        each.result()
                watch.report(progress)
        except BaseException:
            watch.stop()
            raise
    return time.monotonic() - started
