import numpy as np
import pytest
from benchmarks.jia_chen.evolutionary_reference import CASES, Case, ours, ratio_of_means


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.label)
def test_the_true_front_has_hypervolume_one(case: Case) -> None:
    rng = np.random.default_rng(1)
    places = np.full((4000, case.variables), 0.5 if case.name == "dtlz2" else 0.0)
    free = case.objectives - 1
    places[:, :free] = rng.uniform(size=(4000, free))
    found = case.hypervolume(case.problem().evaluate(places))
    assert 0.97 < found <= 1 + 1e-6
    assert case.hypervolume(np.full((1, case.objectives), 20.0)) == 0


@pytest.mark.parametrize("tuner", ["smpso", "nsga2"])
def test_our_points_are_as_many_as_the_reference_may_hold(tuner: str) -> None:
    case = CASES[0]
    first, again = (ours(tuner, case, 300, 1) for _ in range(2))
    assert first.shape[1] == 2
    assert 0 < len(first) <= 100
    assert np.array_equal(first, again)


def test_the_interval_is_one_of_paired_differences() -> None:
    pairs = [(0.9, 1.0), (1.1, 1.0), (1.0, 1.0)]
    rows = [{"hypervolume": mine, "reference_hypervolume": theirs} for mine, theirs in pairs]
    measured = ratio_of_means(rows)
    # Mean 1, deviation 0.1, t quantile for 2 degrees of freedom 4.303.
    assert measured.value == pytest.approx(1)
    assert measured.low == pytest.approx(1 - 4.303 * 0.1 / 3**0.5, abs=1e-3)
