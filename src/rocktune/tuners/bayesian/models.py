"""Gaussian processes (GPs), fitted with BoTorch: of one task, of several (ICM), and sums over clusters.

References:
    Balandat et al., BoTorch (NeurIPS 2020); Hvarfner et al., Vanilla Bayesian optimization performs great in
    high dimensions (ICML 2024), whose prior of the length scales BoTorch takes; Snoek, Swersky, Zemel and
    Adams, Input warping for Bayesian optimization of non-stationary functions (ICML 2014); Bonilla, Chai and
    Williams, Multi-task Gaussian process prediction (NeurIPS 2007); Lu, Boukouvalas and Hensman, Additive
    Gaussian processes revisited (ICML 2022).
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from botorch.fit import fit_gpytorch_mll
from botorch.models import ModelListGP, MultiTaskGP, SingleTaskGP
from botorch.models.additive_gp import OrthogonalAdditiveGP
from botorch.models.kernels.positive_index import PositiveIndexKernel
from botorch.models.transforms.input import Warp
from botorch.models.utils.gpytorch_modules import get_covar_module_with_dim_scaled_prior
from gpytorch.kernels import AdditiveKernel, MaternKernel, RBFKernel, ScaleKernel
from gpytorch.mlls import ExactMarginalLogLikelihood
from gpytorch.priors import GammaPrior, LogNormalPrior

from rocktune.tuners.bayesian.clusters import Part
from rocktune.tuners.bayesian.observations import Observations, Reals, standardized

Fit = Callable[[Observations], Any]
"""A function from observations to a fitted BoTorch model, whose output is the standardised objective."""

_MAX_STEPS = 60
"""Maximum number of fitting steps. Further ones change hardly anything, and each takes 10 ms."""

_WARP_DEVIATION = 0.75**0.5
"""Prior standard deviation of the logarithms of a warp's two parameters (from BoTorch's tutorial)."""


def single_task(observed: Observations) -> Any:
    """Returns a GP of the objective with warped inputs and otherwise BoTorch's defaults."""
    points, values = _objective_data(observed)
    return _fitted(SingleTaskGP(points, values, outcome_transform=None, input_transform=_warp(points)))


def additive(observed: Observations) -> Any:
    """Returns a GP of the objective whose kernel is a sum over all knobs and pairs of knobs."""
    points, values = _objective_data(observed)
    pairs = points.shape[1] > 1
    return _fitted(
        OrthogonalAdditiveGP(
            points, values, second_order=pairs, outcome_transform=None, input_transform=_warp(points)
        )
    )


def _warp(inputs: Any, others: int = 0) -> Warp:
    """Returns an input warp for the knobs, whose two parameters for each knob are fitted with the model.

    A coordinate x becomes 1 - (1 - x^a)^b, the cumulative distribution function of Kumaraswamy. The prior
    keeps a and b near 1. A store's behaviour may change within a hundredth of a knob's range; a GP of equal
    smoothness everywhere would take such a change for noise.

    Args:
        inputs: the model's inputs, shape (..., columns).
        others: number of last columns that are not knobs, which are not warped.
    """
    columns = inputs.shape[-1]
    return Warp(
        columns,
        list(range(columns - others)),
        concentration1_prior=LogNormalPrior(0.0, _WARP_DEVIATION),
        concentration0_prior=LogNormalPrior(0.0, _WARP_DEVIATION),
    )


def _objective_data(observed: Observations) -> tuple[Any, Any]:
    """Returns the points at which the objective is known, and its standardised values."""
    known = ~np.isnan(observed.gains[:, 0])
    return _tensor(observed.points[known]), _column(standardized(observed.gains[:, 0])[known])


def multi_task(observed: Observations) -> Any:
    """Returns a GP of all tasks whose output is the objective.

    Its kernel is that of the intrinsic coregionalization model (equation 1 of Alabed and Yoneki):

        k((x, m), (x', m')) = k_x(x, x') * k_T(m, m')

    with x a point of the unit cube, m a task, k_x the kernel over knobs and k_T the covariance between tasks.
    Each task is standardised separately (Algorithm 2). A trial need not have values of all tasks. Tasks with
    equal values in all trials are left out.
    """
    return _fitted(_unfitted_multi_task(observed)) if len(_tasks(observed)) > 1 else single_task(observed)


def clustered(parts: Sequence[Part], observed: Observations) -> Any:
    """Returns a GP of all tasks that is the sum of independent GPs, one for each cluster of knobs.

    The objective is a sum of contributions of the system's components (section 3.4 of Alabed and Yoneki).
    Each is a function of few knobs and correlates with the cluster's tasks:

        k((x, m), (x', m')) = sum over clusters c of s_c * k_c(x_c, x'_c) * k_Tc(m, m')

    with x_c the knobs of cluster c, s_c its share of the variance, and k_Tc the covariance between its tasks,
    which is 0 for other tasks.

    Args:
        parts: the clusters.
        observed: observations of all knobs and tasks.
    """
    model = _unfitted_multi_task(observed)
    dimensions, tasks = observed.points.shape[1], _tasks(observed)
    kernels = []
    for part in parts:
        own = [tasks.index(task) for task in part.tasks if task in tasks]
        knobs = get_covar_module_with_dim_scaled_prior(len(part.knobs), active_dims=part.knobs)
        # The prior's mean, 1 / len(parts), divides the variance of a standardised task evenly.
        scaled = ScaleKernel(knobs, outputscale_prior=GammaPrior(2.0, 2.0 * len(parts)))
        scaled.outputscale = 1 / len(parts)
        kernels.append(scaled * _OwnTasks(own, len(tasks), dimensions))
    model.covar_module = AdditiveKernel(*kernels).to(model.train_targets)
    return _fitted(model)


class _OwnTasks(PositiveIndexKernel):
    """A kernel for the covariance between a cluster's tasks, which is 0 for all other tasks."""

    def __init__(self, own: Sequence[int], count: int, column: int) -> None:
        """Makes a kernel.

        Args:
            own: indices of the cluster's tasks, the objective among them.
            count: number of all tasks.
            column: index of the input column that holds the task.
        """
        super().__init__(count, rank=len(own), active_dims=[column])
        mask = torch.zeros(count, count)
        mask[np.ix_(own, own)] = 1.0
        # A buffer, so that the mask follows the model's conversion to double precision.
        self.register_buffer("_mask", mask)

    def _eval_covar_matrix(self) -> Any:
        """Returns the covariance of the tasks; overrides the method that all uses of the kernel call."""
        return super()._eval_covar_matrix() * self._mask


def _tasks(observed: Observations) -> list[int]:
    """Returns the indices of the tasks to model: the objective, and tasks whose known values differ."""
    columns = [standardized(column) for column in observed.gains.T]
    return [task for task, column in enumerate(columns) if task == 0 or np.nan_to_num(column).any()]


def _unfitted_multi_task(observed: Observations) -> Any:
    """Returns BoTorch's multi-task GP of `_tasks` before fitting; tasks are numbered consecutively from 0."""
    # A row for each known value: the point, and the number of its task in the last column.
    rows, values = [], []
    for number, task in enumerate(_tasks(observed)):
        column = standardized(observed.gains[:, task])
        known = ~np.isnan(column)
        rows.append(np.column_stack([observed.points[known], np.full(known.sum(), number)]))
        values.append(column[known])
    inputs = _tensor(np.concatenate(rows))
    return MultiTaskGP(
        inputs,
        _column(np.concatenate(values)),
        task_feature=-1,
        output_tasks=[0],
        outcome_transform=None,
        input_transform=_warp(inputs, others=1),
    )


def with_conditions(objective: Any, observed: Observations) -> tuple[Any, list[Callable[[Any], Any]]]:
    """Returns the objective's model joined with models of the conditions on a result.

    There is a condition for each constraint, whose model predicts the excess (`Observations.excesses`). If
    trials failed, another condition is that the trial succeeds. Its GP predicts failure (1 or 0), because the
    objective's model gets no failed trials and so cannot avoid them.

    Args:
        objective: the objective's model, which has one output.
        observed: the observations.

    Returns:
        The joint model, and a function for each condition. It takes samples of the model, shape (...,
        outputs), and returns values that are at most 0 if the condition holds.
    """
    models, conditions = [objective], []
    for column in observed.excesses.T:
        known = np.isfinite(column)
        if known.any():
            models.append(_figure_model(observed.points[known], column[known]))
            conditions.append(_at_most(0.0, len(models) - 1))
    if not observed.succeeded.all():
        models.append(_figure_model(observed.points, (~observed.succeeded).astype(np.float64)))
        conditions.append(_at_most(0.5, len(models) - 1))
    return (ModelListGP(*models) if conditions else objective), conditions


def explained(model: Any, observed: Observations, knobs: Sequence[str], tasks: Sequence[str]) -> list[Any]:
    """Returns the learned parameters of a fitted model, a JSON object for each cluster.

    Args:
        model: a model of `single_task`, `additive`, `multi_task` or `clustered`.
        observed: the observations that it was fitted to.
        knobs: names of all knobs.
        tasks: names of all tasks, the objective first.

    Returns:
        Objects with these members. `length_scales`: length scale of each knob, as a multiple of its warped
        range; shorter means more important. `tasks`: names of the cluster's tasks. `correlations`: their
        correlation matrix, absent if the model has a single task.
    """
    known = [tasks[task] for task in _tasks(observed)]
    found = []
    for part in model.covar_module.kernels if isinstance(model.covar_module, AdditiveKernel) else [None]:
        kernels = list((part or model.covar_module).modules())
        over_knobs = next(each for each in kernels if isinstance(each, RBFKernel | MaternKernel))
        over_tasks = next((each for each in kernels if isinstance(each, PositiveIndexKernel)), None)
        active = range(len(knobs)) if over_knobs.active_dims is None else over_knobs.active_dims.tolist()
        scales = over_knobs.lengthscale.detach().reshape(-1).tolist()
        names = [knobs[column] for column in active]
        learned: dict[str, Any] = {"length_scales": dict(zip(names, scales, strict=True)), "tasks": known[:1]}
        if over_tasks is not None:
            covariance = over_tasks.covar_matrix.detach().numpy()
            own = np.flatnonzero(np.diag(covariance) > 0)
            deviations = np.sqrt(np.diag(covariance)[own])
            learned["tasks"] = [known[task] for task in own]
            learned["correlations"] = (
                covariance[np.ix_(own, own)] / np.outer(deviations, deviations)
            ).tolist()
        found.append(learned)
    return found


def _figure_model(points: Reals, values: Reals) -> Any:
    """Returns a fitted GP of one figure, in the figure's own unit."""
    return _fitted(SingleTaskGP(_tensor(points), _column(values)))


def _at_most(bound: float, output: int) -> Callable[[Any], Any]:
    """Returns a function from samples to an output's excess over a bound."""
    # A function of its own, because a lambda in the caller's loop would see the last output only.
    return lambda samples: samples[..., output] - bound


def _fitted(model: Any) -> Any:
    """Fits a model's parameters by maximum likelihood with priors and returns the model."""
    likelihood = ExactMarginalLogLikelihood(model.likelihood, model)
    fit_gpytorch_mll(likelihood, optimizer_kwargs={"options": {"maxiter": _MAX_STEPS}})
    return model


def _tensor(values: Reals) -> Any:
    """Returns an array as a tensor of doubles, which BoTorch recommends."""
    return torch.tensor(values, dtype=torch.float64)


def _column(values: Reals) -> Any:
    """Returns a vector as a tensor of one column, the shape of BoTorch's training values."""
    return _tensor(values).reshape(-1, 1)
