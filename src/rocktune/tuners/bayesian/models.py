"""Gaussian processes (GPs), fitted with BoTorch: of one task, of several (ICM), and over clusters of knobs.

Models are plain, as in the paper, or warped: with two learned numbers that bend each knob's axis.

References:
    Balandat et al., BoTorch (NeurIPS 2020); Hvarfner et al., Vanilla Bayesian optimization performs great in
    high dimensions (ICML 2024), whose prior of the length scales BoTorch takes; Snoek, Swersky, Zemel and
    Adams, Input warping for Bayesian optimization of non-stationary functions (ICML 2014); Lu, Boukouvalas
    and Hensman, Additive Gaussian processes revisited (ICML 2022).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from botorch.fit import fit_gpytorch_mll
from botorch.models import MultiTaskGP, SingleTaskGP
from botorch.models.additive_gp import OrthogonalAdditiveGP
from botorch.models.transforms.input import Warp
from botorch.models.utils.gpytorch_modules import get_covar_module_with_dim_scaled_prior
from gpytorch.kernels import AdditiveKernel, MaternKernel, RBFKernel, ScaleKernel
from gpytorch.mlls import ExactMarginalLogLikelihood
from gpytorch.priors import GammaPrior, LogNormalPrior

from rocktune.tuners.bayesian.clusters import Part
from rocktune.tuners.bayesian.coregionalization import TaskCovariance, measured_correlations
from rocktune.tuners.bayesian.observations import Observations, Reals, standardized, tasks_with_values


@dataclass(frozen=True)
class Fitted:
    """A fitted model of the objective over some of the knobs.

    Attributes:
        model: BoTorch's model; its output is the standardised objective.
        knobs: indices of the knobs that are its inputs, in their order.
        tasks: indices of the tasks that it models, in their order; the objective, 0, comes first.
    """

    model: Any
    knobs: tuple[int, ...]
    tasks: tuple[int, ...]


Fit = Callable[[Observations], Sequence[Fitted]]
"""A function from observations to models that know nothing of each other, each over knobs of its own."""

_MAX_STEPS = 60
"""Maximum number of fitting steps. Further ones change hardly anything, and each takes 10 ms."""

_WARP_DEVIATION = 0.75**0.5
"""Prior standard deviation of the logarithms of a warp's two parameters (from BoTorch's tutorial)."""


def single_task(observed: Observations, warped: bool) -> list[Fitted]:
    """Returns a GP of the objective with BoTorch's defaults, over warped axes if so wanted."""
    points, values = _objective_data(observed)
    warp = _warp(points) if warped else None
    return _all_knobs(SingleTaskGP(points, values, outcome_transform=None, input_transform=warp))


def additive(observed: Observations, warped: bool) -> list[Fitted]:
    """Returns a GP of the objective whose kernel is a sum over all knobs and pairs of knobs."""
    points, values = _objective_data(observed)
    warp, pairs = _warp(points) if warped else None, points.shape[1] > 1
    return _all_knobs(
        OrthogonalAdditiveGP(points, values, second_order=pairs, outcome_transform=None, input_transform=warp)
    )


def _all_knobs(model: Any, tasks: Sequence[int] = (0,)) -> list[Fitted]:
    """Fits a model over all knobs; its last input is the task if it has several tasks."""
    columns = model.train_inputs[0].shape[-1] - (len(tasks) > 1)
    return [Fitted(_fitted(model), tuple(range(columns)), tuple(tasks))]


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


def multi_task(observed: Observations, warped: bool, signed: bool = True) -> list[Fitted]:
    """Returns a GP of all tasks whose output is the objective.

    Its kernel is that of the intrinsic coregionalization model (equation 1 of Alabed and Yoneki):

        k((x, m), (x', m')) = k_x(x, x') * k_T(m, m')

    with x a point of the unit cube, m a task, k_x the kernel over knobs and k_T the covariance between tasks,
    which may be negative. Each task is standardised separately (Algorithm 2). A trial need not have values of
    all tasks. Tasks with equal values in all trials are left out.

    Args:
        observed: observations of all knobs and tasks.
        warped: whether the model learns to bend the axes.
        signed: whether tasks may correlate negatively. If not, k_T is BoTorch's own kernel, whose entries are
            all positive; it is there to compare with.
    """
    tasks = tasks_with_values(observed)
    if len(tasks) == 1:
        return single_task(observed, warped)
    model = _unfitted_multi_task(observed, warped)
    if not signed:
        return _all_knobs(model, tasks)
    knobs = model.covar_module.kernels[0]
    covariance = TaskCovariance(
        measured_correlations(observed.gains[:, tasks]), column=observed.points.shape[1]
    )
    model.covar_module = (knobs * covariance).to(model.train_targets)
    return _all_knobs(model, tasks)


def independent(parts: Sequence[Part], observed: Observations) -> list[Fitted]:
    """Returns a GP for each cluster of knobs, which knows no other knobs (section 3.4 of the paper).

    Each is that of `multi_task` over the cluster's knobs and tasks. To each of them the others' knobs are
    noise.

    Args:
        parts: the clusters.
        observed: observations of all knobs and tasks.
    """
    models = []
    for part in parts:
        own = replace(
            observed, points=observed.points[:, list(part.knobs)], gains=observed.gains[:, list(part.tasks)]
        )
        (fitted,) = multi_task(own, warped=False)
        models.append(Fitted(fitted.model, part.knobs, tuple(part.tasks[task] for task in fitted.tasks)))
    return models


def clustered(parts: Sequence[Part], observed: Observations) -> list[Fitted]:
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
    model = _unfitted_multi_task(observed, warped=True)
    dimensions, tasks = observed.points.shape[1], tasks_with_values(observed)
    start = measured_correlations(observed.gains[:, tasks])
    kernels = []
    for part in parts:
        own = [tasks.index(task) for task in part.tasks if task in tasks]
        knobs = get_covar_module_with_dim_scaled_prior(len(part.knobs), active_dims=part.knobs)
        # The prior's mean, 1 / len(parts), divides the variance of a standardised task evenly.
        scaled = ScaleKernel(knobs, outputscale_prior=GammaPrior(2.0, 2.0 * len(parts)))
        scaled.outputscale = 1 / len(parts)
        kernels.append(scaled * TaskCovariance(start, dimensions, own))
    model.covar_module = AdditiveKernel(*kernels).to(model.train_targets)
    return [Fitted(_fitted(model), tuple(range(dimensions)), tuple(tasks))]


def _unfitted_multi_task(observed: Observations, warped: bool) -> Any:
    """Returns BoTorch's multi-task GP of `tasks_with_values` before fitting; tasks are numbered from 0."""
    # A row for each known value: the point, and the number of its task in the last column.
    rows, values = [], []
    for number, task in enumerate(tasks_with_values(observed)):
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
        input_transform=_warp(inputs, others=1) if warped else None,
    )


def conditions_on(observed: Observations, first: int) -> tuple[list[Any], list[Callable[[Any], Any]]]:
    """Returns models of the conditions on a result.

    There is a condition for each constraint, whose model predicts the excess (`Observations.excesses`). If
    trials failed, another condition is that the trial succeeds. Its GP predicts failure (1 or 0), because the
    objective's model gets no failed trials and so cannot avoid them.

    Args:
        observed: the observations.
        first: number of outputs of the joint model before those of the conditions.

    Returns:
        The models, and a function for each condition. It takes samples of the joint model, shape (...,
        outputs), and returns values that are at most 0 if the condition holds.
    """
    models, conditions = list[Any](), list[Callable[[Any], Any]]()
    for column in observed.excesses.T:
        known = np.isfinite(column)
        if known.any():
            conditions.append(_at_most(0.0, first + len(models)))
            models.append(_figure_model(observed.points[known], column[known]))
    if not observed.succeeded.all():
        conditions.append(_at_most(0.5, first + len(models)))
        models.append(_figure_model(observed.points, (~observed.succeeded).astype(np.float64)))
    return models, conditions


def explained(models: Sequence[Fitted], knobs: Sequence[str], tasks: Sequence[str]) -> list[dict[str, Any]]:
    """Returns the learned parameters of fitted models, a JSON object for each cluster of knobs.

    Args:
        models: the models.
        knobs: names of all knobs.
        tasks: names of all tasks, the objective first.

    Returns:
        Objects with these members. `length_scales`: length scale of each knob, as a multiple of its range
        (warped if the model's axes are); shorter means more important. `tasks`: names of the cluster's tasks.
        `correlations`: their correlation matrix, absent if the model has a single task.
    """
    found = []
    for fitted in models:
        kernel = fitted.model.covar_module
        for part in kernel.kernels if isinstance(kernel, AdditiveKernel) else [kernel]:
            kernels = list(part.modules())
            over_knobs = next(each for each in kernels if isinstance(each, RBFKernel | MaternKernel))
            over_tasks = next((each for each in kernels if isinstance(each, TaskCovariance)), None)
            own = over_knobs.active_dims
            active = range(len(fitted.knobs)) if own is None else own.tolist()
            scales = over_knobs.lengthscale.detach().reshape(-1).tolist()
            names = [knobs[fitted.knobs[column]] for column in active]
            learned: dict[str, Any] = {
                "length_scales": dict(zip(names, scales, strict=True)),
                "tasks": [tasks[0]],
            }
            if over_tasks is not None:
                learned |= _correlations(over_tasks, [tasks[task] for task in fitted.tasks])
            found.append(learned)
    return found


def _correlations(kernel: TaskCovariance, tasks: Sequence[str]) -> dict[str, Any]:
    """Returns the tasks of a kernel and their correlation matrix."""
    covariance = kernel.covar_matrix.detach().numpy()
    own = np.flatnonzero(np.diag(covariance) > 0).tolist()
    deviations = np.sqrt(np.diag(covariance)[own])
    matrix = covariance[np.ix_(own, own)] / np.outer(deviations, deviations)
    return {"tasks": [tasks[task] for task in own], "correlations": matrix.tolist()}


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
