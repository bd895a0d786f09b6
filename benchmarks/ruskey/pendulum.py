"""A small control problem: swing up a pendulum and keep it there, as in Gymnasium's Pendulum-v1."""

import numpy as np
from numpy.typing import NDArray

STATES, ACTIONS, EPISODE_STEPS = 3, 1, 200
_GRAVITY, _STEP_S, _MAX_TORQUE, _MAX_SPEED = 10.0, 0.05, 2.0, 8.0

Reals = NDArray[np.float32]


class Pendulum:
    """A rod of 1 kg and 1 m, with seeded random starts."""

    def __init__(self, seed: int) -> None:
        """Creates a pendulum; `reset` begins an episode."""
        self._rng = np.random.default_rng(seed)
        self._angle = self._speed = 0.0

    def reset(self) -> Reals:
        """Begins an episode at a random angle and returns the state: cosine, sine and speed."""
        self._angle = float(self._rng.uniform(-np.pi, np.pi))
        self._speed = float(self._rng.uniform(-1, 1))
        return self._seen()

    def step(self, action: float) -> tuple[Reals, float]:
        """Applies a share of the maximum torque, from -1 to 1, and returns the new state and the reward."""
        torque = _MAX_TORQUE * min(1.0, max(-1.0, action))
        angle = (self._angle + np.pi) % (2 * np.pi) - np.pi
        cost = angle**2 + 0.1 * self._speed**2 + 0.001 * torque**2
        self._speed += (1.5 * _GRAVITY * np.sin(self._angle) + 3 * torque) * _STEP_S
        self._speed = min(_MAX_SPEED, max(-_MAX_SPEED, self._speed))
        self._angle += self._speed * _STEP_S
        return self._seen(), -float(cost)

    def _seen(self) -> Reals:
        return np.array([np.cos(self._angle), np.sin(self._angle), self._speed], np.float32)
