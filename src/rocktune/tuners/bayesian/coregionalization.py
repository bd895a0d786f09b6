"""The covariance between tasks of the intrinsic coregionalization model (ICM), of either sign.

References:
    Bonilla, Chai and Williams, Multi-task Gaussian process prediction (NeurIPS 2007).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from gpytorch.kernels import IndexKernel
from gpytorch.priors import NormalPrior

from rocktune.tuners.bayesian.observations import Reals, standardized

_PRIOR_DEVIATION = 0.75
"""Prior standard deviation of each correlation around 0; no sign is preferred."""
_PRIOR_TRIALS = 4
"""Number of trials that the starting correlations are shrunk by, as if these had shown no correlation."""
_OWN_VARIANCE = 0.1
"""Starting variance that a task shares with no other one."""
_MIN_EIGENVALUE = 1e-4


class TaskCovariance(IndexKernel):
    """A kernel for the covariance between tasks: k_T = (B B' + diag(v)) / (B B' + diag(v))_00.

    B and v are learned. Task 0, the objective, has variance 1. BoTorch's own kernel, `PositiveIndexKernel`,
    allows no correlation below 0, so a task that contradicts the objective teaches it nothing.
    """

    def __init__(self, correlations: Reals, column: int, own: Sequence[int] | None = None) -> None:
        """Makes a kernel that starts from correlations.

        Args:
            correlations: correlation matrix of the tasks, shape (t, t), see `measured_correlations`.
            column: index of the input column that holds the task.
            own: indices of the tasks whose covariance is learned, task 0 among them. It is 0 for all others.
                By default all tasks.
        """
        count = len(correlations)
        super().__init__(count, rank=count, active_dims=[column])
        self._own = list(range(count) if own is None else own)
        mask = torch.zeros(count, count, dtype=torch.float64)
        mask[np.ix_(self._own, self._own)] = 1.0
        # A buffer, so that the mask follows the model's conversion to double precision.
        self.register_buffer("_mask", mask)
        self._row, self._column = torch.tril_indices(len(self._own), len(self._own), offset=-1)
        self._start_from(torch.tensor(correlations, dtype=torch.float64))
        if len(self._own) > 1:
            self.register_prior(
                "correlations_prior",
                NormalPrior(0.0, _PRIOR_DEVIATION),
                lambda kernel: kernel.own_correlations,
                lambda kernel, values: kernel.set_own_correlations(values),
            )

    @property
    def covar_matrix(self) -> Any:
        """The covariance matrix of all tasks, shape (t, t)."""
        return self._eval_covar_matrix()

    @property
    def own_correlations(self) -> Any:
        """The correlations between the kernel's own tasks below the diagonal, row by row, as a vector."""
        covariance = self._eval_covar_matrix()[np.ix_(self._own, self._own)]
        deviations = covariance.diagonal().sqrt()
        return (covariance / torch.outer(deviations, deviations))[self._row, self._column]

    def set_own_correlations(self, values: Any) -> None:
        """Sets the correlations to the nearest possible ones; a fit that starts again draws them at random.

        Args:
            values: as in `own_correlations`; numbers outside -1 to 1 are clamped.
        """
        own = torch.eye(len(self._own), dtype=torch.float64)
        own[self._row, self._column] = own[self._column, self._row] = values.to(own).clamp(-1, 1)
        matrix = torch.eye(len(self._mask), dtype=torch.float64)
        matrix[np.ix_(self._own, self._own)] = own
        self._start_from(matrix)

    def _start_from(self, correlations: Any) -> None:
        """Sets B and v so that the tasks have nearly these correlations, and each task variance 1."""
        values, vectors = torch.linalg.eigh(correlations)
        root = vectors @ torch.diag(values.clamp(min=_MIN_EIGENVALUE).sqrt())
        factor = root / root.norm(dim=1, keepdim=True) * (1 - _OWN_VARIANCE) ** 0.5
        self.initialize(covar_factor=factor.to(self.covar_factor))
        self.var = torch.full_like(self.raw_var, _OWN_VARIANCE)

    def _eval_covar_matrix(self) -> Any:
        """Returns the covariance of the tasks; overrides the method that all uses of the kernel call."""
        covariance = super()._eval_covar_matrix()
        return covariance / covariance[0, 0] * self._mask


def measured_correlations(gains: Reals) -> Reals:
    """Returns the correlations between tasks in the trials, shrunk towards 0 for few trials.

    They are where the fit starts. Without them it could start at the wrong sign and stay there.

    Args:
        gains: values of the tasks, shape (n, t); NaN if not measured.

    Returns:
        A symmetric matrix with a diagonal of 1, shape (t, t). n trials with a correlation r give
        r n / (n + 4); two tasks with fewer than three common trials give 0.
    """
    count = gains.shape[1]
    found = np.eye(count)
    for first in range(count):
        for second in range(first):
            both = ~np.isnan(gains[:, [first, second]]).any(axis=1)
            trials = int(both.sum())
            if trials > 2:
                pair = [standardized(gains[both, task]) for task in (first, second)]
                r = float(pair[0] @ pair[1]) / (trials - 1)
                found[first, second] = found[second, first] = r * trials / (trials + _PRIOR_TRIALS)
    return found
