import math

import numpy as np
import pytest
from numpy.typing import NDArray

from rocktune.tuners.evolutionary.evaluated import Evaluated
from rocktune.tuners.evolutionary.swarm import Leaders, Swarm, constriction

Reals = NDArray[np.float64]


def test_constriction_as_the_paper_prints_it() -> None:
    found = constriction(np.array([1.5, 2.0, 2.5]), np.array([1.5, 2.0, 2.5]))
    assert found == pytest.approx([1, 1, 2 / (2 - 5 - math.sqrt(5))])


def test_leaders_are_undominated_bounded_and_feasible_ones_come_first() -> None:
    leaders = Leaders(3)
    places = np.arange(8.0)[:, None] / 10
    leaders.add(places[0], np.array([9.0, 9.0]), 0.5)  # infeasible, and all there is
    leaders.add(places[1], np.array([-np.inf, -np.inf]), 0.0)  # failed
    assert leaders.positions.tolist() == [[0.0]]
    leaders.add(places[2], np.array([1.0, 5.0]), 0.0)
    assert leaders.positions.tolist() == [[0.2]]
    leaders.add(places[3], np.array([1.0, 4.0]), 0.0)  # dominated
    leaders.add(places[4], np.array([1.0, 5.0]), 0.0)  # the same again
    assert leaders.positions.tolist() == [[0.2]]
    leaders.add(places[5], np.array([5.0, 1.0]), 0.0)
    leaders.add(places[6], np.array([3.0, 3.0]), 0.0)
    leaders.add(places[7], np.array([3.1, 2.9]), 0.0)  # too close to the one before
    assert sorted(leaders.positions[:, 0]) in ([0.2, 0.5, 0.6], [0.2, 0.5, 0.7])


def test_a_leader_of_equal_gains_and_a_larger_violation_is_replaced() -> None:
    leaders = Leaders(3)
    gains = np.array([3.0, 3.0])
    leaders.add(np.array([0.1]), gains, 0.5)
    leaders.add(np.array([0.2]), gains, 0.0)
    assert leaders.positions.tolist() == [[0.2]]
    leaders.add(np.array([0.3]), gains, 0.5)
    assert leaders.positions.tolist() == [[0.2]]


def test_every_sixth_particle_mutates_within_the_cube() -> None:
    places = np.full((13, 5), 0.999)
    swarm = Swarm(places, 4, 1.0, 0.1, np.random.default_rng(1))
    swarm.update(places, Evaluated(np.ones((13, 2)), np.zeros(13)))
    moved = swarm.move()  # nothing draws them anywhere but mutation
    assert np.flatnonzero((moved != places).any(axis=1)).tolist() == [0, 6, 12]
    assert ((moved >= 0) & (moved <= 1)).all()


def zdt1(places: Reals) -> Reals:
    """Zitzler, Deb and Thiele's first problem; both objectives are to be small."""
    first = places[:, 0]
    rest = 1 + 9 * places[:, 1:].mean(axis=1)
    return np.column_stack([first, rest * (1 - np.sqrt(first / rest))])


def test_it_finds_the_front_of_a_well_known_problem() -> None:
    rng = np.random.default_rng(2)
    swarm = Swarm(rng.uniform(size=(50, 10)), 50, 0.1, 0.1, rng)
    for _ in range(120):
        swarm.update(swarm.positions, Evaluated(-zdt1(swarm.positions), np.zeros(50)))
        swarm.move()
    front = -swarm.leaders.evaluated.gains
    assert len(front) == 50
    assert np.max(np.abs(front[:, 1] - (1 - np.sqrt(front[:, 0])))) < 0.05
    assert front[:, 0].min() < 0.01
    assert front[:, 0].max() > 0.95
