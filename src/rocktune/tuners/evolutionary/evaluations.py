"""What every tuner that breeds a population shares: measuring it within the budget."""

from collections.abc import Generator, Sequence

from rocktune.trial import Batch, Configuration, Result, RunKey, Trial
from rocktune.tuners.base import Problem
from rocktune.tuners.cost import whole_times

MAX_IDLE_GENERATIONS = 100
"""Generations without a new configuration after which a search is over: the population no longer moves."""


class Evaluations:
    """Measures populations to the ordinary trial's age; what was measured before costs nothing.

    Attributes:
        idle_generations: how many generations in a row had nothing new.
    """

    def __init__(self, problem: Problem) -> None:
        """Begins with the whole budget."""
        self._age_s = problem.age_s(problem.trial_age_s)
        self._left = whole_times(problem.budget_s, self._age_s)
        self._known: dict[Configuration, Result] = {}
        self._release: tuple[RunKey, ...] = ()
        self.idle_generations = 0

    def of(
        self, configurations: Sequence[Configuration]
    ) -> Generator[Batch, Sequence[Result], list[Result] | None]:
        """Measures a generation.

        Yields:
            At most one batch, of what is new.

        Returns:
            A result for each configuration; None where the budget did not suffice for all, or nothing
            new has come for too long: the search is over.
        """
        new = [each for each in dict.fromkeys(configurations) if each not in self._known][: self._left]
        if new:
            self._left -= len(new)
            results = yield Batch(tuple(Trial(each, self._age_s) for each in new), self._release)
            self._known |= {result.trial.configuration: result for result in results}
            self._release = tuple((each, 0) for each in new)
        self.idle_generations = 0 if new else self.idle_generations + 1
        complete = all(each in self._known for each in configurations)
        if not complete or self.idle_generations > MAX_IDLE_GENERATIONS:
            return None
        return [self._known[each] for each in configurations]


def min_population_budget_s(problem: Problem, population: int) -> float:
    """Returns the budget of one whole generation."""
    return population * problem.age_s(problem.trial_age_s)
