"""The rounds of a campaign: ratios to the best rival of other rounds, and sides that joined later."""

import pytest
from benchmarks.rocktune.campaign import FIELDS, Rounds

TUNERS = ["auto", "tpe", "smac3"]


def rows(
    figures: dict[str, dict[int, float]], memory_bytes: float = 1.0, seed: int = 1
) -> list[dict[str, object]]:
    """Returns the rows of rounds: throughput by side and number of the round."""
    harmless = dict.fromkeys(FIELDS[1:], 1.0) | {"full_size_memory_bytes": memory_bytes}
    return [
        {"seed": seed, "side": side, "round": number, FIELDS[0]: value, **harmless}
        for side, of_side in figures.items()
        for number, value in of_side.items()
    ]


def test_the_best_rival_is_chosen_in_other_rounds() -> None:
    measured = rows({"auto": {0: 10.0, 1: 10.0}, "tpe": {0: 8.0, 1: 5.0}, "guide": {0: 4.0, 1: 9.0}})
    # In round 0 the guide is chosen, which is better in round 1, and the other way round.
    assert Rounds(measured, TUNERS, 100).ratios("auto", ["tpe", "guide"]) == pytest.approx([2.5, 2.0])


def test_rivals_need_not_be_in_all_rounds() -> None:
    figures = {"auto": {0: 10.0, 1: 12.0, 2: 12.0}, "tpe": {0: 5.0}, "smac3": {1: 6.0, 2: 4.0}}
    measured = rows({**figures, "guide": {0: 1.0, 1: 1.0, 2: 1.0}})
    rounds = Rounds(measured, TUNERS, 100)
    assert rounds.ratios("auto", ["smac3"]) == pytest.approx([2.0, 3.0])
    assert rounds.ratios("auto", ["tpe", "smac3"]) == pytest.approx([2.0, 2.0, 3.0])
    assert rounds.ratios("tpe", ["smac3"]) == []


def test_a_rival_that_breaks_a_constraint_does_not_count() -> None:
    measured = rows({"auto": {0: 10.0}, "guide": {0: 5.0}})
    measured += rows({"tpe": {0: 20.0}}, memory_bytes=500.0)
    assert Rounds(measured, TUNERS, 100).ratios("auto", ["tpe", "guide"]) == pytest.approx([2.0])


def test_several_searches_count_once_each() -> None:
    first = rows({"auto": {0: 10.0, 1: 40.0}, "tpe": {0: 5.0, 1: 5.0}, "guide": {0: 1.0, 1: 1.0}})
    second = rows({"auto": {0: 9.0}, "tpe": {0: 1.0}, "guide": {0: 3.0}}, seed=2)
    # In the first search's rounds the guide counts, which is better than tpe in the second's.
    ratios = Rounds(first + second, TUNERS, 100).ratios("auto", ["tpe", "guide"])
    assert ratios == pytest.approx([20.0, 9.0])


def test_every_search_has_to_keep_the_constraints() -> None:
    measured = rows({"auto": {0: 10.0}, "guide": {0: 5.0}})
    other = rows({"auto": {0: 10.0}}, memory_bytes=150.0, seed=2) + rows({"guide": {0: 5.0}}, seed=2)
    assert Rounds(measured, TUNERS, 100).keeps("auto")
    assert not Rounds(measured + other, TUNERS, 100).keeps("auto")
