"""Tests for the agent. They need PyTorch."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.rl


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def agent(seed: int = 1) -> Any:
    from rocktune.online.control.ddpg import DdpgAgent, DdpgSettings

    return DdpgAgent(1, 1, DdpgSettings(capacity=500, neurons=32), seed)


def train(learner: Any, steps: int = 400) -> None:
    """On a bandit whose best action is half of the state."""
    rng = np.random.default_rng(1)
    for _ in range(steps):
        state = rng.uniform(-1, 1, 1).astype(np.float32)
        action = rng.uniform(-1, 1, 1).astype(np.float32)
        reward = -float((action[0] - state[0] / 2) ** 2)
        learner.replay.add(state, action, reward, state, False)
    learner.learn(1500)


def test_finds_the_action_that_pays() -> None:
    learner = agent()
    train(learner)
    for state in (-0.8, 0.0, 0.8):
        at = np.array([state], np.float32)
        assert learner.act(at)[0] == pytest.approx(state / 2, abs=0.15)
        best, worse = np.array([state / 2], np.float32), np.array([state / 2 + 0.6], np.float32)
        assert learner.value(at, best) > learner.value(at, worse)


def test_the_same_seed_makes_the_same_agent() -> None:
    made = []
    for _ in range(2):
        learner = agent()
        train(learner, 50)
        made.append(learner.arrays())
    assert all(np.array_equal(made[0][name], made[1][name]) for name in made[0])


def test_what_was_learned_can_be_taken_over() -> None:
    learner, other = agent(), agent(seed=2)
    train(learner, 600)
    other.restore(learner.arrays())
    assert len(other.replay) == len(learner.replay) == 500
    state = np.array([0.3], np.float32)
    assert np.array_equal(other.act(state), learner.act(state))


def test_what_is_not_its_own_is_refused_and_changes_nothing() -> None:
    learner = agent()
    train(learner, 50)
    before = learner.arrays()
    damaged = dict(before)
    del damaged["weights.actor.0.bias"]
    infinite = before | {"weights.critic.0.bias": np.full_like(before["weights.critic.0.bias"], np.inf)}
    short = before | {"replay.reward": before["replay.reward"][:3]}
    for arrays in (damaged, infinite, short, {}):
        with pytest.raises(ValueError, match="missing, of another shape, or not finite"):
            learner.restore(arrays)
    after = learner.arrays()
    assert all(np.array_equal(before[name], after[name]) for name in before)


def test_notices_weights_that_are_no_numbers() -> None:
    learner = agent()
    assert learner.is_finite()
    learner.replay.add(
        np.zeros(1, np.float32), np.zeros(1, np.float32), np.nan, np.zeros(1, np.float32), True
    )
    learner.learn(1)
    assert not learner.is_finite()
