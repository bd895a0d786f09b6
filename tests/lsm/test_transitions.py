import pytest

from rocktune.lsm import (
    flexible_additional_pages,
    greedy_additional_pages,
    greedy_transition_pages,
    lazy_additional_pages,
    lazy_additional_written_pages,
    lazy_transition_delay_s,
)

CASE = {"capacity_bytes": 1_024_000, "filled": 0.5}
READ = {"false_positive_rate": 0.01, "lookup_share": 0.5, "entry_bytes": 1024}


def test_the_case_study_of_table_2() -> None:
    # T = 10, B = 4096, E = 1024, f = 0.01, x = g = 1/2, K = 5, K' = 4.
    assert greedy_additional_pages(**CASE, size_ratio=10, policy_below=5, page_bytes=4096) == 125
    lazy = lazy_additional_pages(**CASE, **READ, policy=5, new_policy=4, size_ratio=10, page_bytes=4096)
    assert lazy == pytest.approx(3.75)
    assert flexible_additional_pages(**CASE, **READ, policy=5, new_policy=4) == pytest.approx(2.5)


def test_towards_more_runs_flexible_costs_nothing_and_lazy_merges_too_much() -> None:
    assert flexible_additional_pages(**CASE, **READ, policy=4, new_policy=5) == 0
    # 10 * 1,024,000 * 1/2 * 1 / (2 * 4096 * 4 * 5)
    lazy = lazy_additional_pages(**CASE, **READ, policy=4, new_policy=5, size_ratio=10, page_bytes=4096)
    assert lazy == pytest.approx(31.25)


def test_run_by_run_a_change_within_a_run_leaves_its_dearer_part() -> None:
    # T C / B = 2500. K = 1: the half that is left costs (1 - 1/4) / 2; K' = 5: half of a fifth, and two.
    sizes = {"capacity_bytes": 1_024_000, "size_ratio": 10, "page_bytes": 4096}
    half = lazy_additional_written_pages(**sizes, filled=0.5, policy=1, new_policy=5)
    assert half == pytest.approx(2500 * (0.375 - (0.5 / 10 + 0.25 / 50)))
    # At the edges of runs, and from an empty level on, it is table 2's.
    for filled, policy, new_policy in ((0.0, 1, 5), (0.5, 2, 4), (0.75, 4, 8), (1.0, 1, 5)):
        change = sizes | {"filled": filled, "policy": policy, "new_policy": new_policy}
        assert lazy_additional_written_pages(**change) == pytest.approx(
            lazy_additional_pages(**change, **READ)
        )


def test_a_full_level_costs_nothing_beyond() -> None:
    full = CASE | {"filled": 1.0}
    assert greedy_additional_pages(**full, size_ratio=10, policy_below=5, page_bytes=4096) == 0
    assert flexible_additional_pages(**full, **READ, policy=5, new_policy=4) == 0
    assert lazy_additional_pages(**full, **READ, policy=5, new_policy=4, size_ratio=10, page_bytes=4096) == 0


def test_what_a_transition_costs_at_once_and_how_long_it_waits() -> None:
    assert greedy_transition_pages(1_024_000, 4096) == 125
    # 1,024,000 / (2 * 100 * 1024)
    assert lazy_transition_delay_s(1_024_000, 100, 1024) == 5
