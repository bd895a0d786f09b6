"""Base class of the runs of this machine's engines: one directory, and a failure that lasts."""

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from rocktune.engine.base import Progress, RunFailed
from rocktune.trial import Measurement, OptionMaps, Status


class RunOwner(Protocol):
    """The engine of a run, as the run sees it."""

    def forget(self, run: "LocalRun", seconds: float) -> None:
        """Forgets a run that has ended, and begins to remove its directory.

        Args:
            run: the run.
            seconds: wall seconds that closing it took, for `Engine.opening_s`.
        """
        ...

    def wait_for_removals(self) -> None:
        """Waits until all directories of ended runs are removed. Removing disturbs measurements."""
        ...


class LocalRun(ABC):
    """A run with a directory of its own; see `rocktune.engine.base.Run`. Subclasses measure."""

    advances_once = True
    """True if the run can advance only once, from age 0."""

    def __init__(self, directory: Path, options: OptionMaps, owner: RunOwner) -> None:
        """Takes over a directory.

        Args:
            directory: the run's own; the owner removes it after the run.
            options: the options in effect.
            owner: removes the directory when the run has ended.
        """
        self.options = options
        self.directory = directory
        self._owner = owner
        self._tidying_s = 0.0
        self._age_s = 0.0
        self._failure: RunFailed | None = None
        self._closed = False

    def advance(self, until_s: float, progress: Progress | None = None) -> Measurement:
        """See `Run.advance`."""
        self._require_alive()
        if until_s <= self._age_s or (self.advances_once and self._age_s):
            raise ValueError(f"a run of age {self._age_s} s cannot advance to {until_s} s")
        with self._advancing():
            measurement = self._measured(until_s, progress)
        self._age_s = until_s
        return measurement

    def park(self) -> int:
        """See `Run.park`."""
        self._require_alive()
        with self._remembered_failure():
            return self._resident_bytes()

    def close(self) -> None:
        """See `Run.close`."""
        if self._closed:
            return
        self._closed = True
        with self._tidying():
            self._end()
        self._owner.forget(self, self._tidying_s)

    @abstractmethod
    def _measured(self, until_s: float, progress: Progress | None) -> Measurement:
        """Applies the load from the run's age until `until_s`, which is larger, and returns the window."""

    def _resident_bytes(self) -> int:
        """Returns the resident bytes of the paused run; 0 for a run that advances only once."""
        return 0

    def _end(self) -> None:  # noqa: B027 -- most runs leave nothing but their directory
        """Ends the run's processes; never raises."""

    @contextmanager
    def _tidying(self) -> Iterator[None]:
        """Adds the wall time of the context to the time that closing the run takes."""
        started = time.monotonic()
        try:
            yield
        finally:
            self._tidying_s += time.monotonic() - started

    @contextmanager
    def _advancing(self) -> Iterator[None]:
        """Waits for removals before the context, and remembers a failure in it."""
        # Waiting for other runs' removals is not measuring, so it counts as closing.
        with self._tidying():
            self._owner.wait_for_removals()
        with self._remembered_failure():
            yield

    def _require_alive(self) -> None:
        """Raises if the run is closed or has failed; see `Run.advance`."""
        if self._closed:
            raise ValueError("the run is closed")
        if self._failure is not None:
            raise RunFailed(self._failure.status, self._failure.message, self._failure.output)

    @contextmanager
    def _remembered_failure(self) -> Iterator[None]:
        """Keeps a failure in the context, so that later calls raise it again."""
        try:
            yield
        except RunFailed as failure:
            self._failure = failure
            raise
        except BaseException:
            self._failure = RunFailed(Status.CRASHED, "the run was interrupted")
            raise
