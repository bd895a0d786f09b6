"""The tuner `multitask-bo` with BoTorch's own kernel between tasks, which allows no correlation below 0.

Used as `--tuner benchmarks/alabed/positive_icm.py`, to compare with the kernel of either sign.
"""

from functools import partial
from typing import TYPE_CHECKING

from rocktune.tuners import Problem
from rocktune.tuners.bayesian.variants import MultiTask

if TYPE_CHECKING:
    from rocktune.tuners.bayesian.models import Fit


class PositiveMultiTask(MultiTask):
    """The multi-task tuner whose tasks correlate positively or not at all."""

    name = "positive-multitask-bo"
    summary = "multitask-bo with BoTorch's positive kernel between tasks"

    def fit(self, problem: Problem) -> "Fit":  # noqa: ARG002 -- not needed
        """Returns the function that fits this tuner's model of the objective to observations."""
        from rocktune.tuners.bayesian.models import multi_task

        return partial(multi_task, warped=not self.settings.plain, signed=False)
