"""Where to measure next: expected improvement, maximised with BoTorch over the unit cube."""

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
"""Raised where numbers do not allow a model or its use; the search goes on without."""

_SAMPLES = 128
_RESTARTS = 8
_ANYWHERE, _NEARBY, _NEARBY_STEP = 256, 64, 0.1
_GOOD = 5


@contextmanager
def reproducible(seed: int) -> Iterator[None]:
    """Makes torch repeat itself for a while: its random numbers by a seed, and one thread.

    Sums that several threads share out depend on how many there are. Both are put back. So is the one thread
    for the linear algebra of NumPy and SciPy, whose threads wait for each other in loops: beside another
    process that thinks they take ten times as long.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with (
            threadpool_limits(1),
            torch.random.fork_rng(devices=[]),
            warnings.catch_warnings(),
        ):
            # What BoTorch has to say of restarted fits and jitter, a user can do nothing about.
            warnings.simplefilter("ignore")
            torch.manual_seed(seed)
            yield
    finally:
        torch.set_num_threads(threads)


class Suggestions:
    """Good points of the cube, given what was measured and what is under way."""

    def __init__(self, fit: Fit, observed: Observations, noisy: bool) -> None:
        """Fits the model.

        Args:
            fit: the objective's model.
            observed: with at least one value of the objective.
            noisy: whether the best value so far is one of several noisy ones rather than to be believed.

        Raises:
            Exception: it cannot be fitted (one of `UNFIT`).
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
        """Returns local maxima of the expected improvement, and the logarithm of it anywhere.

        Args:
            pending: m x d, points that are being measured already.

        Returns:
            Points, k x d, and a function from points, k x d, to values, k; larger is better.
        """
        acquisition = self._acquisition(torch.tensor(pending, dtype=torch.float64) if len(pending) else None)
        found, _ = optimize_acqf(
            acquisition,
            self._bounds,
            q=1,
            num_restarts=_RESTARTS,
            batch_initial_conditions=self._starts(acquisition),
            return_best_only=False,
            options={"batch_limit": _RESTARTS, "maxiter": 100},
        )

        def worth(points: Reals) -> Reals:
            with torch.no_grad():
                values = acquisition(torch.tensor(points, dtype=torch.float64).unsqueeze(-2))
            return np.array(values.tolist())

        return found.detach().reshape(-1, self._dimensions).numpy(), worth

    def _starts(self, acquisition: Any) -> Any:
        """Returns where to climb from: the best of points all over the cube and of points near good ones."""
        anywhere = draw_sobol_samples(self._bounds, n=_ANYWHERE, q=1)
        centres = self._good[torch.randint(len(self._good), (_NEARBY,))]
        nearby = (centres + _NEARBY_STEP * torch.randn_like(centres)).clamp(0, 1).unsqueeze(-2)
        points = torch.cat([anywhere, nearby])
        with torch.no_grad():
            return points[acquisition(points).topk(_RESTARTS).indices]

    def _acquisition(self, pending: Any) -> Any:
        """Returns LogEI (Ament et al., NeurIPS 2023), by samples, for one point beside those under way."""
        given: dict[str, Any] = {
            "sampler": SobolQMCNormalSampler(torch.Size([_SAMPLES]), seed=int(torch.randint(1 << 31, ()))),
            "X_pending": pending,
        }
        if self._conditions:
            given["objective"] = GenericMCObjective(_first_output)
            given["constraints"] = self._conditions
        if self._noisy:
            return qLogNoisyExpectedImprovement(self._model, self._known, **given)
        return qLogExpectedImprovement(self._model, self._best, **given)


def _first_output(samples: Any, X: Any = None) -> Any:  # noqa: ARG001, N803 -- BoTorch's names
    return samples[..., 0]


def _best(observed: Observations) -> float:
    """Returns the best value that keeps the constraints, standardised; where there is none, the worst."""
    values = standardized(observed.gains[:, 0])
    feasible = values[observed.feasible]
    return float(feasible.max()) if feasible.size else float(np.nanmin(values))
