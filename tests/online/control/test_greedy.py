"""Tests for the controllers that learn nothing, and for how users name controllers."""

from collections.abc import Sequence

import pytest

from rocktune.errors import UserError
from rocktune.online.control import Greedy, LevelMission, Mission, Served, Static, parse_controller

NOTHING = Served(0, 0.0, 0, 0.0, 0)


def mission(lookups: int, *policies: int) -> Mission:
    return by_level([lookups] * len(policies), policies, lookups)


def by_level(reached: Sequence[float], policies: Sequence[int], lookups: int, scans: int = 0) -> Mission:
    levels = tuple(
        LevelMission(policy, policy, 0.5, each, *[0.0] * 6)
        for each, policy in zip(reached, policies, strict=True)
    )
    return Mission(lookups, scans, 100 - lookups, 1.0, NOTHING, NOTHING, 10, levels)


@pytest.mark.parametrize(
    ("lookups", "policies", "changes"),
    [
        (50, (3, 3), {}),
        (20, (3, 10), {1: 4}),
        (80, (3, 1), {1: 2}),
        (80, (5, 7), {1: 4, 2: 6}),
        (33, (5, 7), {}),
    ],
)
def test_greedy_goes_a_step_where_a_threshold_is_crossed(
    lookups: int, policies: tuple[int, ...], changes: dict[int, int]
) -> None:
    decision = Greedy(0.33, 0.67).decide(mission(lookups, *policies))
    assert decision.policies == changes
    assert decision.converged == (not changes)


def test_greedy_looks_at_each_level_by_itself() -> None:
    # Level 1 answers 50 of 80 lookups and level 2 another 26, so that 30 and 4 go further, with 20 writes.
    decision = Greedy(0.33, 0.67).decide(by_level([80, 30, 4], [5, 5, 5], lookups=80))
    assert decision.policies == {1: 4, 3: 6}
    assert decision.why == "reads by level: 80%, 60%, 17%"


def test_a_scan_reads_every_level() -> None:
    decision = Greedy(0.33, 0.67).decide(by_level([80, 4], [5, 5], lookups=80, scans=100))
    assert decision.policies == {1: 4, 2: 4}


def test_static_changes_nothing() -> None:
    assert Static().decide(mission(1, 1)).policies == {}


@pytest.mark.parametrize(
    ("text", "policies"),
    [
        ("static:5", [5]),
        ("lazy-leveling", "lazy-leveling"),
        ("greedy:0.2,0.8", [1]),
        ("lerp", [1]),
        ("curve", [1]),
        ("cost", [1]),
    ],
)
def test_controllers_have_names(text: str, policies: object) -> None:
    assert parse_controller(text, 10).policies == policies


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("lrp", "did you mean 'lerp'"),
        ("static", "needs a policy"),
        ("static:11", "needs a K from 1 to the size ratio, 10"),
        ("static:1.5", "needs a K from 1 to the size ratio, 10"),
        ("greedy:0.5", "two thresholds"),
        ("greedy:0.8,0.2", "must be shares from 0 to 1, the lower one first"),
        ("greedy:a,b", "two thresholds"),
        ("lazy:3", "takes no numbers"),
        ("cost:3", "takes no numbers"),
    ],
)
def test_what_is_no_controller_is_refused_in_a_line(text: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        parse_controller(text, 10)
