"""Simulates kill -9 in a test process: an observer that raises at a given trial."""

from rocktune.study import Observer
from rocktune.trial import Result


class Died(BaseException):
    """Stands for a kill. It is no `Exception`, so that no code under test catches it."""


class DiesAfter(Observer):
    """Raises Died when a number of trials have been recorded."""

    def __init__(self, trials: int) -> None:
        """Creates the observer; `trials` is the number of trials, at least 1."""
        self._left = trials

    def trial_finished(self, result: Result) -> None:  # noqa: ARG002 -- only counts
        """Counts the trial, and raises Died at the last one."""
        self._left -= 1
        if self._left == 0:
            raise Died
