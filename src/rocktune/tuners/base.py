"""What a tuner is: direct-style code that yields batches of trials and is sent their results."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass

import numpy as np

from rocktune.objective import Objective
from rocktune.space import Space
from rocktune.spec_file import Spec
from rocktune.trial import Batch, Configuration, Result

Search = Generator[Batch | Callable[[], Batch], Sequence[Result], None]
"""A search in progress. A batch may be yielded as a function that makes it: a resumed study takes the
recorded batch and does not call the function, so the function must own whatever randomness it uses."""


@dataclass(frozen=True)
class Problem:
    """What a tuner may know.

    Attributes:
        space: the knobs, their rules and the memory budget.
        objective: what to improve.
        scale: S; ages that a paper or a user states at full size are divided by it (`age_s`).
        budget_s: seconds of measuring that the search may spend, above 0. A trial costs the seconds by which
            it takes its run further, and where runs do not continue all seconds from age 0.
        baseline: the configuration to beat.
        expected_entries: distinct keys expected in the store by the end of a full-length run, at full size.
        entry_bytes: key and value, mean.
        trial_age_s: age at which one ordinary trial ends, at full size.
        runs_continue: whether a run can go on from where it stands.
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

    def age_s(self, full_size_s: float) -> float:
        """Returns the age of a run at this scale that models `full_size_s` seconds at full size."""
        return full_size_s / self.scale


class Tuner(ABC):
    """Says what to try next and for how long. No clock, no I/O, no threads.

    Implementations pass `rocktune.testing.tuners` and are registered in `rocktune.tuners`.
    """

    name: str
    summary: str
    settings_type: type[Spec]
    """What `settings` may say; each field has a default."""
    settings: Spec

    def __init__(self, settings: Spec | None = None) -> None:
        """Makes a tuner.

        Args:
            settings: a `settings_type`, None for the defaults.
        """
        self.settings = self.settings_type() if settings is None else settings

    @abstractmethod
    def search(self, problem: Problem, rng: np.random.Generator) -> Search:
        """Searches until the budget does not allow another trial.

        Args:
            problem: what is known.
            rng: the search's only source of randomness.

        Yields:
            Batches; each is sent back the sequence of its results, in order.
        """

    @abstractmethod
    def min_budget_s(self, problem: Problem) -> float:
        """Returns the smallest budget, in seconds of measuring, with which the search makes sense."""
