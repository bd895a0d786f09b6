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
    rng: np.random.Generator, quiet: int, moving: int, slower: float = 1.0
) -> list[Interval]:
    """Returns intervals of a store whose lookups take 100 times as long while it compacts."""
    return [
        *(
            each.model_copy(update={"moved_bytes": 0})
            for each in intervals(rng, quiet, latency_us=20.0 * slower)
        ),
        *intervals(rng, moving, latency_us=2000.0 * slower),
    ]


@pytest.mark.parametrize(("quiet", "moving"), [(4, 0), (3, 1), (0, 4)])
def test_intervals_with_compactions_are_compared_with_such_intervals(quiet: int, moving: int) -> None:
    rng = np.random.default_rng(7)
    before = _quiet_and_moving(rng, 9, 3)
    assert not worse_figures(before, _quiet_and_moving(rng, quiet, moving))
    worse = worse_figures(before, _quiet_and_moving(rng, quiet, moving, slower=1.5))
    assert [each.name for each in worse] == ["mean get latency, us", "mean write latency, us"]


def test_without_intervals_alike_a_window_is_compared_with_the_others() -> None:
    rng = np.random.default_rng(8)
    assert worse_figures(_quiet_and_moving(rng, 12, 0), _quiet_and_moving(rng, 0, 4))
    assert not worse_figures(_quiet_and_moving(rng, 0, 12), _quiet_and_moving(rng, 4, 0))


def test_the_limit_is_that_of_two_groups_with_one_variance() -> None:
    rng = np.random.default_rng(9)
    before = _quiet_and_moving(rng, 6, 4)
    worse = worse_figures(before, _quiet_and_moving(rng, 1, 3, slower=9.0))
    logs = np.log([1e6 * each.waited_s["get"][1] / each.waited_s["get"][0] for each in before])
    quiet, moving = logs[:6], logs[6:]
    deviation = math.sqrt((5 * quiet.var(ddof=1) + 3 * moving.var(ddof=1)) / 8)
    # 1% over two windows and four figures; three of four intervals are predicted from four ones.
    quantile = stats.t.ppf(1 - 0.01 / 8, 8)
    spread = quantile * deviation * math.sqrt(1 / 4 + (1 / 4) ** 2 / 6 + (3 / 4) ** 2 / 4)
    mean = quiet.mean() / 4 + 3 * moving.mean() / 4
    assert worse[0].before == pytest.approx(math.exp(mean))
    assert worse[0].limit == pytest.approx(math.exp(mean + spread))


def test_more_data_moves_only_if_more_than_in_any_interval_before() -> None:
    rng = np.random.default_rng(10)
    before = list(intervals(rng, 12))
    assert not moves_more(before, list(intervals(rng, 4)))
    assert moves_more(before, list(intervals(rng, 4, moved=20.0)))
