"""Percentiles over windows, and their bootstrap intervals."""

import math

import numpy as np
import pytest

from rocktune.study.proving.latencies import Latencies, latencies_between
from rocktune.testing.synthetic import synthetic_window


def even(*latencies_us: int) -> Latencies:
    """Returns windows of 100 operations each, all of one latency."""
    return Latencies([{latency * 1000: 100} for latency in latencies_us])


def test_percentiles_are_those_of_all_operations() -> None:
    # 1 to 100 us and 101 to 200 us: the median of all is 100, the 99th percentile 198.
    found = Latencies([{1000 * (first + each): 1 for each in range(100)} for first in (1, 101)])
    assert found.percentile(50).value == pytest.approx(100)
    assert found.percentile(99).value == pytest.approx(198)
    assert found.longest_wait().value == pytest.approx(150)


def test_the_interval_holds_what_resampled_windows_give() -> None:
    # Of four windows one stalls. A sample lacks it with (3/4)^4 = 0.32, so both ends are far apart.
    found = even(10, 10, 10, 1000).percentile(99)
    assert (found.value, found.low, found.high) == (1000, 10, 1000)
    # The mean of the longest waits is 257.5; a sample has it 0 to 4 times.
    waits = even(10, 10, 10, 1000).longest_wait()
    assert waits.value == pytest.approx(257.5)
    assert waits.low == pytest.approx(10)
    assert waits.high == pytest.approx(752.5)


def test_equal_windows_have_a_ratio_without_spread() -> None:
    found = even(20, 20, 20).percentile_ratio(even(10, 10, 10), 99)
    assert (found.value, found.low, found.high, found.repeats) == (2, 2, 2, 3)


def test_intervals_repeat() -> None:
    first, again = (even(1, 5, 9, 30).percentile_ratio(even(2, 3, 40), 99) for _ in range(2))
    assert first == again


def test_few_windows_show_nothing() -> None:
    one = even(10).percentile_ratio(even(10), 99)
    assert (one.value, one.low, one.high, one.repeats) == (1, 0, math.inf, 1)
    assert math.isnan(Latencies([]).percentile(99).value)
    assert Latencies([{}, {1000: 2}]).windows == 1
    assert math.isnan(Latencies([]).longest_wait_ratio(even(1)).value)


def test_windows_are_differences_of_what_was_measured_since_age_0() -> None:
    first = synthetic_window(0.0, 1.0, 1000.0, 100.0)
    both = first.merged(synthetic_window(1.0, 2.0, 1000.0, 300.0))
    assert latencies_between(first, both) == {300_000: 500, 30_000: 500}
    assert latencies_between(None, first) == {100_000: 500, 10_000: 500}


def test_a_percentile_is_that_of_the_measurement() -> None:
    rng = np.random.default_rng(3)
    bounds = {int(value): int(rng.integers(1, 50)) for value in rng.integers(1000, 10**6, 300)}
    counted = {"get": {"count": 0, "found": 0, "latency_ns": [list(each) for each in bounds.items()]}}
    measured = synthetic_window(0.0, 1.0)
    measured = type(measured)(measured.raw | {"operations": counted})
    for percent in (1, 50, 99, 99.9, 100):
        assert Latencies([bounds]).percentile(percent).value == measured.latency_us(["get"], percent)
