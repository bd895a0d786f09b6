"""Trains stable-baselines3's DDPG once; started by `ddpg_reference` with a Python that has it.

Reads {"path", "steps", "seed", "settings", "episodes"} as JSON from standard input. Writes the returns of its
episodes after learning.
"""

import importlib
import json
import sys
from typing import Any


def main() -> None:
    """Answers one request."""
    asked = json.load(sys.stdin)
    sys.path.insert(0, asked["path"])
    import gymnasium
    import numpy as np
    import torch
    from stable_baselines3 import DDPG
    from stable_baselines3.common.noise import NormalActionNoise

    world = importlib.import_module("pendulum")

    class Env(gymnasium.Env):  # type: ignore[misc]
        observation_space = gymnasium.spaces.Box(-8.0, 8.0, (world.STATES,), np.float32)
        action_space = gymnasium.spaces.Box(-1.0, 1.0, (1,), np.float32)

        def __init__(self, seed: int) -> None:
            self._pendulum, self._steps = world.Pendulum(seed), 0

        def reset(self, **_: Any) -> tuple[Any, dict[str, Any]]:
            self._steps = 0
            return self._pendulum.reset(), {}

        def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
            self._steps += 1
            seen, reward = self._pendulum.step(float(action[0]))
            return seen, reward, False, self._steps == world.EPISODE_STEPS, {}

    torch.set_num_threads(1)
    settings = asked["settings"]
    agent = DDPG(
        "MlpPolicy",
        Env(asked["seed"]),
        learning_rate=settings["rate"],
        buffer_size=settings["capacity"],
        learning_starts=settings["warm_up"],
        batch_size=settings["batch"],
        tau=settings["target_rate"],
        gamma=settings["discount"],
        train_freq=1,
        gradient_steps=1,
        action_noise=NormalActionNoise(np.zeros(1), settings["noise"] * np.ones(1)),
        policy_kwargs={"net_arch": [settings["neurons"]] * settings["layers"]},
        seed=asked["seed"],
        device="cpu",
    )
    agent.learn(asked["steps"])
    tested, returns = world.Pendulum(asked["seed"] + 1000), []
    for _ in range(asked["episodes"]):
        seen, total = tested.reset(), 0.0
        for _ in range(world.EPISODE_STEPS):
            action, _ = agent.predict(seen, deterministic=True)
            seen, reward = tested.step(float(action[0]))
            total += reward
        returns.append(total)
    json.dump(returns, sys.stdout)


if __name__ == "__main__":
    main()
