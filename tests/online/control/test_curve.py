"""Tests for the curve of what policies cost."""

import pytest

from rocktune.online.control.curve import Tried, cheapest_policy, runs_of, writings_of
from rocktune.online.flsm.simulator import FlsmSimulator
from rocktune.units import MIB

POLICIES = [1, 2, 5, 10]
# Each run costs reads 4 us, each writing 4 us. K = 2: 1.3 runs, 3 writings; K = 3: 1.7 and 2.2; K = 4: 2.2
# and 1.8.
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
        Tried(each.policy, each.runs, each.false_positive_read_s, together if each.policy == 10 else 0.0)
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


@pytest.mark.parametrize(
    ("policy", "runs", "writings"),
    [
        # Empty, then one run to which nine pushes come; each is written as often as any follow, and once.
        (1, 0.9, 5.5),
        # Runs become full with the third, the seventh and the tenth push: 0 1 1 1 2 2 2 2 3 3; 6 + 10 + 6.
        (3, 1.7, 2.2),
        # With 1, 2, 4, 5, 6, 7, 9 and 10: 0 1 2 3 3 4 5 6 7 7; two runs of two, six of one.
        (8, 3.8, 1.2),
        (10, 4.5, 1.0),
    ],
)
def test_runs_and_writings_are_what_they_are_by_hand(policy: int, runs: float, writings: float) -> None:
    assert runs_of(policy, 10) == pytest.approx(runs)
    assert writings_of(policy, 10) == pytest.approx(writings)


@pytest.mark.parametrize(
    ("policy", "size_ratio"),
    [(policy, ratio) for ratio in (2, 4, 7, 10, 13) for policy in range(1, ratio + 1)],
)
def test_runs_and_writings_are_those_of_the_tree(policy: int, size_ratio: int) -> None:
    tree = FlsmSimulator(
        policies=[policy] * 4, size_ratio=size_ratio, levels=5, level0_runs=0, write_buffer_bytes=MIB
    )
    fillings = 3
    tree.write(size_ratio**2 * MIB)
    runs, begin = 0, tree.level_bytes[0]
    for _ in range(fillings * size_ratio):
        tree.write(MIB)
        runs += tree.shape().runs_of(1)
    # What is written was read before.
    written = (tree.level_bytes[0] - begin) / 2
    assert runs / (fillings * size_ratio) == pytest.approx(runs_of(policy, size_ratio))
    assert written / (fillings * size_ratio * MIB) == pytest.approx(writings_of(policy, size_ratio))
