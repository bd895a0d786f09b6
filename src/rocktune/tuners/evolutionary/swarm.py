"""Speed-constrained multi-objective particle swarm optimisation on the unit cube (Nebro et al., MCDM 2009).

Particles move towards their own best place and towards a leader, one of the undominated places that anybody
has seen. What makes it SMPSO: a constriction of the speed after Clerc and Kennedy, bounds to it, and a
bounded archive of leaders, of which those in crowded stretches of the front are dropped.
"""

import numpy as np
from numpy.typing import NDArray
from pymoo.operators.mutation.pm import mut_pm
from pymoo.operators.survival.rank_and_crowding.metrics import calc_crowding_distance

from rocktune.tuners.evolutionary.judged import Judged

Reals = NDArray[np.float64]

_MAX_SPEED = 0.5
_MUTATED_EVERY = 6
_DISTRIBUTION_INDEX = 20.0


def constriction(c1: Reals, c2: Reals) -> Reals:
    """Returns the constriction coefficient, chi in SMPSO's equations 3 and 4.

    Negative where both sum to more than 4, as the paper prints it and its authors' programs have it; Clerc
    and Kennedy's own is the absolute value.

    Args:
        c1: how strongly a particle is drawn to its own best place.
        c2: how strongly to its leader.
    """
    rho = c1 + c2
    root = np.sqrt(np.maximum(rho**2 - 4 * rho, 0))
    return np.where(rho <= 4, 1.0, 2 / (2 - rho - root))


class Leaders:
    """The undominated places, at most so many; those that stand closest to others go first."""

    def __init__(self, size: int) -> None:
        self._size = size
        self.places: Reals = np.empty((0, 0))
        self.judged = Judged(np.empty((0, 0)), np.empty(0))

    def add(self, place: Reals, gains: Reals, violation: float) -> None:
        """Takes a place in unless a leader dominates it or equals it; drops the leaders that it dominates."""
        if np.isneginf(gains).any():
            return
        if not len(self.places):
            self.places, self.judged = place[None], Judged(gains[None], np.array([violation]))
            return
        known = self.judged
        if _dominates(known.gains, known.violations, gains, violation).any():
            return
        if (known.gains == gains).all(axis=1).any():
            return
        kept = ~_dominated_by(known.gains, known.violations, gains, violation)
        self.places = np.vstack([self.places[kept], place])
        self.judged = Judged(
            np.vstack([known.gains[kept], gains]), np.append(known.violations[kept], violation)
        )
        if len(self.places) > self._size:
            self._drop(int(np.argmin(calc_crowding_distance(self.judged.gains))))

    def draw(self, count: int, rng: np.random.Generator) -> Reals:
        """Returns leaders by binary tournaments: of two drawn the one in the less crowded stretch."""
        pairs = rng.integers(len(self.places), size=(count, 2))
        distances = calc_crowding_distance(self.judged.gains)
        first = distances[pairs[:, 0]] >= distances[pairs[:, 1]]
        return self.places[np.where(first, pairs[:, 0], pairs[:, 1])]

    def _drop(self, index: int) -> None:
        self.places = np.delete(self.places, index, axis=0)
        self.judged = Judged(
            np.delete(self.judged.gains, index, axis=0), np.delete(self.judged.violations, index)
        )


class Swarm:
    """Particles; `tell` says what their places are worth, `move` moves them."""

    def __init__(
        self, places: Reals, leaders: int, mutation_rate: float, inertia: float, rng: np.random.Generator
    ) -> None:
        """Places the particles, at rest.

        Args:
            places: a row for each particle, in the unit cube.
            leaders: how many undominated places are remembered.
            mutation_rate: of each coordinate of every sixth particle.
            inertia: how much of its speed a particle keeps before anything else.
            rng: the only source of randomness.
        """
        self.places = places
        self.leaders = Leaders(leaders)
        self._mutation_rate = mutation_rate
        self._inertia = inertia
        self._rng = rng
        self._speeds = np.zeros_like(places)
        self._best = places.copy()
        self._best_judged: Judged | None = None

    def tell(self, places: Reals, judged: Judged) -> None:
        """Says what the particles' places are worth, and where exactly they were judged.

        Args:
            places: the particles', moved to what can be measured.
            judged: of each of these.
        """
        self.places = places
        for place, gains, violation in zip(places, judged.gains, judged.violations, strict=True):
            self.leaders.add(place, gains, float(violation))
        if self._best_judged is None:
            self._best, self._best_judged = places.copy(), judged
            return
        before = self._best_judged
        no_worse = ~_pairwise_dominates(before, judged)
        self._best = np.where(no_worse[:, None], places, self._best)
        self._best_judged = Judged(
            np.where(no_worse[:, None], judged.gains, before.gains),
            np.where(no_worse, judged.violations, before.violations),
        )

    def move(self) -> Reals:
        """Moves the particles one step and returns their new places."""
        count = len(self.places)
        leaders = self.leaders.draw(count, self._rng) if len(self.leaders.places) else self._best
        r1, r2 = self._rng.uniform(size=(2, count, 1))
        c1, c2 = self._rng.uniform(1.5, 2.5, size=(2, count, 1))
        pull = c1 * r1 * (self._best - self.places) + c2 * r2 * (leaders - self.places)
        speeds = constriction(c1, c2) * (self._inertia * self._speeds + pull)
        self._speeds = np.clip(speeds, -_MAX_SPEED, _MAX_SPEED)
        moved = self.places + self._speeds
        # Who runs into a wall turns round.
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
        self.places = moved
        return moved


def _dominates(
    gains: Reals, violations: Reals, other_gains: Reals, other_violation: float
) -> NDArray[np.bool_]:
    """Returns which rows dominate another place, by Deb's rules."""
    better = (gains >= other_gains).all(axis=1) & (gains > other_gains).any(axis=1)
    return np.asarray((violations < other_violation) | ((violations == other_violation) & better))


def _dominated_by(
    gains: Reals, violations: Reals, other_gains: Reals, other_violation: float
) -> NDArray[np.bool_]:
    """Returns which rows another place dominates."""
    worse = (gains <= other_gains).all(axis=1) & (gains < other_gains).any(axis=1)
    return np.asarray((violations > other_violation) | ((violations == other_violation) & worse))


def _pairwise_dominates(first: Judged, second: Judged) -> NDArray[np.bool_]:
    """Returns for each row whether the first dominates the second."""
    better = (first.gains >= second.gains).all(axis=1) & (first.gains > second.gains).any(axis=1)
    milder = first.violations < second.violations
    return np.asarray(milder | ((first.violations == second.violations) & better))
