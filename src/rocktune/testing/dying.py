"""Stands for kill -9 in tests that go on afterwards: an observer that ends everything at some trial."""

from rocktune.study import Observer
from rocktune.trial import Result


class Died(BaseException):
    """Nothing may catch it, as nothing can be done about a kill."""


class DiesAfter(Observer):
    """Dies when some number of trials have been recorded."""

    def __init__(self, trials: int) -> None:
        """Says how many."""
        self._left = trials

    def trial_finished(self, result: Result) -> None:  # noqa: ARG002 -- it only counts
        """Counts."""
        self._left -= 1
        if self._left == 0:
            raise Died
