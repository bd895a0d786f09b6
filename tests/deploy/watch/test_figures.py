import math

import numpy as np
import pytest
from scipy import stats
from tests.deploy.watch.made import intervals

from rocktune.deploy.watch import Interval, worse_figures
from rocktune.deploy.watch.figures import moves_more


def test_slower_operations_are_worse_and_equal_ones_are_not() -> None:
    rng = np.random.default_rng(1)
    before = list(intervals(rng, 12))
    assert worse_figures(before, list(intervals(rng, 4))) == ()
    worse = worse_figures(before, list(intervals(rng, 4, latency_us=40)))
    assert [each.name for each in worse] == ["mean get latency, us", "mean write latency, us"]
    assert all(each.before < each.limit < each.after for each in worse)


def test_a_stall_is_worse() -> None:
    rng = np.random.default_rng(2)
    stalled = [each.model_copy(update={"stalled_share": 0.5}) for each in intervals(rng, 4)]
    (worse,) = worse_figures(list(intervals(rng, 12)), stalled)
    assert worse.name == "stalled share (5% added)"


def test_equal_windows_are_seldom_worse() -> None:
    rng = np.random.default_rng(3)
    false = sum(bool(worse_figures(list(intervals(rng, 12)), list(intervals(rng, 4)))) for _ in range(400))
    assert false <= 8  # 1% over both windows; by chance at most 8 of 400 with a probability of 99.9%


def test_one_flush_of_a_store_that_was_not_flushed_before_is_not_worse() -> None:
    rng = np.random.default_rng(6)
    before = [
        each.model_copy(update={"moved_bytes": 0, "written_bytes": 1 << 20}) for each in intervals(rng, 24)
    ]
    after = [*before[:3], before[3].model_copy(update={"moved_bytes": 64 << 20, "stalled_share": 0.01})]
    assert not worse_figures(before, after)


def test_differences_that_do_not_matter_are_not_worse() -> None:
    rng = np.random.default_rng(4)
    assert not worse_figures(list(intervals(rng, 24)), list(intervals(rng, 4, latency_us=21.0)))


def test_a_figure_of_one_side_alone_is_left_out() -> None:
    rng = np.random.default_rng(5)
    before = [each.model_copy(update={"waited_s": {}}) for each in intervals(rng, 12)]
    assert not worse_figures(before, list(intervals(rng, 4, latency_us=1000.0)))


def _quiet_and_moving(
    rng: np.random.Generator, quiet: int, moving: int, slower: float = 1.0, size: float = 1.0
) -> list[Interval]:
    """Returns intervals of a store whose lookups take 100 times as long in an interval with 5 GB moved.

    Args:
        rng: source of the noise.
        quiet: number of intervals in which nothing is moved.
        moving: number of the others.
        slower: factor of all latencies.
        size: bytes moved in an interval, in 5 GB.
    """
    still = intervals(rng, quiet, latency_us=20 * slower)
    latency_us = (20 + 1980 * size) * slower
    moved = (
        each.model_copy(update={"moved_bytes": int(5e9 * size)})
        for each in intervals(rng, moving, latency_us=latency_us)
    )
    return [*(each.model_copy(update={"moved_bytes": 0}) for each in still), *moved]


@pytest.mark.parametrize(
    ("quiet", "moving", "size"), [(4, 0, 1.0), (3, 1, 1.0), (0, 4, 1.0), (0, 4, 0.1), (2, 2, 3.0)]
)
def test_latencies_are_predicted_by_what_is_moved(quiet: int, moving: int, size: float) -> None:
    rng = np.random.default_rng(7)
    before = _quiet_and_moving(rng, 9, 3)
    assert not worse_figures(before, _quiet_and_moving(rng, quiet, moving, size=size))
    worse = worse_figures(before, _quiet_and_moving(rng, quiet, moving, 1.5, size))
    assert [each.name for each in worse][:1] == ["mean get latency, us"]


def test_many_more_bytes_are_worse_whatever_latency_they_explain() -> None:
    rng = np.random.default_rng(11)
    worse = worse_figures(_quiet_and_moving(rng, 9, 3), _quiet_and_moving(rng, 0, 4, size=3.0))
    assert "bytes moved per byte written" in [each.name for each in worse]


def test_without_moving_intervals_before_a_window_has_to_be_as_fast() -> None:
    rng = np.random.default_rng(8)
    assert worse_figures(_quiet_and_moving(rng, 12, 0), _quiet_and_moving(rng, 0, 4))
    assert not worse_figures(_quiet_and_moving(rng, 0, 12), _quiet_and_moving(rng, 4, 0))


def test_the_prediction_and_its_limit_by_hand() -> None:
    (quiet,) = intervals(np.random.default_rng(9), 1)

    def of(latency_us: float, moved_mb: int) -> Interval:
        waits = {"get": (1000, latency_us / 1e3)}
        return quiet.model_copy(update={"moved_bytes": moved_mb * 600_000_000, "waited_s": waits})

    before = [of(40, 0), of(10, 0), of(120, 1), of(320, 3)]
    # At rest 20 us; 100 + 300 us for 4 MB/s, so 100 us for each.
    (worse,) = worse_figures(before, [of(1e6, 0), of(1e6, 1), of(1e6, 2), of(1e6, 0)])
    logs = np.log([2.0, 0.5, 1.0, 1.0])
    predicted = (20 * 120 * 220 * 20) ** 0.25
    quantile = stats.t.ppf(1 - 0.01 / 6, 3)
    assert worse.before == pytest.approx(predicted)
    assert worse.limit == pytest.approx(predicted * math.exp(quantile * logs.std(ddof=1) * math.sqrt(1 / 2)))


def test_more_data_moves_only_if_more_than_in_any_interval_before() -> None:
    rng = np.random.default_rng(10)
    before = list(intervals(rng, 12))
    assert not moves_more(before, list(intervals(rng, 4)))
    assert moves_more(before, list(intervals(rng, 4, moved=20.0)))
