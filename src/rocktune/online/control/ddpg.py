"""Deep deterministic policy gradient: an actor and a critic that learn from what was tried.

Lillicrap et al., "Continuous control with deep reinforcement learning", ICLR 2016,
algorithm 1. Needs PyTorch.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController
from torch import nn

Reals = NDArray[np.float32]


@dataclass(frozen=True)
class DdpgSettings:
    """Hyper-parameters of an agent.

    Attributes:
        layers: fully connected ones with ReLU, in the actor and in the critic; RusKey's 3.
        neurons: of each; RusKey's 128.
        actor_rate: learning rate of Adam, above 0.
        critic_rate: likewise.
        discount: gamma, from 0 (only the next reward counts) to below 1.
        target_rate: tau, by which the target networks follow at each step, above 0 and at most 1.
        batch: experiences that are learned from at each step.
        capacity: of the replay buffer, in experiences; the oldest go first.
        saturation: weight of the actor's squared output before tanh in its loss, at least 0; where tanh is
            flat the actor would learn no more.
    """

    layers: int = 3
    neurons: int = 128
    actor_rate: float = 1e-3
    critic_rate: float = 1e-3
    discount: float = 0.99
    target_rate: float = 0.005
    batch: int = 64
    capacity: int = 10_000
    saturation: float = 1e-2


class ReplayBuffer:
    """Experiences as arrays: state, action, reward, next state, and whether an episode went on after it."""

    def __init__(self, capacity: int, states: int, actions: int) -> None:
        """Makes an empty one for states and actions of so many numbers."""
        widths = {"state": states, "action": actions, "reward": 1, "next_state": states, "goes_on": 1}
        self.columns = {name: np.zeros((capacity, width), np.float32) for name, width in widths.items()}
        self.count = 0

    def __len__(self) -> int:
        """Returns how many are held."""
        return min(self.count, len(self.columns["reward"]))

    def add(self, state: Reals, action: Reals, reward: float, next_state: Reals, goes_on: bool) -> None:
        """Adds one, in place of the oldest if it is full."""
        place = self.count % len(self.columns["reward"])
        values: tuple[Any, ...] = (state, action, reward, next_state, goes_on)
        for column, value in zip(self.columns.values(), values, strict=True):
            column[place] = value
        self.count += 1

    def sample(self, count: int, rng: np.random.Generator) -> dict[str, torch.Tensor]:
        """Returns so many, drawn with replacement, as tensors of shape (count, width)."""
        chosen = rng.integers(len(self), size=count)
        return {name: torch.from_numpy(column[chosen]) for name, column in self.columns.items()}


class DdpgAgent:
    """Learns which action pays in which state. Not thread-safe.

    Actions have values from -1 to 1 (tanh). Everything random comes from the seed: the same experiences make
    the same agent. It keeps to the thread that calls it, whatever PyTorch is set to elsewhere: shared out
    over threads networks this small take several times as long, and another program's processors.
    """

    def __init__(self, states: int, actions: int, settings: DdpgSettings, seed: int) -> None:
        """Makes an agent that has learned nothing, for states and actions of so many numbers."""
        self._settings = settings
        self._rng = np.random.default_rng(seed)
        self._pools = ThreadpoolController()
        self.replay = ReplayBuffer(settings.capacity, states, actions)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self._actor, self._target_actor = (_network(states, actions, settings) for _ in range(2))
            self._critic, self._target_critic = (_network(states + actions, 1, settings) for _ in range(2))
        self._target_actor.load_state_dict(self._actor.state_dict())
        self._target_critic.load_state_dict(self._critic.state_dict())
        self._actor_adam = torch.optim.Adam(self._actor.parameters(), settings.actor_rate, fused=True)
        self._critic_adam = torch.optim.Adam(self._critic.parameters(), settings.critic_rate, fused=True)

    def act(self, state: Reals, noise: float = 0.0) -> Reals:
        """Returns what the actor would do, with Gaussian noise of that deviation for exploring."""
        with torch.no_grad():
            action: Reals = self._actor(torch.from_numpy(state).unsqueeze(0)).tanh().squeeze(0).numpy()
        if noise:
            action = action + self._rng.normal(0, noise, action.shape).astype(np.float32)
        return np.clip(action, -1, 1)

    def value(self, state: Reals, action: Reals) -> float:
        """Returns what the critic expects of an action: the sum of discounted rewards."""
        with torch.no_grad():
            both = torch.from_numpy(np.concatenate([state, action])).unsqueeze(0)
            return float(self._critic(both).item())

    def learn(self, steps: int = 1) -> None:
        """Goes so many steps of gradient descent, each on a batch from the replay buffer."""
        if len(self.replay) == 0:
            return
        # PyTorch's own setting is the whole process's; this one is the thread's.
        with self._pools.limit(limits=1, user_api="openmp"):
            for _ in range(steps):
                batch = self.replay.sample(self._settings.batch, self._rng)
                self._learn_critic(batch)
                self._learn_actor(batch["state"])
                self._follow(self._target_actor, self._actor)
                self._follow(self._target_critic, self._critic)

    def _learn_critic(self, batch: Mapping[str, torch.Tensor]) -> None:
        next_state = batch["next_state"]
        with torch.no_grad():
            then = self._target_critic(torch.cat([next_state, self._target_actor(next_state).tanh()], 1))
            wanted = batch["reward"] + self._settings.discount * batch["goes_on"] * then
        expected = self._critic(torch.cat([batch["state"], batch["action"]], 1))
        self._descend(self._critic_adam, nn.functional.mse_loss(expected, wanted))

    def _learn_actor(self, state: torch.Tensor) -> None:
        before_tanh = self._actor(state)
        paid = self._critic(torch.cat([state, before_tanh.tanh()], 1))
        loss = self._settings.saturation * before_tanh.square().mean() - paid.mean()
        self._descend(self._actor_adam, loss)

    @staticmethod
    def _descend(optimizer: torch.optim.Optimizer, loss: torch.Tensor) -> None:
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    def _follow(self, target: nn.Module, source: nn.Module) -> None:
        with torch.no_grad():
            for slow, fast in zip(target.parameters(), source.parameters(), strict=True):
                slow.lerp_(fast, self._settings.target_rate)

    def is_finite(self) -> bool:
        """Says whether no weight has become infinite or no number."""
        return all(bool(torch.isfinite(weights).all()) for weights in self._weights().values())

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Returns all that was learned, and the replay buffer, as plain arrays by name."""
        kept: dict[str, NDArray[np.generic]] = {
            f"weights.{name}": weights.numpy().copy() for name, weights in self._weights().items()
        }
        held = len(self.replay)
        kept |= {f"replay.{name}": column[:held].copy() for name, column in self.replay.columns.items()}
        return kept | {"replay.count": np.array(self.replay.count)}

    def restore(self, arrays: Mapping[str, NDArray[np.generic]]) -> None:
        """Takes over what `arrays` of an agent of the same make returned; Adam's momentum starts anew.

        Raises:
            ValueError: something is missing, has another shape, or is not finite.
        """
        own = self.arrays()
        weights = {name: array for name, array in own.items() if name.startswith("weights.")}
        for name in weights:
            given = arrays.get(name)
            if given is None or given.shape != weights[name].shape or not np.isfinite(given).all():
                raise ValueError(f"{name} is missing, of another shape, or not finite")
        count = int(arrays["replay.count"]) if "replay.count" in arrays else -1
        held = min(count, self._settings.capacity)
        for name, column in self.replay.columns.items():
            given = arrays.get(f"replay.{name}")
            if given is None or given.shape != (held, column.shape[1]) or not np.isfinite(given).all():
                raise ValueError(f"replay.{name} is missing, of another shape, or not finite")
        for name, tensor in self._weights().items():
            tensor.copy_(torch.from_numpy(np.asarray(arrays[f"weights.{name}"], np.float32)))
        for name, column in self.replay.columns.items():
            column[:held] = arrays[f"replay.{name}"]
        self.replay.count = count

    def _weights(self) -> dict[str, torch.Tensor]:
        networks = {
            "actor": self._actor,
            "critic": self._critic,
            "target_actor": self._target_actor,
            "target_critic": self._target_critic,
        }
        return {
            f"{network}.{name}": weights.detach()
            for network, module in networks.items()
            for name, weights in module.state_dict().items()
        }


def _network(inputs: int, outputs: int, settings: DdpgSettings) -> nn.Sequential:
    layers: list[nn.Module] = []
    width = inputs
    for _ in range(settings.layers):
        layers += [nn.Linear(width, settings.neurons), nn.ReLU()]
        width = settings.neurons
    last = nn.Linear(width, outputs)
    # So that first actions and values are about 0 (the paper of DDPG, section 7).
    nn.init.uniform_(last.weight, -3e-3, 3e-3)
    nn.init.uniform_(last.bias, -3e-3, 3e-3)
    return nn.Sequential(*layers, last)
