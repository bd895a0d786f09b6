import numpy as np
from tests.deploy.watch.made import intervals

from rocktune.deploy.watch import worse_figures


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
