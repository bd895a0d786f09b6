"""What the runs of this machine's engines share: a directory, and an end that is remembered."""

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from rocktune.engine.base import Progress, RunFailed
from rocktune.trial import Measurement, OptionMaps, Status


class Home(Protocol):
    """Where a run lives: its engine."""

    def forget(self, run: "LocalRun", seconds: float) -> None:
        """Takes a run that has ended off the list, with the seconds that this took; removes its directory."""
        ...

    def settle(self) -> None:
        """Returns once nothing is being removed any more, which takes up space and disturbs measurements."""
        ...


class LocalRun(ABC):
    """A run with a directory of its own. See `rocktune.engine.base.Run`."""

    advances_once = True
    """Whether the run is loaded once, from 0; otherwise it goes on from where it stands."""

    def __init__(self, directory: Path, options: OptionMaps, home: Home) -> None:
        """Takes over a directory.

        Args:
            directory: of the run.
            options: what the store really uses.
            home: takes the directory back.
        """
        self.options = options
        self.directory = directory
        self._home = home
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
        self._home.forget(self, self._tidying_s)

    @abstractmethod
    def _measured(self, until_s: float, progress: Progress | None) -> Measurement:
        """Loads from the run's age until `until_s`, which is later."""

    def _resident_bytes(self) -> int:
        """Returns what the run holds in memory while it waits; what runs once holds nothing."""
        return 0

    def _end(self) -> None:  # noqa: B027 -- most runs leave nothing but their directory
        """Ends what still lives of the run; never raises."""

    @contextmanager
    def _tidying(self) -> Iterator[None]:
        """Counts the time that is spent inside as closing."""
        started = time.monotonic()
        try:
            yield
        finally:
            self._tidying_s += time.monotonic() - started

    @contextmanager
    def _advancing(self) -> Iterator[None]:
        """Lets nothing else disturb what is measured inside, and remembers how it failed."""
        with self._tidying():
            self._home.settle()
        with self._remembered_failure():
            yield

    def _require_alive(self) -> None:
        if self._closed:
            raise ValueError("the run is closed")
        if self._failure is not None:
            raise RunFailed(self._failure.status, self._failure.message, self._failure.output)

    @contextmanager
    def _remembered_failure(self) -> Iterator[None]:
        try:
            yield
        except RunFailed as failure:
            self._failure = failure
            raise
        except BaseException:
            self._failure = RunFailed(Status.CRASHED, "the run was interrupted")
            raise
