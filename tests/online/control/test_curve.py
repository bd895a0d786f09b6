"""Tests for the curve of what policies cost."""

import pytest

from rocktune.online.control.curve import cheapest_policy


def cost(policy: int) -> float:
    """Smallest at K = 3: 1 + 2 K + 18 / K has its minimum at the root of 18 / 2."""
    return 1 + 2 * policy + 18 / policy


def test_the_minimum_lies_where_it_is_by_hand() -> None:
    policies = [1, 2, 5, 10]
    assert cheapest_policy(policies, [cost(policy) for policy in policies], 10) == 3


def test_costs_count_from_any_zero_and_in_any_unit() -> None:
    policies = [1, 2, 5, 10]
    assert cheapest_policy(policies, [1e-6 * cost(policy) - 7 for policy in policies], 10) == 3


@pytest.mark.parametrize(("slope", "best"), [(1.0, 1), (-1.0, 10)])
def test_what_only_rises_or_falls_is_best_at_an_end(slope: float, best: int) -> None:
    assert cheapest_policy([2, 4, 8], [2 * slope, 4 * slope, 8 * slope], 10) == best


def test_a_merge_that_falls_to_a_policy_is_not_held_against_it() -> None:
    policies = [1, 2, 3, 5, 10] * 3
    costs = [cost(policy) for policy in policies]
    costs[2] = 1000
    assert cheapest_policy(policies, costs, 10) == 3


def test_two_policies_tell_nothing_unless_there_are_no_more() -> None:
    assert cheapest_policy([1, 2, 1], [1, 2, 1], 10) is None
    assert cheapest_policy([], [], 10) is None
    assert cheapest_policy([1, 2, 1], [2, 1, 2], 2) == 2
