import numpy as np
import pytest
from benchmarks.common.curves import Curve, extrapolated, kept_at_top, pareto_front, price_of_one_for_all


def test_mean_until_interpolates_within_intervals() -> None:
    # 10 operations in each of the first two intervals of 0.5 s, 40 in the third: 10, 20, 60 in all.
    curve = Curve.of({"interval_s": 0.5, "operations": [10, 10, 40]}, 1.5)
    assert curve.mean_until(1.0) == pytest.approx(20)
    # Half of the third interval: (20 + 20) / 1.25.
    assert curve.mean_until(np.array([0.25, 1.25])) == pytest.approx([20, 32])


def test_intervals_after_an_age_leave_out_the_one_cut_short() -> None:
    curve = Curve.of({"interval_s": 0.5, "operations": [10, 20, 30, 1]}, 1.6)
    assert curve.throughput_after(0.5) == pytest.approx([40, 60])


def test_power_law_is_continued() -> None:
    # Until age t the mean is 1000 + 500 / t, so that 1000 t + 500 operations are done.
    ages_s = np.arange(1, 101, dtype=np.float64)
    curve = Curve(ages_s, 1000 * ages_s + 500)
    assert extrapolated(curve, 100.0, 600.0) == pytest.approx(1000 + 500 / 600, rel=1e-3)


def test_constant_throughput_stays() -> None:
    ages_s = np.arange(1, 11, dtype=np.float64)
    assert extrapolated(Curve(ages_s, 50 * ages_s), 10.0, 60.0) == pytest.approx(50, rel=1e-3)


def test_nothing_done_predicts_nothing() -> None:
    assert extrapolated(Curve(np.array([1.0, 2.0]), np.zeros(2)), 2.0, 12.0) == pytest.approx(0, abs=1e-6)


def test_pareto_front_has_the_points_that_no_other_beats() -> None:
    points = np.array([[1.0, 5.0], [3.0, 3.0], [5.0, 1.0], [2.0, 2.0], [3.0, 3.0]])
    assert pareto_front(points).tolist() == [True, True, True, False, True]


def test_kept_at_top_counts_without_order() -> None:
    assert kept_at_top([9, 8, 7, 1, 0], [7, 8, 9, 0, 1], 3) == 3
    assert kept_at_top([9, 8, 7, 1, 0], [0, 1, 7, 8, 9], 2) == 0


def test_price_of_one_for_all() -> None:
    # Of the bests 10 and 20, the choices give 100% and 50%, 80% and 90%, 10% and 100%.
    assert price_of_one_for_all(np.array([[10.0, 8.0, 1.0], [10.0, 18.0, 20.0]])) == pytest.approx(0.8)
