import math
from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from rocktune.objective import objective_named
from rocktune.study.proving.front import front_beyond_noise, front_noise, noise_ratio
from rocktune.testing.synthetic import synthetic_window
from rocktune.trial import Configuration, Result, Status, Trial

BOTH = ("throughput_ops_s", "read_latency_us_p99")
OBJECTIVE = objective_named(BOTH, ["write_amplification<=10"])
NOISE = {"throughput_ops_s": 1.05, "read_latency_us_p99": 1.10}


def rows(*figures: tuple[float, float], amplification: float = 1.0) -> list[dict[str, float]]:
    return [dict(zip(BOTH, pair, strict=True)) | {"write_amplification": amplification} for pair in figures]


def points(
    figures: Sequence[tuple[float, float]], noise: Mapping[str, float] = NOISE
) -> tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]:
    found = front_beyond_noise(rows(*figures), OBJECTIVE, noise)
    return found.points, found.alike


def test_noise_by_hand() -> None:
    # Logarithms 0, 0.2 and 0.1, 0.1: without the means of rows (0.1 both) and columns (0.05, 0.15) the
    # residuals are -0.05, 0.05, 0.05, -0.05. Their variance is 0.01 with one degree of freedom, whose 97.5%
    # quantile is 12.706; the mean of two runs halves it, the difference of two means doubles it.
    figures = np.exp([[0.0, 0.2], [0.1, 0.1]]).tolist()
    assert noise_ratio(figures) == pytest.approx(math.exp(12.7062 * 0.1), rel=1e-4)


def test_a_replicate_that_is_slow_for_all_is_no_noise() -> None:
    assert noise_ratio([[100.0, 200.0, 50.0], [300.0, 600.0, 150.0]]) == pytest.approx(1.0)


@pytest.mark.parametrize("figures", [[], [[1.0, 2.0]], [[1.0], [2.0]], [[1.0, 0.0], [1.0, 2.0]]])
def test_noise_needs_two_runs_of_two_configurations(figures: list[list[float]]) -> None:
    assert math.isnan(noise_ratio(figures))


def test_noise_is_exceeded_by_chance_as_often_as_stated() -> None:
    rng, exceeded, samples = np.random.default_rng(1), 0, 2000
    for _ in range(samples):
        runs = np.exp(rng.normal(0, 0.03, (6, 2)) + rng.normal(0, 0.2, 2))
        means = np.log(runs).mean(axis=1)
        exceeded += abs(means[0] - means[1]) > math.log(noise_ratio(runs.tolist()))
    assert 0.035 < exceeded / samples < 0.065


def test_only_a_point_that_is_better_beyond_noise_in_every_field_removes_another() -> None:
    better = (1060.0, 90.0)
    # Beyond noise in both; within it in throughput; within it in latency.
    assert points([better, (1000.0, 100.0)]) == ((0,), ((),))
    assert points([better, (1020.0, 100.0)])[0] == (0, 1)
    assert points([better, (1000.0, 95.0)])[0] == (0, 1)


def test_points_that_differ_in_nothing_beyond_noise_are_alike() -> None:
    found = points([(1000.0, 100.0), (2000.0, 200.0), (1030.0, 105.0), (500.0, 300.0)])
    # Ordered by throughput; the last one is beaten.
    assert found == ((1, 2, 0), ((), (0,), (2,)))


def test_unknown_noise_leaves_the_front_of_the_means() -> None:
    figures = [(1060.0, 90.0), (1059.0, 91.0), (900.0, 80.0)]
    assert points(figures, noise={}) == ((0, 2), ((), ()))


def result(throughput: float, latency_us: float) -> Result:
    trial = Trial(Configuration({}), 2.0)
    return Result(trial, Status.OK, synthetic_window(0.0, 2.0, throughput, latency_us))


def test_only_a_front_with_noise_in_each_field_has_noise() -> None:
    runs = [[result(1000.0, 100.0), result(1100.0, 100.0)], [result(2000.0, 90.0), result(2000.0, 95.0)]]
    found = front_noise(runs, objective_named(BOTH))
    assert list(found) == list(BOTH)
    assert found["throughput_ops_s"] == pytest.approx(noise_ratio([[1000.0, 1100.0], [2000.0, 2000.0]]))
    assert front_noise(runs, objective_named("throughput_ops_s")) == {}
    assert front_noise([of_one[:1] for of_one in runs], objective_named(BOTH)) == {}


def test_what_breaks_a_constraint_or_lacks_a_figure_is_no_point_and_removes_none() -> None:
    sound = rows((1000.0, 100.0))
    others = rows((9000.0, 1.0), amplification=11.0) + rows((9000.0, math.nan))
    assert front_beyond_noise(others + sound, OBJECTIVE, NOISE).points == (2,)
