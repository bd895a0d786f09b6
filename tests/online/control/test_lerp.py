"""Tests for Lerp on a store that is modelled. They need PyTorch."""

from pathlib import Path
from typing import Any

import pytest

from rocktune.online.control import LevelMission, Mission, Served
from rocktune.online.flsm import Filters
from rocktune.online.modelled import ModelledStore, StoreCosts

pytestmark = pytest.mark.rl

OPERATIONS = 20_000


def lerp(filters: Filters = "uniform", **settings: Any) -> Any:
    from rocktune.online.control.learner import LearnerSettings
    from rocktune.online.control.lerp import Lerp, LerpSettings

    return Lerp(filters, LerpSettings(learner=LearnerSettings(**settings)))


def store(filters: Filters = "uniform") -> ModelledStore:
    return ModelledStore(
        StoreCosts(noise=0.02),
        entries=400_000,
        filters=filters,
        policies=[1],
    )


def driven(controller: Any, served: ModelledStore, read_share: float, most: int) -> int:
    """Serves until the controller has settled; returns after how many missions."""
    for number in range(1, most + 1):
        decision = controller.decide(served.serve(OPERATIONS, read_share))
        for level, policy in decision.policies.items():
            served.set_policy(level, policy)
        if decision.converged:
            return number
    raise AssertionError(f"not settled after {most} missions")


def latency_us(policies: list[int], read_share: float) -> float:
    served = ModelledStore(StoreCosts(noise=0), entries=400_000, policies=policies)
    missions = [served.serve(OPERATIONS, read_share) for _ in range(100)]
    return sum(mission.latency_s for mission in missions) * 1e4


def test_finds_a_policy_that_is_nearly_as_good_as_the_best() -> None:
    best_us = min(latency_us([policy], 0.1) for policy in range(1, 11))
    worst_us = latency_us([1], 0.1)
    served, controller = store(), lerp()
    driven(controller, served, 0.1, 320)
    found = [level.policy for level in served.shape().levels if level.run_bytes]
    assert len(set(found)) == 1, "with uniform filters all levels get what the first has learned"
    assert latency_us(found, 0.1) < best_us + 0.25 * (worst_us - best_us)


def test_begins_anew_with_another_workload_and_knows_the_first_again() -> None:
    served, controller = store(), lerp(max_missions=40)
    driven(controller, served, 0.1, 60)
    first = [level.policy for level in served.shape().levels if level.run_bytes]
    for _ in range(3):
        decision = controller.decide(served.serve(OPERATIONS, 0.9))
    assert not decision.converged
    driven(controller, served, 0.9, 60)
    assert driven(controller, served, 0.1, 5) == 1
    served_again = controller.decide(served.serve(OPERATIONS, 0.1))
    assert served_again.converged
    assert len(controller.known) == 2
    assert controller.known[0].policies[0] == first[0]


@pytest.mark.parametrize("filters", ["uniform", "monkey"])
def test_sessions_too_short_to_learn_in_are_learned_from_one_after_the_other(filters: Filters) -> None:
    served, controller = store(filters), lerp(filters, max_missions=40)
    settled: dict[float, int] = {}
    for session in range(12):
        read_share = 0.1 if session % 2 else 0.9
        for _ in range(20):  # learning takes longer than both passes, which are 36 missions
            decision = controller.decide(served.serve(OPERATIONS, read_share))
            for level, policy in decision.policies.items():
                served.set_policy(level, policy)
        if decision.converged:
            settled.setdefault(read_share, session)
    assert sorted(settled) == [0.1, 0.9]
    assert min(settled.values()) >= 2


def test_with_monkey_filters_two_levels_learn_one_after_the_other() -> None:
    served, controller = store("monkey"), lerp("monkey", max_missions=35)
    phases = []
    for _ in range(100):
        decision = controller.decide(served.serve(OPERATIONS, 0.5))
        phases.append(decision.phase)
        for level, policy in decision.policies.items():
            assert decision.phase in ("converged", "level 2") or level == 1
            served.set_policy(level, policy)
        if decision.converged:
            break
    assert phases[0] == "level 1"
    assert phases[-1] == "converged"
    assert "level 2" in phases


def test_a_single_odd_mission_is_no_other_workload() -> None:
    served, controller = store(), lerp(max_missions=30)
    driven(controller, served, 0.5, 60)
    controller.decide(served.serve(OPERATIONS, 0.95))
    assert controller.decide(served.serve(OPERATIONS, 0.5)).converged


def test_latencies_that_are_no_numbers_end_in_a_new_beginning() -> None:
    controller = lerp()
    nothing = Served(0, 0.0, 0, 0.0, 0)
    broken = Mission(50, 0, 50, float("nan"), nothing, nothing, 10, (LevelMission(1, 1, 0.5, *[0] * 7),))
    whys = {controller.decide(broken).why for _ in range(60)}
    assert any("has diverged; it starts again" in why for why in whys)


def test_what_was_learned_is_kept(tmp_path: Path) -> None:
    from rocktune.online.control.checkpoint import keep, restore

    served, controller = store(), lerp(max_missions=30)
    driven(controller, served, 0.5, 60)
    keep(controller, tmp_path / "model")
    again = lerp()
    restore(again, tmp_path / "model")
    assert again.known == controller.known
    assert again.decide(served.serve(OPERATIONS, 0.5)).converged, "it knows the workload"
    with pytest.raises(ValueError, match="missing"):
        restore(lerp("monkey"), tmp_path / "model")
