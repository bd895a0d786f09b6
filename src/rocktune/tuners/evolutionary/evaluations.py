"""The measurement of populations within a budget, which all evolutionary tuners share."""

from collections.abc import Generator, Sequence

from rocktune.trial import Batch, Configuration, Result, RunKey, Trial
from rocktune.tuners.base import Problem
from rocktune.tuners.cost import affordable_trials

MAX_IDLE_GENERATIONS = 100
"""Number of consecutive generations without a new configuration after which a search ends."""


class Evaluations:
    """The evaluations of a search: measures populations to the age of an ordinary trial.

    Each configuration is measured once; its result is reused in later generations at no cost.

    Attributes:
        idle_generations: number of consecutive generations without a new configuration, up to now.
    """

    def __init__(self, problem: Problem) -> None:
        """Begins with the problem's whole budget."""
        self._age_s = problem.age_s(problem.trial_age_s)
        self._left = affordable_trials(problem.budget_s, self._age_s)
        self._known: dict[Configuration, Result] = {}
        self._release: tuple[RunKey, ...] = ()
        self._individuals = 0
        self.idle_generations = 0

    def of(
        self, configurations: Sequence[Configuration]
    ) -> Generator[Batch, Sequence[Result], list[Result] | None]:
        """Measures a generation.

        Yields:
            A batch of the new configurations, unless there are none. Its explanation, `individuals`, has for
            each trial the number of individuals bred until then, repeated ones included.

        Returns:
            A result for each configuration, or None if the search ends: the budget did not suffice for all
            new ones, or there was nothing new for more than `MAX_IDLE_GENERATIONS` generations.
        """
        # The rest of the budget is used even if it does not suffice for the generation: the study's best may
        # be among these trials.
        new = [each for each in dict.fromkeys(configurations) if each not in self._known][: self._left]
        places = {each: place for place, each in reversed(list(enumerate(configurations, 1)))}
        bred = [self._individuals + places[each] for each in new]
        self._individuals += len(configurations)
        if new:
            self._left -= len(new)
            trials = tuple(Trial(each, self._age_s) for each in new)
            results = yield Batch(trials, self._release, {"individuals": bred})
            self._known |= {result.trial.configuration: result for result in results}
            # No later trial continues these runs; the next batch closes them.
            self._release = tuple((each, 0) for each in new)
        self.idle_generations = 0 if new else self.idle_generations + 1
        complete = all(each in self._known for each in configurations)
        if not complete or self.idle_generations > MAX_IDLE_GENERATIONS:
            return None
        return [self._known[each] for each in configurations]


def min_population_budget_s(problem: Problem, population: int) -> float:
    """Returns the cost of one complete generation in seconds of measuring."""
    return population * problem.age_s(problem.trial_age_s)
