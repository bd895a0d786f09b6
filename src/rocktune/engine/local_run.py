"""What the runs of this machine's engines share: a directory, and an end that is remembered."""

import shutil
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rocktune.engine.base import Progress, RunFailed
from rocktune.trial import Measurement, OptionMaps, Status


class LocalRun(ABC):
    """A run with a directory of its own. See `rocktune.engine.base.Run`."""

    advances_once = True
    """Whether the run is loaded once, from 0; otherwise it goes on from where it stands."""

    def __init__(
        self, directory: Path, options: OptionMaps, on_close: Callable[["LocalRun", float], None]
    ) -> None:
        """Takes over a directory.

        Args:
            directory: of the run; removed when it closes.
            options: what the store really uses.
            on_close: gets the seconds that closing and tidying up took.
        """
        self.options = options
        self._directory = directory
        self._on_close = on_close
        self._tidying_s = 0.0
        self._age_s = 0.0
        self._failure: RunFailed | None = None
        self._closed = False

    def advance(self, until_s: float, progress: Progress | None = None) -> Measurement:
        """See `Run.advance`."""
        self._require_alive()
        if until_s <= self._age_s or (self.advances_once and self._age_s):
            raise ValueError(f"a run of age {self._age_s} s cannot advance to {until_s} s")
        with self._remembered_failure():
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
            shutil.rmtree(self._directory, ignore_errors=True)
        self._on_close(self, self._tidying_s)

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
