"""Tests for the curve of what policies cost."""

import pytest

from rocktune.online.control.curve import Tried, cheapest_policy

POLICIES = [1, 2, 5, 10]
# Each run costs reads 4 us, each writing 4 us: 2 K + 20 / K and what all policies have in common. The minimum
# is at the root of 10; K = 3 gives 12.67, K = 4 gives 13.
RUN_S = WRITING_S = 4e-6
BEST = 3


def merges_s(policy: int) -> float:
    """What (10 / K + 1) / 2 writings cost."""
    return WRITING_S * (10 / policy + 1) / 2


def missions(ends: list[int], policies: list[int]) -> list[Tried]:
    """Missions of so many runs at their ends."""
    begins = [ends[0], *ends[:-1]]
    return [
        Tried(policy, end, RUN_S * (begin + end) / 2, merges_s(policy))
        for begin, end, policy in zip(begins, ends, policies, strict=True)
    ]


def test_the_minimum_lies_where_it_is_by_hand() -> None:
    assert cheapest_policy(missions([1, 2, 3, 6], POLICIES), 10) == BEST


def test_runs_that_are_still_there_from_a_policy_before_are_not_charged_to_the_new_one() -> None:
    # The other way round than policies ask for.
    assert cheapest_policy(missions([9, 7, 2, 1], POLICIES), 10) == BEST


def test_merges_that_come_later_than_their_policy_count_all_the_same() -> None:
    # All of a sweep's in one mission, that of K = 10.
    together = sum(merges_s(policy) for policy in POLICIES)
    tried = [
        Tried(each.policy, each.runs, each.vain_s, together if each.policy == 10 else 0.0)
        for each in missions([1, 2, 3, 6], POLICIES)
    ]
    assert cheapest_policy(tried, 10) == BEST


@pytest.mark.parametrize(("run_us", "merge_us", "best"), [(1.0, 0.0, 1), (0.0, 1.0, 10)])
def test_what_costs_nothing_leaves_it_to_the_other(run_us: float, merge_us: float, best: int) -> None:
    tried = [Tried(policy, policy, 1e-6 * run_us, merge_us * merges_s(policy)) for policy in POLICIES]
    assert cheapest_policy(tried, 10) == best


def test_a_level_without_runs_costs_reads_nothing() -> None:
    assert cheapest_policy([Tried(policy, 0, 0.0, 1e-6) for policy in POLICIES], 10) == 10


def test_one_policy_tells_nothing() -> None:
    assert cheapest_policy([Tried(2, 1, 1.0, 1.0)] * 2, 10) is None
    assert cheapest_policy([], 10) is None
