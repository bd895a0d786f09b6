"""No search at all: what RocksDB's tuning guide suggests, measured."""

import numpy as np

from rocktune.spec_file import Spec
from rocktune.trial import Batch, Trial
from rocktune.tuners.base import Problem, Search, Tuner


class TuningGuide(Tuner):
    """Measures the space's default, which for Dremel's space is the tuning guide's configuration."""

    name = "tuning-guide"
    summary = "the space's default configuration alone, as a reference for the others"
    settings_type = Spec

    def search(self, problem: Problem, rng: np.random.Generator) -> Search:  # noqa: ARG002
        """See `Tuner.search`."""
        yield Batch((Trial(problem.space.default(), problem.age_s(problem.trial_age_s)),))

    def min_budget_s(self, problem: Problem) -> float:
        """One trial's."""
        return problem.age_s(problem.trial_age_s)
