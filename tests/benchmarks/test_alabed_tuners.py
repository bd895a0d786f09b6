"""How searches of different tuners are compared: at equal measuring time, and seed by seed."""

import numpy as np
import pytest
from benchmarks.alabed.tuners import Curve, _best_of_all, _shares
from benchmarks.common.claims import Settings

SETTINGS = Settings(quick=False, as_json=False, out=None, scale=256, seed=1, command="")


def curve(costs: list[float], best: list[float]) -> Curve:
    return Curve(np.cumsum(costs), np.array(best))


def test_a_step_is_measuring_time_and_not_a_trial() -> None:
    # Four trials to 60 s, two of them on to 80 s and one of those to 100 s: 120 s are one step.
    halved = curve([0.5, 0.5, 0.5, 0.5, 1 / 6, 1 / 6, 1 / 6], [1, 2, 3, 4, 5, 6, 7])
    assert [halved.after(steps) for steps in (0.4, 0.5, 1, 2, 100)] == [0, 1, 2, 4, 7]
    whole = curve([1.0] * 10, list(range(1, 11)))
    assert [whole.after(steps) for steps in (1, 3, 10, 100)] == [1, 3, 10, 10]


def test_shares_are_taken_at_equal_measuring_time() -> None:
    curves = {
        "dremel": [curve([0.5] * 40, list(range(1, 41)))],
        "bo": [curve([1.0] * 20, list(range(1, 21)))],
    }
    shares = {claim.name: claim.measured.value for claim in _shares(curves, 40, SETTINGS)}
    assert shares["dremel_share_after_10_steps"] == 20 / 40
    assert shares["bo_share_after_10_steps"] == 10 / 40


def test_winners_are_paired_by_seed_where_one_has_no_figure() -> None:
    verified = {"multitask-bo": {1: 1.0, 2: 2.0, 3: 4.0}, "bo": {3: 4.0, 1: 1.0}, "random": {1: 0.1, 2: 0.1}}
    (claim,) = _best_of_all(verified)
    assert claim.measured.value == pytest.approx(1)
    assert claim.measured.repeats == 2
    assert "to that of bo" in claim.unit


@pytest.mark.parametrize(("seeds", "holds"), [(3, False), (30, True)])
def test_fewer_seeds_do_not_make_it_easier_to_be_near_the_best(seeds: int, holds: bool) -> None:
    verified = {
        "multitask-bo": {seed: 1.0 + 0.1 * (seed % 2) for seed in range(seeds)},
        "bo": {seed: 1.1 - 0.1 * (seed % 2) for seed in range(seeds)},
    }
    assert _best_of_all(verified)[0].holds is holds


def test_a_search_without_others_is_not_compared() -> None:
    assert _best_of_all({"multitask-bo": {1: 1.0}}) == []
    assert _best_of_all({"bo": {1: 1.0}}) == []
