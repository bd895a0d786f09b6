"""Handles Ctrl-C: the first one ends the study after the present trials, the second one at once."""

import signal
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any

from rocktune.trial import Configuration


class StudyInterrupted(Exception):  # noqa: N818 -- asked for, not an error
    """The user asked the study to stop. All finished trials are recorded.

    Attributes:
        study: name of the study.
        best: the best configuration of the search; None before the first result.
        ratio: how many times better `best` is than the baseline; None if unknown.
        resume: the command line that continues the study.
        so_far: a sentence about the progress, for sweeps and comparisons; "" for studies.
    """

    def __init__(
        self,
        study: str,
        best: Configuration | None,
        ratio: float | None,
        resume: str | None = None,
        so_far: str = "",
    ) -> None:
        """Creates the exception; `resume` is `rocktune resume STUDY` by default."""
        self.study = study
        self.best = best
        self.ratio = ratio
        self.so_far = so_far
        self.resume = resume or f"rocktune resume {study}"
        super().__init__(f"study '{study}' was interrupted; to go on: {self.resume}")


class Interrupt:
    """A context in which the first SIGINT sets `requested`, and the second raises KeyboardInterrupt.

    It does nothing in other threads than the main one, because only that one can set signal handlers.
    """

    def __init__(self, on_request: Callable[[], None]) -> None:
        """Creates the context; `on_request` is called from the signal handler at the first SIGINT."""
        self.requested = False
        self._on_request = on_request
        self._previous: Any = None

    def __enter__(self) -> "Interrupt":
        if threading.current_thread() is threading.main_thread():
            self._previous = signal.signal(signal.SIGINT, self._handle)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)

    def _handle(self, _number: int, _frame: FrameType | None) -> None:
        """Handles SIGINT."""
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True
        self._on_request()
