"""Tests for learning level by level, on a modelled store with the cost curve, which needs no PyTorch."""

from pathlib import Path
from typing import Any

import pytest
from tests.online.control.drives import OPERATIONS, driven, policies_of, store

from rocktune.online.control import Curve, Mission
from rocktune.online.control.checkpoint import keep, restore
from rocktune.online.control.levelwise import LearningDivergedError, Levelwise
from rocktune.online.flsm import Filters


def test_a_new_workload_is_learned_and_a_known_one_is_restored_at_once() -> None:
    served, controller = store(), Curve("uniform")
    driven(controller, served, 0.1, 60)
    first = policies_of(served)
    for _ in range(3):
        decision = controller.decide(served.serve(OPERATIONS, 0.9))
    assert not decision.converged
    driven(controller, served, 0.9, 60)
    assert policies_of(served) != first
    assert driven(controller, served, 0.1, 5) == 1
    assert controller.decide(served.serve(OPERATIONS, 0.1)).converged
    assert len(controller.known) == 2
    assert controller.known[0].policies[0] == first[0]


@pytest.mark.parametrize("filters", ["uniform", "monkey"])
def test_sessions_too_short_to_learn_in_are_learned_from_one_after_the_other(filters: Filters) -> None:
    served, controller = store(filters), Curve(filters, passes=2)
    settled: dict[float, int] = {}
    for session in range(12):
        read_share = 0.1 if session % 2 else 0.9
        # Both passes take 18 missions, and the first of another workload is not learned from.
        for _ in range(10):
            decision = controller.decide(served.serve(OPERATIONS, read_share))
            for level, policy in decision.policies.items():
                served.set_policy(level, policy)
        if decision.converged:
            settled.setdefault(read_share, session)
    assert sorted(settled) == [0.1, 0.9]
    assert min(settled.values()) >= 2


def test_with_monkey_filters_two_levels_learn_one_after_the_other() -> None:
    served, controller = store("monkey"), Curve("monkey")
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
    served, controller = store(), Curve("uniform")
    driven(controller, served, 0.5, 60)
    controller.decide(served.serve(OPERATIONS, 0.95))
    assert controller.decide(served.serve(OPERATIONS, 0.5)).converged


class Diverging:
    """A learner that diverges in its first mission and then settles on K = 4."""

    level = 1
    pursuit = None
    missions = 0

    def learn(self, mission: Mission) -> int:
        self.missions += 1
        if self.missions == 1:
            raise LearningDivergedError(self.level)
        return 4

    def settled(self) -> int | None:
        return 4 if self.missions == 3 else None

    def restart(self, pursuit: Any = None) -> None:
        pass

    def arrays(self) -> dict[str, Any]:
        return {}

    def restore(self, arrays: Any) -> None:
        pass


def test_a_learner_that_diverges_is_named_and_asked_again() -> None:
    served, controller = store(), Levelwise("diverging", [Diverging()])
    decision = controller.decide(served.serve(OPERATIONS, 0.5))
    assert decision.why == "learning of level 1 has diverged; it starts again"
    assert not decision.policies
    assert driven(controller, served, 0.5, 2) == 2
    assert policies_of(served) == [4] * len(policies_of(served))


def test_known_workloads_are_kept_for_the_same_controller(tmp_path: Path) -> None:
    served, controller = store(), Curve("uniform")
    driven(controller, served, 0.5, 60)
    keep(controller, tmp_path / "model")
    again = Curve("uniform")
    restore(again, tmp_path / "model")
    assert again.known == controller.known
    assert again.decide(served.serve(OPERATIONS, 0.5)).converged, "it knows the workload"
    other = Levelwise("other", [Diverging()])
    with pytest.raises(ValueError, match="its format is not 'rocktune other 2'"):
        restore(other, tmp_path / "model")
    assert other.known == []
