"""Random search, the reference that every other tuner should beat."""

import numpy as np

from rocktune.spec_file import Spec
from rocktune.trial import Batch, RunKey, Trial
from rocktune.tuners.base import Problem, Search, Tuner
from rocktune.tuners.cost import affordable_trials

_AT_ONCE = 8
"""Trials in a batch. Their runs stay open until the next batch, so more of them would need more memory."""


class RandomSearch(Tuner):
    """A tuner that draws valid configurations uniformly and measures each to the age of an ordinary trial."""

    name = "random"
    summary = "valid configurations drawn uniformly, each measured to the same age"
    settings_type = Spec

    def search(self, problem: Problem, rng: np.random.Generator) -> Search:
        """See `Tuner.search`. A configuration that is drawn several times is measured once."""
        age_s = problem.age_s(problem.trial_age_s)
        # All at once, so that the draws do not depend on how batches are formed.
        drawn = problem.space.sample(affordable_trials(problem.budget_s, age_s), rng)
        release: tuple[RunKey, ...] = ()
        distinct = list(dict.fromkeys(drawn))
        for start in range(0, len(distinct), _AT_ONCE):
            chosen = distinct[start : start + _AT_ONCE]
            yield Batch(tuple(Trial(configuration, age_s) for configuration in chosen), release)
            release = tuple((configuration, 0) for configuration in chosen)

    def min_budget_s(self, problem: Problem) -> float:
        """Returns the cost of one trial in seconds of measuring."""
        return problem.age_s(problem.trial_age_s)
