"""Tests for the curve of what policies cost."""

import pytest

from rocktune.online.control.curve import cheapest_policy

POLICIES = [1, 2, 5, 10]


def reads_s(policy: int) -> float:
    """What reads cost: 3 us and 2 us a run."""
    return 3e-6 + 2e-6 * policy


def merges_s(policy: int) -> float:
    """What merges cost: 4 us for each of (10 / K + 1) / 2 writings."""
    return 4e-6 * (10 / policy + 1) / 2


def test_the_minimum_lies_where_it_is_by_hand() -> None:
    # 2 K + 20 / K has it at the root of 10; K = 3 gives 12.67, K = 4 gives 13.
    reads = [reads_s(policy) for policy in POLICIES]
    assert cheapest_policy(POLICIES, reads, [merges_s(policy) for policy in POLICIES], 10) == 3


def test_merges_that_come_later_than_their_policy_count_all_the_same() -> None:
    # All of a sweep's in one mission, that of K = 10.
    merges = [0.0, 0.0, 0.0, sum(merges_s(policy) for policy in POLICIES)]
    assert cheapest_policy(POLICIES, [reads_s(policy) for policy in POLICIES], merges, 10) == 3


@pytest.mark.parametrize(("read_us", "merge_us", "best"), [(1.0, 0.0, 1), (0.0, 1.0, 10), (-1.0, 1.0, 10)])
def test_what_costs_nothing_leaves_it_to_the_other(read_us: float, merge_us: float, best: int) -> None:
    reads = [1e-6 * read_us * policy for policy in POLICIES]
    assert cheapest_policy(POLICIES, reads, [merge_us * merges_s(policy) for policy in POLICIES], 10) == best


def test_one_policy_tells_nothing() -> None:
    assert cheapest_policy([2, 2], [1.0, 2.0], [1.0, 1.0], 10) is None
    assert cheapest_policy([], [], [], 10) is None
