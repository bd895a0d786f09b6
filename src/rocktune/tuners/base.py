"""The base class of tuners, and the problem that a tuner solves."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass

import numpy as np

from rocktune.objective import Objective
from rocktune.space import Space
from rocktune.spec_file import Spec
from rocktune.trial import Batch, Configuration, Result

Search = Generator[Batch | Callable[[], Batch], Sequence[Result], None]
"""A search in progress: a generator that yields batches and receives the results of each.

It may yield a function that returns the batch. A resumed study uses the recorded batch and does not call the
function, so the function must have a random generator of its own.
"""


@dataclass(frozen=True)
class Problem:
    """The problem that a tuner solves, and all that a tuner knows.

    Attributes:
        space: the knobs, their rules and the memory budget.
        objective: the figures to improve and the constraints to keep.
        scale: S; ages at full size are divided by it (`age_s`).
        budget_s: seconds of measuring that the search may spend, above 0. A trial costs the seconds that it
            adds to its run's age, or its full age if runs cannot continue.
        baseline: the configuration to beat.
        expected_entries: distinct keys in the store by the end of a full-length run, at full size.
        entry_bytes: mean size of key and value together.
        trial_age_s: age at which an ordinary trial ends, in seconds at full size.
        runs_continue: whether a run can continue to a larger age instead of starting over.
        tried: configurations of the user's, which are measured before the tuner begins (`tried_first`).
        known: results of these, from which a tuner may learn; empty until they are measured.
    """

    space: Space
    objective: Objective
    scale: float
    budget_s: float
    baseline: Configuration
    expected_entries: float
    entry_bytes: float
    trial_age_s: float = 120.0
    runs_continue: bool = True
    tried: tuple[Configuration, ...] = ()
    known: tuple[Result, ...] = ()

    def age_s(self, full_size_s: float) -> float:
        """Returns the age in seconds at this scale that corresponds to an age at full size."""
        return full_size_s / self.scale


class Tuner(ABC):
    """The base class of tuners, which decide what to measure next and for how long.

    Tuners use no clock, no I/O and no threads, so that a resumed study can replay a search. Those in a
    process of their own are the exception (docs/design/process-tuners.md). Implementations pass
    `rocktune.testing.tuners` and are registered in `rocktune.tuners`.
    """

    name: str
    """Name of the tuner for users."""
    summary: str
    """A description in one line."""
    settings_type: type[Spec]
    """Class of `settings`; each of its fields has a default."""
    settings: Spec
    """The settings of this search."""

    def __init__(self, settings: Spec | None = None) -> None:
        """Makes a tuner.

        Args:
            settings: an instance of `settings_type`; None means the defaults.
        """
        self.settings = self.settings_type() if settings is None else settings

    @abstractmethod
    def search(self, problem: Problem, rng: np.random.Generator) -> Search:
        """Searches until the budget does not suffice for another trial.

        Args:
            problem: the problem to solve.
            rng: the search's only source of random numbers.

        Yields:
            Batches of trials. The results of a batch are sent back in the order of its trials.
        """

    @abstractmethod
    def min_budget_s(self, problem: Problem) -> float:
        """Returns the smallest useful budget in seconds of measuring, at the problem's scale.

        Raises:
            UserError: the tuner cannot solve this problem, or a library that it needs is missing.
        """
