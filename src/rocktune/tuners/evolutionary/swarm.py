"""Speed-constrained multi-objective particle swarm optimisation on the unit cube (Nebro et al., MCDM 2009).

Particles move towards their own best position and towards a leader, one of the nondominated positions of the
whole swarm. SMPSO constricts speeds after Clerc and Kennedy and limits them. Its archive of leaders is
bounded and drops the leader in the most crowded part of the front.
"""

import numpy as np
from numpy.typing import NDArray
from pymoo.operators.mutation.pm import mut_pm
from pymoo.operators.survival.rank_and_crowding.metrics import calc_crowding_distance

from rocktune.tuners.evolutionary.evaluated import Evaluated

Reals = NDArray[np.float64]

# The paper's parameters: half the width of a variable, every sixth particle, eta of polynomial mutation.
_MAX_SPEED = 0.5
_MUTATED_EVERY = 6
_DISTRIBUTION_INDEX = 20.0


def constriction(c1: Reals, c2: Reals) -> Reals:
    """Returns the constriction coefficient, chi in SMPSO's equations 3 and 4.

    It is negative if c1 + c2 > 4, as in the paper and in its authors' programs. Clerc and Kennedy use the
    absolute value.

    Args:
        c1: attraction of each particle to its own best position.
        c2: attraction of each particle to its leader.
    """
    rho = c1 + c2
    root = np.sqrt(np.maximum(rho**2 - 4 * rho, 0))
    return np.where(rho <= 4, 1.0, 2 / (2 - rho - root))


class Leaders:
    """A bounded archive of nondominated positions, the leaders.

    Attributes:
        positions: a row for each leader.
        evaluated: the leaders' gains and violations.
    """

    def __init__(self, size: int) -> None:
        """Makes an empty archive for at most `size` leaders."""
        self._size = size
        self.positions: Reals = np.empty((0, 0))
        self.evaluated = Evaluated(np.empty((0, 0)), np.empty(0))

    def add(self, position: Reals, gains: Reals, violation: float) -> None:
        """Adds a position and removes the leaders that it dominates.

        A failed position is not added, nor is one that a leader dominates or whose gains and violation a
        leader has. If the archive becomes too large, the leader in the most crowded part of the front is
        removed.
        """
        if np.isneginf(gains).any():
            return
        if not len(self.positions):
            self.positions, self.evaluated = position[None], Evaluated(gains[None], np.array([violation]))
            return
        known = self.evaluated
        added = Evaluated(gains, np.array(violation))
        same = (known.gains == gains).all(axis=1) & (known.violations == violation)
        if (same | _dominates(known, added)).any():
            return
        kept = ~_dominates(added, known)
        self.positions = np.vstack([self.positions[kept], position])
        self.evaluated = Evaluated(
            np.vstack([known.gains[kept], gains]), np.append(known.violations[kept], violation)
        )
        if len(self.positions) > self._size:
            self._drop(int(np.argmin(calc_crowding_distance(self.evaluated.gains))))

    def draw(self, count: int, rng: np.random.Generator) -> Reals:
        """Returns the positions of `count` leaders, a row for each.

        Each is the winner of a binary tournament: the one of two random leaders in the less crowded part of
        the front.
        """
        pairs = rng.integers(len(self.positions), size=(count, 2))
        distances = calc_crowding_distance(self.evaluated.gains)
        first = distances[pairs[:, 0]] >= distances[pairs[:, 1]]
        return self.positions[np.where(first, pairs[:, 0], pairs[:, 1])]

    def _drop(self, index: int) -> None:
        """Removes a leader."""
        self.positions = np.delete(self.positions, index, axis=0)
        self.evaluated = Evaluated(
            np.delete(self.evaluated.gains, index, axis=0), np.delete(self.evaluated.violations, index)
        )


class Swarm:
    """A swarm of particles. `update` takes the evaluation of their positions, `move` makes a step.

    Attributes:
        positions: a row for each particle, in the unit cube.
        leaders: the archive of nondominated positions.
    """

    def __init__(
        self, positions: Reals, leaders: int, mutation_rate: float, inertia: float, rng: np.random.Generator
    ) -> None:
        """Makes a swarm of particles at rest.

        Args:
            positions: a row for each particle, in the unit cube.
            leaders: maximum number of leaders.
            mutation_rate: probability that a coordinate of every sixth particle mutates.
            inertia: share of its speed that a particle keeps in a step.
            rng: the only source of random numbers.
        """
        self.positions = positions
        self.leaders = Leaders(leaders)
        self._mutation_rate = mutation_rate
        self._inertia = inertia
        self._rng = rng
        self._speeds = np.zeros_like(positions)
        self._best = positions.copy()
        self._best_evaluated: Evaluated | None = None

    def update(self, positions: Reals, evaluated: Evaluated) -> None:
        """Records the evaluation of all particles: their own best positions and the leaders.

        Args:
            positions: the positions that were measured, which become those of the particles. They differ from
                the former ones where a configuration was repaired.
            evaluated: gains and violations of these positions.
        """
        self.positions = positions
        for position, gains, violation in zip(positions, evaluated.gains, evaluated.violations, strict=True):
            self.leaders.add(position, gains, float(violation))
        if self._best_evaluated is None:
            self._best, self._best_evaluated = positions.copy(), evaluated
            return
        before = self._best_evaluated
        # A position that neither dominates nor is dominated replaces the old best, as in the authors'
        # programs.
        no_worse = ~_dominates(before, evaluated)
        self._best = np.where(no_worse[:, None], positions, self._best)
        self._best_evaluated = Evaluated(
            np.where(no_worse[:, None], evaluated.gains, before.gains),
            np.where(no_worse, evaluated.violations, before.violations),
        )

    def move(self) -> Reals:
        """Moves all particles one step and returns their new positions."""
        count = len(self.positions)
        # There is no leader as long as all trials have failed.
        leaders = self.leaders.draw(count, self._rng) if len(self.leaders.positions) else self._best
        r1, r2 = self._rng.uniform(size=(2, count, 1))
        c1, c2 = self._rng.uniform(1.5, 2.5, size=(2, count, 1))
        pull = c1 * r1 * (self._best - self.positions) + c2 * r2 * (leaders - self.positions)
        speeds = constriction(c1, c2) * (self._inertia * self._speeds + pull)
        self._speeds = np.clip(speeds, -_MAX_SPEED, _MAX_SPEED)
        moved = self.positions + self._speeds
        # A particle that leaves the cube stops at its surface and reverses its speed.
        self._speeds = np.where((moved < 0) | (moved > 1), -self._speeds, self._speeds)
        moved = np.clip(moved, 0, 1)
        mutants = np.arange(0, count, _MUTATED_EVERY)
        moved[mutants] = mut_pm(
            moved[mutants],
            np.zeros(moved.shape[1]),
            np.ones(moved.shape[1]),
            eta=np.full(len(mutants), _DISTRIBUTION_INDEX),
            prob=np.full(len(mutants), self._mutation_rate),
            at_least_once=False,
            random_state=self._rng,
        )
        self.positions = moved
        return moved


def _dominates(first: Evaluated, second: Evaluated) -> NDArray[np.bool_]:
    """Returns for each row whether the position of `first` dominates that of `second`, by Deb's rules.

    Either may be a single position without a row of its own, gains of shape (objectives,). It is compared
    with each row of the other.
    """
    better = (first.gains >= second.gains).all(axis=-1) & (first.gains > second.gains).any(axis=-1)
    equal = first.violations == second.violations
    return np.asarray((first.violations < second.violations) | (equal & better))
