"""Estimates the time left of work that tells how much of it is done."""

import time
from collections.abc import Callable

from rocktune.study import Observer

_FIRST_ESTIMATE_S = 2.0
"""Seconds of a phase before which its speed is not known well enough."""


class TimeLeft:
    """Passes progress on to an observer, and estimates the time left from the speed so far."""

    def __init__(self, observer: Observer, clock: Callable[[], float] = time.monotonic) -> None:
        """Begins with no phase.

        Args:
            observer: the observer.
            clock: returns seconds.
        """
        self._observer = observer
        self._clock = clock
        self._phase = ""
        self._began = 0.0
        self._done = 0.0

    def progress(self, phase: str, done: float, total: float) -> None:
        """Passes progress on; see `rocktune.study.Observer.progress`.

        Amounts done may be of any unit, but must grow evenly with time within a phase.
        """
        now = self._clock()
        if phase != self._phase:
            self._phase, self._began, self._done = phase, now, done
        self._observer.progress(phase, done, total)
        elapsed_s, since = now - self._began, done - self._done
        if elapsed_s >= _FIRST_ESTIMATE_S and since > 0:
            self._observer.estimated(elapsed_s * (total - done) / since)
