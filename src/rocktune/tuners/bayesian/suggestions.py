"""Suggestions of points to measure: the expected improvement, maximised with BoTorch over the unit cube."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from botorch.acquisition import GenericMCObjective
from botorch.acquisition.logei import qLogExpectedImprovement, qLogNoisyExpectedImprovement
from botorch.exceptions import BotorchError
from botorch.optim import optimize_acqf
from botorch.sampling import SobolQMCNormalSampler
from botorch.utils.sampling import draw_sobol_samples
from linear_operator.utils.errors import NanError, NotPSDError
from threadpoolctl import threadpool_limits

from rocktune.tuners.bayesian.models import Fit, with_conditions
from rocktune.tuners.bayesian.observations import Observations, Reals, standardized

UNFIT = (BotorchError, NanError, NotPSDError, torch.linalg.LinAlgError)
"""Exceptions that mean that a model cannot be fitted or used with these numbers."""

_SAMPLES = 128
_RESTARTS = 8
# Candidates for starting points: a quasi-random set all over the cube, and normal steps from good points.
_ANYWHERE, _NEARBY, _NEARBY_STEP = 256, 64, 0.1
_GOOD = 5


@contextmanager
def reproducible(seed: int) -> Iterator[None]:
    """Makes PyTorch's results reproducible within the context: seeds its random numbers and uses one thread.

    Sums that several threads compute depend on the number of threads. NumPy's and SciPy's linear algebra gets
    one thread too, because its threads wait in busy loops and take ten times as long if another process uses
    the processors. All of this is restored afterwards.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with (
            threadpool_limits(1),
            torch.random.fork_rng(devices=[]),
            warnings.catch_warnings(),
        ):
            # BoTorch warns of restarted fits and jitter, which no user can change.
            warnings.simplefilter("ignore")
            torch.manual_seed(seed)
            yield
    finally:
        torch.set_num_threads(threads)


class Suggestions:
    """A fitted model that suggests points of the unit cube to measure.

    Attributes:
        objective: the objective's fitted model.
    """

    def __init__(self, fit: Fit, observed: Observations, noisy: bool) -> None:
        """Fits the model.

        Args:
            fit: the function that fits the objective's model.
            observed: the observations, with at least one value of the objective.
            noisy: whether to model the best value so far as noisy instead of exact.

        Raises:
            Exception: one of `UNFIT`: the model cannot be fitted.
        """
        self.objective = fit(observed)
        self._model, self._conditions = with_conditions(self.objective, observed)
        known = ~np.isnan(observed.gains[:, 0])
        self._known = torch.tensor(observed.points[known], dtype=torch.float64)
        self._best = _best(observed)
        self._noisy = noisy
        self._good = self._known[
            torch.tensor(observed.gains[:, 0][known]).topk(min(_GOOD, known.sum())).indices
        ]
        self._dimensions = observed.points.shape[1]
        self._bounds = torch.tensor([[0.0], [1.0]], dtype=torch.float64).expand(2, self._dimensions)

    def near_best(self, pending: Reals) -> tuple[Reals, Callable[[Reals], Reals]]:
        """Returns local maxima of the expected improvement, and the function that gives its logarithm.

        Args:
            pending: points that are being measured, shape (m, d).

        Returns:
            Points, shape (k, d), and a function from points of that shape to values, shape (k,); larger is
            better.
        """
        acquisition = self._acquisition(torch.tensor(pending, dtype=torch.float64) if len(pending) else None)
        found, _ = optimize_acqf(
            acquisition,
            self._bounds,
            q=1,
            num_restarts=_RESTARTS,
            batch_initial_conditions=self._starts(acquisition),
            # All maxima: the best one may round to a configuration that was measured already.
            return_best_only=False,
            options={"batch_limit": _RESTARTS, "maxiter": 100},
        )

        def log_improvement(points: Reals) -> Reals:
            with torch.no_grad():
                values = acquisition(torch.tensor(points, dtype=torch.float64).unsqueeze(-2))
            return np.array(values.tolist())

        return found.detach().reshape(-1, self._dimensions).numpy(), log_improvement

    def _starts(self, acquisition: Any) -> Any:
        """Returns starting points of the maximisation: the best of points anywhere and near good ones."""
        anywhere = draw_sobol_samples(self._bounds, n=_ANYWHERE, q=1)
        centres = self._good[torch.randint(len(self._good), (_NEARBY,))]
        nearby = (centres + _NEARBY_STEP * torch.randn_like(centres)).clamp(0, 1).unsqueeze(-2)
        points = torch.cat([anywhere, nearby])
        with torch.no_grad():
            return points[acquisition(points).topk(_RESTARTS).indices]

    def _acquisition(self, pending: Any) -> Any:
        """Returns the acquisition function: the logarithm of the expected improvement (LogEI), by sampling.

        References:
            Ament et al., Unexpected improvements to expected improvement (NeurIPS 2023).
        """
        arguments: dict[str, Any] = {
            "sampler": SobolQMCNormalSampler(torch.Size([_SAMPLES]), seed=int(torch.randint(1 << 31, ()))),
            "X_pending": pending,
        }
        if self._conditions:
            # The joint model's first output is the objective; the others are the conditions'.
            arguments["objective"] = GenericMCObjective(_first_output)
            arguments["constraints"] = self._conditions
        if self._noisy:
            return qLogNoisyExpectedImprovement(self._model, self._known, **arguments)
        return qLogExpectedImprovement(self._model, self._best, **arguments)


def _first_output(samples: Any, X: Any = None) -> Any:  # noqa: ARG001, N803 -- BoTorch's names
    """Returns the samples of a model's first output."""
    return samples[..., 0]


def _best(observed: Observations) -> float:
    """Returns the best standardised value of a feasible result; the worst of all if none is feasible."""
    # The worst, so that every feasible point counts as an improvement.
    values = standardized(observed.gains[:, 0])
    feasible = values[observed.feasible]
    return float(feasible.max()) if feasible.size else float(np.nanmin(values))
