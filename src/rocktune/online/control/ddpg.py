"""Deep deterministic policy gradient (DDPG): an actor and a critic that learn from experiences.

Lillicrap et al., "Continuous control with deep reinforcement learning", ICLR 2016, algorithm 1. RusKey uses
it in section 5.1. Needs PyTorch.
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
    """The hyper-parameters of an agent.

    Attributes:
        layers: number of fully connected layers with ReLU in each network; RusKey has 3.
        neurons: neurons of each layer; RusKey has 128.
        actor_rate: Adam's learning rate for the actor, above 0.
        critic_rate: Adam's learning rate for the critic, above 0.
        discount: gamma, from 0 (only the next reward counts) to below 1.
        target_rate: tau, the step of the target networks towards the learned ones, above 0 and at most 1.
        batch: number of experiences in each step of gradient descent.
        capacity: number of experiences in the replay buffer; the oldest are overwritten.
        saturation: weight of the actor's squared output before tanh in its loss, at least 0. Without it the
            output may grow to where tanh is flat and the actor stops learning.
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
    """A ring of experiences as arrays: state, action, reward, next state, and whether the episode went on."""

    def __init__(self, capacity: int, states: int, actions: int) -> None:
        """Creates an empty buffer for states and actions of so many numbers.

        Args:
            capacity: maximum number of experiences.
            states: numbers in a state.
            actions: numbers in an action.
        """
        widths = {"state": states, "action": actions, "reward": 1, "next_state": states, "goes_on": 1}
        self.columns = {name: np.zeros((capacity, width), np.float32) for name, width in widths.items()}
        self.count = 0

    def __len__(self) -> int:
        """Returns the number of experiences held."""
        return min(self.count, len(self.columns["reward"]))

    def add(self, state: Reals, action: Reals, reward: float, next_state: Reals, goes_on: bool) -> None:
        """Adds an experience; a full buffer overwrites the oldest."""
        place = self.count % len(self.columns["reward"])
        values: tuple[Any, ...] = (state, action, reward, next_state, goes_on)
        for column, value in zip(self.columns.values(), values, strict=True):
            column[place] = value
        self.count += 1

    def sample(self, count: int, rng: np.random.Generator) -> dict[str, torch.Tensor]:
        """Returns `count` experiences drawn with replacement, as tensors of shape (count, width)."""
        chosen = rng.integers(len(self), size=count)
        return {name: torch.from_numpy(column[chosen]) for name, column in self.columns.items()}


class DdpgAgent:
    """An agent that learns which action pays most in each state. Not thread-safe.

    Actions are from -1 to 1 (tanh). All random numbers come from the seed, so equal experiences give equal
    agents. It uses only the calling thread, whatever PyTorch's settings are. Networks this small run several
    times slower on several threads, and would take another program's processors.
    """

    def __init__(self, states: int, actions: int, settings: DdpgSettings, seed: int) -> None:
        """Creates an agent that has learned nothing.

        Args:
            states: numbers in a state.
            actions: numbers in an action.
            settings: hyper-parameters.
            seed: seed of the first weights, the batches and the noise.
        """
        self._settings = settings
        self._rng = np.random.default_rng(seed)
        self._pools = ThreadpoolController()
        self.replay = ReplayBuffer(settings.capacity, states, actions)
        # The embedding program's own random numbers of PyTorch must not change.
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self._actor, self._target_actor = (_network(states, actions, settings) for _ in range(2))
            self._critic, self._target_critic = (_network(states + actions, 1, settings) for _ in range(2))
        self._target_actor.load_state_dict(self._actor.state_dict())
        self._target_critic.load_state_dict(self._critic.state_dict())
        self._actor_adam = torch.optim.Adam(self._actor.parameters(), settings.actor_rate, fused=True)
        self._critic_adam = torch.optim.Adam(self._critic.parameters(), settings.critic_rate, fused=True)

    def act(self, state: Reals, noise: float = 0.0) -> Reals:
        """Returns the actor's action for a state, each number from -1 to 1.

        Args:
            state: numbers of the state.
            noise: standard deviation of Gaussian exploration noise; 0 for none.
        """
        with torch.no_grad():
            action: Reals = self._actor(torch.from_numpy(state).unsqueeze(0)).tanh().squeeze(0).numpy()
        if noise:
            action = action + self._rng.normal(0, noise, action.shape).astype(np.float32)
        return np.clip(action, -1, 1)

    def value(self, state: Reals, action: Reals) -> float:
        """Returns the critic's estimate for an action: the discounted sum of rewards."""
        with torch.no_grad():
            both = torch.from_numpy(np.concatenate([state, action])).unsqueeze(0)
            return float(self._critic(both).item())

    def learn(self, steps: int = 1) -> None:
        """Makes `steps` steps of gradient descent, each on a batch of the replay buffer."""
        if len(self.replay) == 0:
            return
        # torch.set_num_threads would change the whole process; this limit holds for the calling thread.
        with self._pools.limit(limits=1, user_api="openmp"):
            for _ in range(steps):
                # One batch for both networks, as in algorithm 1.
                batch = self.replay.sample(self._settings.batch, self._rng)
                self._learn_critic(batch)
                self._learn_actor(batch["state"])
                self._follow(self._target_actor, self._actor)
                self._follow(self._target_critic, self._critic)

    def _learn_critic(self, batch: Mapping[str, torch.Tensor]) -> None:
        """Makes one step of the critic towards reward + gamma * target critic (DDPG, algorithm 1)."""
        next_state = batch["next_state"]
        with torch.no_grad():
            then = self._target_critic(torch.cat([next_state, self._target_actor(next_state).tanh()], 1))
            wanted = batch["reward"] + self._settings.discount * batch["goes_on"] * then
        expected = self._critic(torch.cat([batch["state"], batch["action"]], 1))
        self._descend(self._critic_adam, nn.functional.mse_loss(expected, wanted))

    def _learn_actor(self, state: torch.Tensor) -> None:
        """Makes one step of the actor towards actions that the critic values more."""
        before_tanh = self._actor(state)
        paid = self._critic(torch.cat([state, before_tanh.tanh()], 1))
        # The critic's estimate is maximised, hence its negative sign in the loss.
        loss = self._settings.saturation * before_tanh.square().mean() - paid.mean()
        self._descend(self._actor_adam, loss)

    @staticmethod
    def _descend(optimizer: torch.optim.Optimizer, loss: torch.Tensor) -> None:
        """Makes one step of an optimizer down the gradient of a loss."""
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    def _follow(self, target: nn.Module, source: nn.Module) -> None:
        """Moves the weights of a target network towards the learned ones by tau."""
        with torch.no_grad():
            for slow, fast in zip(target.parameters(), source.parameters(), strict=True):
                slow.lerp_(fast, self._settings.target_rate)

    def is_finite(self) -> bool:
        """Returns whether all weights are finite numbers."""
        return all(bool(torch.isfinite(weights).all()) for weights in self._weights().values())

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Returns the weights and the replay buffer as copies, by name."""
        kept: dict[str, NDArray[np.generic]] = {
            f"weights.{name}": weights.numpy().copy() for name, weights in self._weights().items()
        }
        held = len(self.replay)
        kept |= {f"replay.{name}": column[:held].copy() for name, column in self.replay.columns.items()}
        return kept | {"replay.count": np.array(self.replay.count)}

    def restore(self, arrays: Mapping[str, NDArray[np.generic]]) -> None:
        """Restores what `arrays` of an agent with equal settings returned, apart from Adam's momentum.

        Raises:
            ValueError: an array is missing, has another shape, or is not finite; the agent is unchanged.
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
            # The shape depends on how full the buffer was.
            if given is None or given.shape != (held, column.shape[1]) or not np.isfinite(given).all():
                raise ValueError(f"replay.{name} is missing, of another shape, or not finite")
        # All checks come before this line, so that a refused file changes nothing.
        for name, tensor in self._weights().items():
            tensor.copy_(torch.from_numpy(np.asarray(arrays[f"weights.{name}"], np.float32)))
        for name, column in self.replay.columns.items():
            column[:held] = arrays[f"replay.{name}"]
        self.replay.count = count

    def _weights(self) -> dict[str, torch.Tensor]:
        """Returns the weights of all four networks by name; they share memory with the networks."""
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
    """Returns a fully connected network with ReLU between its layers and a linear output."""
    layers: list[nn.Module] = []
    width = inputs
    for _ in range(settings.layers):
        layers += [nn.Linear(width, settings.neurons), nn.ReLU()]
        width = settings.neurons
    last = nn.Linear(width, outputs)
    # Small last weights make the first actions and values about 0 (DDPG's paper, section 7).
    nn.init.uniform_(last.weight, -3e-3, 3e-3)
    nn.init.uniform_(last.bias, -3e-3, 3e-3)
    return nn.Sequential(*layers, last)
