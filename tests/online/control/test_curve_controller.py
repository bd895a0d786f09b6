"""Tests for the controller that takes the minimum of the cost curve."""

import pytest
from tests.online.control.drives import OPERATIONS, driven, latencies_us, policies_of, store

from rocktune.online.control import Curve


@pytest.mark.parametrize("read_share", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("begins_at", [1, 10])
def test_settles_after_a_pass_on_a_policy_nearly_as_good_as_the_best(
    read_share: float, begins_at: int
) -> None:
    expected_us = latencies_us(read_share)
    best_us, worst_us = min(expected_us.values()), max(expected_us.values())
    served = store(policy=begins_at)
    # Nine steps, and the mission that shows the last.
    assert driven(Curve("uniform"), served, read_share, 30) == 10
    (found,) = set(policies_of(served))
    assert expected_us[found] < best_us + 0.3 * (worst_us - best_us)


def test_two_passes_take_twice_the_missions() -> None:
    assert driven(Curve("uniform", passes=2), store(), 0.5, 30) == 19


def test_a_store_that_refuses_other_policies_keeps_its_own() -> None:
    served, controller = store(policy=3), Curve("uniform")
    for _ in range(30):
        decision = controller.decide(served.serve(OPERATIONS, 0.5))
        if decision.converged:
            break
    assert decision.converged
    assert decision.policies == {}
