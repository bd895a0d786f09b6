"""Ctrl-C: once ends the study after the present trial, twice ends it at once."""

import signal
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any

from rocktune.trial import Configuration


class StudyInterrupted(Exception):  # noqa: N818 -- asked for, not an error
    """The user asked the study to stop; everything measured so far is recorded.

    Attributes:
        study: its name.
        best: the search's best configuration so far, None before the first result.
        ratio: how many times better `best` is than the baseline so far; None when not known.
        resume: the command line that goes on.
        so_far: how far it got, a sentence, where there is no best configuration to name.
    """

    def __init__(
        self,
        study: str,
        best: Configuration | None,
        ratio: float | None,
        resume: str | None = None,
        so_far: str = "",
    ) -> None:
        """Creates it; without `resume` that is `rocktune resume STUDY`."""
        self.study = study
        self.best = best
        self.ratio = ratio
        self.so_far = so_far
        self.resume = resume or f"rocktune resume {study}"
        super().__init__(f"study '{study}' was interrupted; to go on: {self.resume}")


class Interrupt:
    """While entered, turns the first SIGINT into `requested`; the second raises KeyboardInterrupt as ever.

    In a thread other than the main one, where Python delivers no signals, it does nothing.
    """

    def __init__(self, on_request: Callable[[], None]) -> None:
        """Creates it; `on_request` is called from the signal handler at the first SIGINT."""
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
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True
        self._on_request()
