"""The period of a load."""

import numpy as np
import pytest

from rocktune.analysis.profile import RatePoint
from rocktune.analysis.profile.rates import fitted_rate

DAY = 86_400.0


def points(rates: np.ndarray, seconds: float = 600.0) -> list[RatePoint]:
    return [RatePoint(number * seconds, seconds, float(rate)) for number, rate in enumerate(rates)]


def daily(days: float, noise: float) -> list[RatePoint]:
    times = np.arange(0, days * DAY, 600)
    random = np.random.default_rng(3).normal(0, noise, len(times))
    return points(1000 + 400 * np.sin(2 * np.pi * times / DAY + 1) + random)


@pytest.mark.parametrize("noise", [0.0, 100.0])
def test_a_day_is_found_in_three(noise: float) -> None:
    fitted = fitted_rate(daily(3, noise))
    assert fitted is not None
    assert fitted.period_s == pytest.approx(DAY, rel=0.03)
    assert fitted.amplitude == pytest.approx(400, rel=0.05)
    assert fitted.mean == pytest.approx(1000, rel=0.03)
    assert fitted.explained > 0.85


@pytest.mark.parametrize("days", [3, 21])
def test_a_period_is_exact_without_noise(days: float) -> None:
    fitted = fitted_rate(daily(days, 0))
    assert fitted is not None
    assert fitted.period_s == pytest.approx(DAY, rel=1e-3)
    assert fitted.amplitude == pytest.approx(400, rel=1e-2)


def test_a_day_is_not_found_in_one() -> None:
    fitted = fitted_rate(daily(0.75, 0))
    assert fitted is not None
    assert fitted.period_s < DAY / 2


def test_noise_has_no_period() -> None:
    random = np.random.default_rng(5)
    fitted = fitted_rate(points(1000 + random.normal(0, 100, 200)))
    assert fitted is not None
    assert (fitted.amplitude, fitted.period_s) == (0, 0)
    assert fitted.spread == pytest.approx(0.1, rel=0.2)


@pytest.mark.parametrize("rates", [[5.0], [5.0] * 40, [5.0, 7.0] * 11])
def test_constant_or_few_rates_have_no_period(rates: list[float]) -> None:
    fitted = fitted_rate(points(np.array(rates)))
    assert fitted is not None
    assert fitted.period_s == 0
    assert fitted.mean == pytest.approx(sum(rates) / len(rates))


def test_without_rates_there_is_nothing() -> None:
    assert fitted_rate([]) is None


def test_the_mean_counts_longer_intervals_more() -> None:
    fitted = fitted_rate([RatePoint(0, 100, 10), RatePoint(200, 300, 30)])
    assert fitted is not None
    assert fitted.mean == 25
