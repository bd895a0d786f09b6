"""The Gaussian processes, fitted with BoTorch: of one task, of several (ICM), and sums over groups of knobs.

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
"""Returns a fitted BoTorch model of the first task, standardised, over the observations' knobs."""

_MAX_STEPS = 60
"""Of fitting. What follows changes hardly anything, and a step takes 10 ms however few points there are."""

_BENDING = 0.75**0.5
"""Standard deviation of the logarithms of what bends an axis, a priori (BoTorch's tutorial)."""


def single_task(observed: Observations) -> Any:
    """Returns a GP of the objective over bent axes, otherwise with BoTorch's defaults."""
    points, values = _of_objective(observed)
    return _fitted(SingleTaskGP(points, values, outcome_transform=None, input_transform=_bent(points)))


def additive(observed: Observations) -> Any:
    """Returns a GP of the objective whose kernel is a sum over the knobs and their pairs."""
    points, values = _of_objective(observed)
    pairs = points.shape[1] > 1
    return _fitted(
        OrthogonalAdditiveGP(
            points, values, second_order=pairs, outcome_transform=None, input_transform=_bent(points)
        )
    )


def _bent(inputs: Any, others: int = 0) -> Warp:
    """Returns what bends each knob's axis, by two numbers that are learned with the model.

    The axis x becomes 1 - (1 - x^a)^b, the cumulative distribution function of Kumaraswamy, with a and b
    about 1 unless measurements speak against it. A store's behaviour may turn within a hundredth of a range,
    where a process that is equally smooth everywhere sees nothing but noise.

    Args:
        inputs: ... x columns.
        others: how many of the last columns are no knobs.
    """
    columns = inputs.shape[-1]
    return Warp(
        columns,
        list(range(columns - others)),
        concentration1_prior=LogNormalPrior(0.0, _BENDING),
        concentration0_prior=LogNormalPrior(0.0, _BENDING),
    )


def _of_objective(observed: Observations) -> tuple[Any, Any]:
    """Returns the points at which the objective is known, and its values, standardised."""
    known = ~np.isnan(observed.gains[:, 0])
    return _tensor(observed.points[known]), _column(standardized(observed.gains[:, 0])[known])


def multi_task(observed: Observations) -> Any:
    """Returns a GP of all tasks, of which the objective is its output.

    Its kernel is that of the intrinsic coregionalization model (equation 1 of Alabed and Yoneki):

        k((x, m), (x', m')) = k_x(x, x') * k_T(m, m')

    with x a point of the unit cube, m a task, k_x the kernel over knobs and k_T the covariance between tasks.
    Every task is standardised by itself (Algorithm 2). A task that was not measured in a trial is left out
    there, and everywhere where it has always been the same.
    """
    return _fitted(_of_tasks(observed)) if len(_tasks(observed)) > 1 else single_task(observed)


def clustered(parts: Sequence[Part], observed: Observations) -> Any:
    """Returns a GP of all tasks that is a sum of independent ones, one for each cluster of knobs.

    The objective is the sum of what the system's components contribute (section 3.4 of Alabed and Yoneki),
    each of which is a function of few knobs and shares what is learned with the tasks of its own:

        k((x, m), (x', m')) = sum over clusters c of s_c * k_c(x_c, x'_c) * k_Tc(m, m')

    with x_c the knobs of cluster c, s_c its share of the variance, and k_Tc the covariance between its tasks,
    0 for all others.

    Args:
        parts: the clusters.
        observed: of all knobs and tasks.
    """
    model = _of_tasks(observed)
    dimensions, tasks = observed.points.shape[1], _tasks(observed)
    kernels = []
    for part in parts:
        own = [tasks.index(task) for task in part.tasks if task in tasks]
        knobs = get_covar_module_with_dim_scaled_prior(len(part.knobs), active_dims=part.knobs)
        # The prior mean shares the variance of a standardised task out evenly.
        scaled = ScaleKernel(knobs, outputscale_prior=GammaPrior(2.0, 2.0 * len(parts)))
        scaled.outputscale = 1 / len(parts)
        kernels.append(scaled * _OwnTasks(own, len(tasks), dimensions))
    model.covar_module = AdditiveKernel(*kernels).to(model.train_targets)
    return _fitted(model)


class _OwnTasks(PositiveIndexKernel):
    """Covariance between some of the tasks, the objective among them; 0 with all others."""

    def __init__(self, own: Sequence[int], of: int, column: int) -> None:
        super().__init__(of, rank=len(own), active_dims=[column])
        mask = torch.zeros(of, of)
        mask[np.ix_(own, own)] = 1.0
        self.register_buffer("_mask", mask)

    def _eval_covar_matrix(self) -> Any:
        return super()._eval_covar_matrix() * self._mask


def _tasks(observed: Observations) -> list[int]:
    """Returns the tasks that a model can have: the objective, and what is known and varies."""
    columns = [standardized(column) for column in observed.gains.T]
    return [task for task, column in enumerate(columns) if task == 0 or np.nan_to_num(column).any()]


def _of_tasks(observed: Observations) -> Any:
    """Returns BoTorch's multi-task GP of `_tasks`, numbered anew, before it is fitted."""
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
        input_transform=_bent(inputs, others=1),
    )


def with_conditions(objective: Any, observed: Observations) -> tuple[Any, list[Callable[[Any], Any]]]:
    """Returns an objective's model together with those of what must hold, and how to read the latter.

    A constraint is modelled by the logarithm of the ratio that it is missed by. Where trials have failed, a
    GP of success (1 or 0) keeps the search away from there; the objective's model never sees a failed trial.

    Args:
        objective: a model with one output.
        observed: what was measured.

    Returns:
        The model, and functions of its samples (... x outputs) that are at most 0 where a condition holds.
    """
    models, conditions = [objective], []
    for column in observed.excesses.T:
        known = np.isfinite(column)
        if known.any():
            models.append(_of(observed.points[known], column[known]))
            conditions.append(_at_most(0.0, len(models) - 1))
    if not observed.succeeded.all():
        models.append(_of(observed.points, (~observed.succeeded).astype(np.float64)))
        conditions.append(_at_most(0.5, len(models) - 1))
    return (ModelListGP(*models) if conditions else objective), conditions


def explained(model: Any, observed: Observations, knobs: Sequence[str], tasks: Sequence[str]) -> list[Any]:
    """Returns what a fitted model has learned, cluster by cluster.

    Args:
        model: of `single_task`, `additive`, `multi_task` or `clustered`.
        observed: what it was fitted to.
        knobs: the names of all knobs.
        tasks: the names of all tasks, the objective first.

    Returns:
        Of each part `length_scales`: by knob, in widths of its range as the model bends it; the shorter, the
        more the knob matters;
        `tasks`: those that the part has; `correlations` between them, a row for each, unless there is one.
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


def _of(points: Reals, values: Reals) -> Any:
    """Returns a GP of some figure, which it gives in the figure's own unit."""
    return _fitted(SingleTaskGP(_tensor(points), _column(values)))


def _at_most(bound: float, output: int) -> Callable[[Any], Any]:
    return lambda samples: samples[..., output] - bound


def _fitted(model: Any) -> Any:
    likelihood = ExactMarginalLogLikelihood(model.likelihood, model)
    fit_gpytorch_mll(likelihood, optimizer_kwargs={"options": {"maxiter": _MAX_STEPS}})
    return model


def _tensor(values: Reals) -> Any:
    return torch.tensor(values, dtype=torch.float64)


def _column(values: Reals) -> Any:
    return _tensor(values).reshape(-1, 1)
