"""Handles Ctrl-C: the first one ends the study after the present trials, the second one at once."""

import signal
import threading
from types import FrameType, TracebackType
from typing import Any

from rocktune.ledger import Ledger, default_ledger_url
from rocktune.study.executors import Executor
from rocktune.study.measuring.observer import Observer
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


def continuing_arguments(ledger: Ledger, executor: Executor | None = None) -> str:
    """Returns what a command needs to continue on the same ledger and executor: "" for the default ones.

    Args:
        ledger: the ledger of the study.
        executor: the executor that measured it; None if the command chooses one for each study.
    """
    arguments = "" if ledger.url == default_ledger_url() else f" --ledger {ledger.url}"
    return arguments + (f" {executor.arguments}" if executor is not None and executor.arguments else "")


class Interrupt:
    """A context in which the first SIGINT sets `requested`, and the second raises KeyboardInterrupt.

    It does nothing in other threads than the main one, because only that one can set signal handlers.
    """

    def __init__(self, observer: Observer) -> None:
        """Creates the context; `observer` is told of the first SIGINT, from the signal handler."""
        self.requested = False
        self._observer = observer
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
        self._observer.note(
            "Ending after the trials that are being measured; press Ctrl-C again to end at once."
        )
