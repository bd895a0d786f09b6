"""Suggestions of points to measure: the expected improvement, maximised with BoTorch over the unit cube."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from botorch.acquisition import AcquisitionFunction, GenericMCObjective
from botorch.acquisition.logei import (
    qLogExpectedImprovement,
    qLogNoisyExpectedImprovement,
    qLogProbabilityOfFeasibility,
)
from botorch.exceptions import BotorchError
from botorch.models import ModelListGP
from botorch.optim import optimize_acqf
from botorch.sampling import SobolQMCNormalSampler
from botorch.utils.sampling import draw_sobol_samples
from linear_operator.utils.errors import NanError, NotPSDError
from threadpoolctl import threadpool_limits

from rocktune.tuners.bayesian.models import Fit, Fitted, conditions_on
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
    """Fitted models that suggest points of the unit cube to measure.

    Attributes:
        models: the objective's fitted models, one unless they know nothing of each other's knobs.
    """

    def __init__(self, fit: Fit, observed: Observations, noisy: bool) -> None:
        """Fits the models.

        Args:
            fit: the function that fits the objective's models.
            observed: the observations, with at least one value of the objective.
            noisy: whether to model the best value so far as noisy instead of exact.

        Raises:
            Exception: one of `UNFIT`: a model cannot be fitted.
        """
        self.models = fit(observed)
        # One model of the objective is joined with the conditions' models; several have outputs of their own.
        joint = len(self.models) == 1
        self._condition_models, self._conditions = conditions_on(observed, first=1 if joint else 0)
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

        If several models divide the knobs among themselves, it is the sum of theirs, so that each decides on
        its own knobs, plus the logarithm of the probability that all conditions hold.

        References:
            Ament et al., Unexpected improvements to expected improvement (NeurIPS 2023).
        """
        if len(self.models) == 1:
            conditions = dict[str, Any]()
            if self._conditions:
                # The joint model's first output is the objective; the others are the conditions'.
                conditions["objective"] = GenericMCObjective(_first_output)
                conditions["constraints"] = self._conditions
            return self._improvement(self.models[0], pending, conditions)
        terms = [(self._improvement(each, pending, {}), each.knobs) for each in self.models]
        if self._conditions:
            joint = ModelListGP(*self._condition_models)
            feasible = qLogProbabilityOfFeasibility(joint, self._conditions, sampler=_sampler())
            terms.append((feasible, tuple(range(self._dimensions))))
        return _Sum(terms)

    def _improvement(self, fitted: Fitted, pending: Any, conditions: dict[str, Any]) -> Any:
        """Returns the LogEI of one of the objective's models, over its own knobs."""
        knobs = list(fitted.knobs)
        model = ModelListGP(fitted.model, *self._condition_models) if conditions else fitted.model
        arguments = {
            "sampler": _sampler(),
            "X_pending": None if pending is None else pending[..., knobs],
            **conditions,
        }
        if self._noisy:
            return qLogNoisyExpectedImprovement(model, self._known[:, knobs], **arguments)
        return qLogExpectedImprovement(model, self._best, **arguments)


class _Sum(AcquisitionFunction):
    """A sum of acquisition functions, each of some of the knobs."""

    def __init__(self, terms: Sequence[tuple[Any, tuple[int, ...]]]) -> None:
        """Makes a sum of functions, each with the indices of its knobs."""
        super().__init__(model=terms[0][0].model)
        self._terms = torch.nn.ModuleList(term for term, _ in terms)
        self._knobs = [list(knobs) for _, knobs in terms]

    def forward(self, X: Any) -> Any:  # noqa: N803 -- BoTorch's name
        """Returns the sums at points, shape (b, 1, d), as a vector of shape (b,)."""
        terms = zip(self._terms, self._knobs, strict=True)
        return torch.stack([term(X[..., knobs]) for term, knobs in terms]).sum(dim=0)


def _sampler() -> SobolQMCNormalSampler:
    """Returns a quasi-random sampler with a seed from PyTorch's generator."""
    return SobolQMCNormalSampler(torch.Size([_SAMPLES]), seed=int(torch.randint(1 << 31, ())))


def _first_output(samples: Any, X: Any = None) -> Any:  # noqa: ARG001, N803 -- BoTorch's names
    """Returns the samples of a model's first output."""
    return samples[..., 0]


def _best(observed: Observations) -> float:
    """Returns the best standardised value of a feasible result; the worst of all if none is feasible."""
    # The worst, so that every feasible point counts as an improvement.
    values = standardized(observed.gains[:, 0])
    feasible = values[observed.feasible]
    return float(feasible.max()) if feasible.size else float(np.nanmin(values))
