"""The runs of a search as its results tell them: what is known, what can continue, what is left to spend."""

from collections.abc import Sequence

from rocktune.errors import UserError
from rocktune.trial import Configuration, Result, RunKey, Status, Trial
from rocktune.tuners.base import Problem
from rocktune.tuners.cost import fits

_NO_BUDGET = 1e-9
"""Share of the budget below which it counts as spent."""


class OverBudgetError(UserError):
    """A trial costs more than the budget has."""


class Runs:
    """The runs of a search. A run can continue in the next batch only, so that few of them stay open.

    All follows from the results in their order, and therefore is the same in a replay.

    Attributes:
        left_s: seconds of measuring that the budget still has.
    """

    def __init__(self, problem: Problem) -> None:
        """Makes the runs of a search that has not begun."""
        self._problem = problem
        self._results: dict[Configuration, list[Result]] = {}
        self._open: tuple[RunKey, ...] = ()
        self.left_s = problem.budget_s

    @property
    def any(self) -> bool:
        """Whether there are results."""
        return bool(self._results)

    @property
    def spent(self) -> bool:
        """Whether nothing of the budget is left."""
        return self.left_s <= _NO_BUDGET * self._problem.budget_s

    def take(self, results: Sequence[Result]) -> None:
        """Adds the results of a batch."""
        for result in results:
            self.left_s -= self.cost_s(result.trial)
            self._results.setdefault(result.trial.configuration, []).append(result)
        self._open = tuple(dict.fromkeys(result.trial.run for result in results))

    def released_by(self, trials: Sequence[Trial]) -> tuple[RunKey, ...]:
        """Returns the runs that a batch of these trials does not continue."""
        continued = {trial.run for trial in trials}
        return tuple(run for run in self._open if run not in continued)

    def cost_s(self, trial: Trial) -> float:
        """Returns what a trial costs in seconds of measuring."""
        before = self._results.get(trial.configuration)
        continues = before is not None and self._problem.runs_continue
        return trial.until_s - (before[-1].trial.until_s if before and continues else 0.0)

    def known(self, trial: Trial) -> Result | None:
        """Returns the result of a trial if it is known: it was measured, or its run has failed.

        Raises:
            UserError: the trial is not known and cannot be measured, since its run is older or has ended.
        """
        before = self._results.get(trial.configuration)
        if before is None:
            return None
        last = before[-1]
        if last.status is not Status.OK:
            return last
        for result in before:
            if result.trial == trial:
                return result
        if trial.until_s < last.trial.until_s:
            raise UserError(f"until_s: {trial.until_s:g} is less than {last.trial.until_s:g}, the run's age")
        if trial.run not in self._open:
            raise UserError("until_s: its run has ended; a run can continue in the very next batch only")
        return None

    def check_budget(self, trial: Trial, planned: Sequence[Trial]) -> None:
        """Checks that the budget suffices for a trial beside those of its batch.

        Raises:
            OverBudgetError: it does not.
        """
        left_s = self.left_s - sum(map(self.cost_s, planned))
        if not fits(self.cost_s(trial), left_s):
            raise OverBudgetError(
                f"budget: {max(left_s, 0.0):.6g} s are left, and the trial costs {self.cost_s(trial):.6g} s"
            )
