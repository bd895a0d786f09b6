import math

import numpy as np
import pytest
from numpy.typing import NDArray

from rocktune.tuners.evolutionary.swarm import (
    Judged,
    Leaders,
    Swarm,
    constriction,
    crowding_distances,
    polynomial_mutation,
)

Reals = NDArray[np.float64]


def test_constriction_as_the_paper_prints_it() -> None:
    found = constriction(np.array([1.5, 2.0, 2.5]), np.array([1.5, 2.0, 2.5]))
    assert found == pytest.approx([1, 1, 2 / (2 - 5 - math.sqrt(5))])


def test_crowding_is_the_distance_to_both_neighbours_in_every_objective() -> None:
    gains = np.array([[0.0, 10.0], [1.0, 6.0], [4.0, 5.0], [10.0, 0.0]])
    distances = crowding_distances(gains)
    assert distances[[0, 3]].tolist() == [math.inf, math.inf]
    assert distances[1] == pytest.approx(4 / 10 + 5 / 10)
    assert distances[2] == pytest.approx(9 / 10 + 6 / 10)


def test_leaders_are_undominated_bounded_and_feasible_ones_come_first() -> None:
    leaders = Leaders(3)
    places = np.arange(8.0)[:, None] / 10
    leaders.add(places[0], np.array([9.0, 9.0]), 0.5)  # infeasible, and all there is
    leaders.add(places[1], np.array([-np.inf, -np.inf]), 0.0)  # failed
    assert leaders.places.tolist() == [[0.0]]
    leaders.add(places[2], np.array([1.0, 5.0]), 0.0)
    assert leaders.places.tolist() == [[0.2]]
    leaders.add(places[3], np.array([1.0, 4.0]), 0.0)  # dominated
    leaders.add(places[4], np.array([1.0, 5.0]), 0.0)  # the same again
    assert leaders.places.tolist() == [[0.2]]
    leaders.add(places[5], np.array([5.0, 1.0]), 0.0)
    leaders.add(places[6], np.array([3.0, 3.0]), 0.0)
    leaders.add(places[7], np.array([3.1, 2.9]), 0.0)  # too close to the one before
    assert sorted(leaders.places[:, 0]) in ([0.2, 0.5, 0.6], [0.2, 0.5, 0.7])


def test_mutation_stays_in_the_cube_and_takes_the_share_asked_for() -> None:
    rng = np.random.default_rng(1)
    points = rng.uniform(size=(2000, 5))
    mutated = polynomial_mutation(points, 0.2, rng)
    assert ((mutated >= 0) & (mutated <= 1)).all()
    assert np.mean(mutated != points) == pytest.approx(0.2, abs=0.02)
    assert np.array_equal(polynomial_mutation(points, 0.0, rng), points)


def zdt1(places: Reals) -> Reals:
    """Zitzler, Deb and Thiele's first problem; both objectives are to be small."""
    first = places[:, 0]
    rest = 1 + 9 * places[:, 1:].mean(axis=1)
    return np.column_stack([first, rest * (1 - np.sqrt(first / rest))])


def test_it_finds_the_front_of_a_well_known_problem() -> None:
    rng = np.random.default_rng(2)
    swarm = Swarm(rng.uniform(size=(50, 10)), 50, 0.1, 0.1, rng)
    for _ in range(120):
        swarm.tell(swarm.places, Judged(-zdt1(swarm.places), np.zeros(50)))
        swarm.move()
    front = -swarm.leaders.judged.gains
    assert len(front) == 50
    assert np.max(np.abs(front[:, 1] - (1 - np.sqrt(front[:, 0])))) < 0.05
    assert front[:, 0].min() < 0.01
    assert front[:, 0].max() > 0.95
