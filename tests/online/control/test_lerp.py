"""Tests for Lerp, whose actor alone decides. They need PyTorch."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.online.control.drives import OPERATIONS, driven, policies_of, store

from rocktune.online.control import LevelMission, Mission, Served
from rocktune.online.control.checkpoint import keep, restore
from rocktune.online.flsm import Filters

pytestmark = pytest.mark.rl


def lerp(filters: Filters = "uniform", **settings: Any) -> Any:
    from rocktune.online.control.actor import ActorSettings
    from rocktune.online.control.lerp import Lerp, LerpSettings

    return Lerp(filters, LerpSettings(actor=ActorSettings(**settings)))


class Wanting:
    """An agent that wants one step for ever and learns nothing."""

    def __init__(self, step: int) -> None:
        self.step = step
        self.replay: Any = self

    def add(self, *experience: Any) -> None:
        pass

    def learn(self, steps: int) -> None:
        pass

    def is_finite(self) -> bool:
        return True

    def act(self, state: Any) -> Any:
        return np.array([self.step], np.float32)


@pytest.mark.parametrize(("step", "policy"), [(1, 10), (-1, 1)])
@pytest.mark.parametrize("read_share", [0.1, 0.9])
def test_the_actor_alone_decides_whatever_is_cheapest(step: int, policy: int, read_share: float) -> None:
    served, controller = store(), lerp(noise=0.0, min_noise=0.0)
    controller.learners[0].agent = Wanting(step)
    driven(controller, served, read_share, 60)
    assert policies_of(served) == [policy] * len(policies_of(served))


def test_it_does_not_settle_while_it_explores() -> None:
    served, controller = store(), lerp(noise=0.6, min_noise=0.2, noise_missions=10, window=5)
    controller.learners[0].agent = Wanting(0)
    # Both passes; 10 missions until the noise is 0.2, and five of the window.
    assert driven(controller, served, 0.5, 200) >= 18 + 10 + 5


def test_an_actor_that_never_rests_settles_in_the_end() -> None:
    served, controller = store(), lerp(noise=2.0, min_noise=2.0, max_missions=40)
    assert driven(controller, served, 0.5, 50) == 40


def test_with_few_lookups_it_learns_to_have_many_runs() -> None:
    served, controller = store(), lerp()
    driven(controller, served, 0.1, 600)
    assert len(set(policies_of(served))) == 1, (
        "with uniform filters all levels get what the first has learned"
    )
    assert policies_of(served)[0] >= 4


def test_with_monkey_filters_two_levels_learn() -> None:
    assert [learner.level for learner in lerp("monkey").learners] == [1, 2]


def test_latencies_that_are_no_numbers_end_in_a_new_beginning() -> None:
    controller = lerp()
    nothing = Served(0, 0.0, 0, 0.0, 0)
    broken = Mission(50, 0, 50, float("nan"), nothing, nothing, 10, (LevelMission(1, 1, 0.5, *[0] * 7),))
    whys = {controller.decide(broken).why for _ in range(60)}
    assert any("has diverged; it starts again" in why for why in whys)


def test_what_was_learned_is_kept(tmp_path: Path) -> None:
    served, controller = store(), lerp(max_missions=30)
    driven(controller, served, 0.5, 60)
    keep(controller, tmp_path / "model")
    again = lerp()
    restore(again, tmp_path / "model")
    assert again.known == controller.known
    assert again.decide(served.serve(OPERATIONS, 0.5)).converged, "it knows the workload"
    with pytest.raises(ValueError, match="missing"):
        restore(lerp("monkey"), tmp_path / "model")
