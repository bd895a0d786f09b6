"""Tests for the passes over all policies."""

import pytest

from rocktune.online.control.passes import Passes


@pytest.mark.parametrize(
    ("count", "begin", "shown"),
    [
        (2, 1, [1, 2, 3, 4, 3, 2, 1]),
        (1, 1, [1, 2, 3, 4]),
        (2, 3, [3, 4, 3, 2, 1]),
        (1, 4, [4, 3, 2, 1]),
        (2, 4, [4, 3, 2, 1, 2, 3, 4]),
    ],
)
def test_passes_go_to_an_end_and_back(count: int, begin: int, shown: list[int]) -> None:
    passes, policies = Passes.begun(count), [begin]
    while (step := passes.step(policies[-1], size_ratio=4)) is not None:
        policies.append(policies[-1] + step)
    assert policies == shown
    assert passes.done


def test_a_store_that_keeps_its_policy_does_not_hold_them_up() -> None:
    passes = Passes.begun(2)
    steps = [passes.step(2, size_ratio=4) for _ in range(9)]
    assert steps == [1] * 8 + [None]
