"""Models on functions whose correlations are known."""

import math
from dataclasses import replace

import numpy as np
import pytest

from rocktune.tuners.bayesian.clusters import Part
from rocktune.tuners.bayesian.observations import Observations

# PyTorch warns of its own deprecated calls when it is imported.
pytestmark = [pytest.mark.bo, pytest.mark.filterwarnings("ignore")]
KNOBS = ("x", "y")


def opposed(sign: float, known: int = 5) -> Observations:
    """Returns 40 trials of two tasks of one function, the objective in the first `known` only."""
    rng = np.random.default_rng(3)
    points = rng.uniform(size=(40, 2))
    values = np.sin(6 * points[:, 0]) + np.cos(4 * points[:, 1])
    gains = np.column_stack([values, sign * values + rng.normal(0, 0.05, 40)])
    gains[known:, 0] = math.nan
    return Observations(points, gains, np.empty((40, 0)), np.full(40, True))


@pytest.mark.parametrize("sign", [-1, 1])
def test_a_task_teaches_by_its_correlation_whatever_the_sign(sign: float) -> None:
    """BoTorch's own kernel learns a correlation of at least 0, and so nothing from an opposed task."""
    from rocktune.tuners.bayesian.models import explained, multi_task, single_task
    from rocktune.tuners.bayesian.suggestions import reproducible

    observed = opposed(sign)
    truth = sign * observed.gains[5:, 1]
    with reproducible(1):
        both = multi_task(observed, warped=False)
        alone = single_task(observed, warped=False)
    (learned,) = explained(both, KNOBS, ("objective", "task"))
    assert learned["tasks"] == ["objective", "task"]
    assert sign * learned["correlations"][0][1] > 0.8
    assert correlation(both[0], observed.points[5:], truth) > 0.98
    assert correlation(alone[0], observed.points[5:], truth) < 0.95


def test_botorchs_positive_kernel_learns_nothing_from_an_opposed_task() -> None:
    from rocktune.tuners.bayesian.models import explained, multi_task
    from rocktune.tuners.bayesian.suggestions import reproducible

    observed = opposed(-1)
    with reproducible(1):
        signed = multi_task(observed, warped=False)
        positive = multi_task(observed, warped=False, signed=False)
    truth = -observed.gains[5:, 1]
    assert correlation(positive[0], observed.points[5:], truth) < correlation(
        signed[0], observed.points[5:], truth
    )
    assert positive[0].tasks == (0, 1)
    assert [*explained(positive, KNOBS, ("objective", "task"))[0]["length_scales"]] == [*KNOBS]


def correlation(fitted: object, points: np.ndarray, truth: np.ndarray) -> float:
    """Returns the correlation of a model's predictions of the objective with the truth."""
    import torch

    with torch.no_grad():
        mean = fitted.model.posterior(torch.tensor(points)).mean.flatten().numpy()  # type: ignore[attr-defined]
    return float(np.corrcoef(mean, truth)[0, 1])


def test_the_covariance_of_tasks_by_hand() -> None:
    import torch

    from rocktune.tuners.bayesian.coregionalization import TaskCovariance

    kernel = TaskCovariance(np.eye(3), column=2, own=[0, 2])
    kernel.initialize(covar_factor=torch.tensor([[1.0, 0, 0], [5, 5, 5], [-2, 0, 1]]))
    kernel.var = torch.tensor([1.0, 1.0, 1.0])
    # B B' + diag(v) is 2 for the objective, 6 for the third task and -2 between them; the second is not ours.
    assert kernel.covar_matrix.detach().numpy() == pytest.approx(
        np.array([[1, 0, -1], [0, 0, 0], [-1, 0, 3]]), abs=1e-6
    )
    assert kernel.own_correlations.item() == pytest.approx(-1 / math.sqrt(3), rel=1e-6)


@pytest.mark.parametrize("value", [-0.6, 0.0, 0.6])
def test_a_fit_starts_from_the_given_correlation(value: float) -> None:
    import torch

    from rocktune.tuners.bayesian.coregionalization import TaskCovariance

    kernel = TaskCovariance(np.array([[1.0, value], [value, 1.0]]), column=2)
    # A tenth of each variance is the task's own.
    assert kernel.own_correlations.item() == pytest.approx(0.9 * value, abs=1e-4)
    kernel.set_own_correlations(torch.tensor([-3.0]))
    assert kernel.own_correlations.item() == pytest.approx(-0.9, abs=1e-3)


def test_measured_correlations_by_hand() -> None:
    from rocktune.tuners.bayesian.coregionalization import measured_correlations

    nan = math.nan
    gains = np.array([[1.0, 3, 1, nan], [2, 2, 1, 5], [3, 1, 4, 6], [4, nan, nan, nan]])
    found = measured_correlations(gains)
    # Three common trials with r = -1, shrunk by 3 / 7; r = sqrt(3) / 2 with the third.
    assert found[0] == pytest.approx([1, -3 / 7, 3 / 7 * math.sqrt(3) / 2, 0])
    assert (found == found.T).all()


def test_independent_models_see_their_own_knobs_only() -> None:
    from rocktune.tuners.bayesian.models import explained, independent
    from rocktune.tuners.bayesian.suggestions import Suggestions, reproducible

    observed = opposed(-1, known=40)
    parts = [Part((1,), (0, 1)), Part((0,), (0,))]
    failed = np.arange(40) % 5 == 0
    observed = replace(observed, gains=np.where(failed[:, None], math.nan, observed.gains), succeeded=~failed)
    with reproducible(1):
        models = Suggestions(lambda seen: independent(parts, seen), observed, noisy=False)
        found, log_improvement = models.near_best(np.array([[0.5, 0.5]]))
        values = log_improvement(found)
    assert [(each.knobs, each.tasks) for each in models.models] == [((1,), (0, 1)), ((0,), (0,))]
    assert found.shape[1] == 2
    assert np.isfinite(values).all()
    first, second = explained(models.models, KNOBS, ("objective", "task"))
    assert ([*first["length_scales"]], [*second["length_scales"]]) == (["y"], ["x"])
    assert first["correlations"][0][1] < 0
    assert "correlations" not in second
