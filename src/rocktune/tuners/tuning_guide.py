"""The tuner that only measures the configuration of RocksDB's tuning guide."""

import numpy as np

from rocktune.spec_file import Spec
from rocktune.trial import Batch, Trial
from rocktune.tuners.base import Problem, Search, Tuner


class TuningGuide(Tuner):
    """A tuner that measures the space's default, the tuning guide's configuration in Dremel's space."""

    name = "tuning-guide"
    summary = "the space's default configuration alone, as a reference for the others"
    settings_type = Spec

    def search(self, problem: Problem, rng: np.random.Generator) -> Search:  # noqa: ARG002
        """See `Tuner.search`. The only batch has one trial."""
        yield Batch((Trial(problem.space.default(), problem.age_s(problem.trial_age_s)),))

    def min_budget_s(self, problem: Problem) -> float:
        """Returns the cost of one trial in seconds of measuring."""
        return problem.age_s(problem.trial_age_s)
