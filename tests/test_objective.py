import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocktune.constraint import parse_constraint
from rocktune.errors import UserError
from rocktune.fronts import fronts_of
from rocktune.objective import Feasibility, Objective, objective_named
from rocktune.testing.synthetic import synthetic_window
from rocktune.trial import Configuration, Result, Status, Trial

BOTH = ("throughput_ops_s", "read_latency_us_p99")
WITHIN_250 = "read_latency_us_p99<=250"


def rows(*figures: tuple[float, float]) -> list[dict[str, float]]:
    """Throughput and latency."""
    return [dict(zip(BOTH, pair, strict=True)) for pair in figures]


def order(objective: Objective, figures: Sequence[tuple[float, float]]) -> list[int]:
    """Positions, best first."""
    ranks = objective.ranks_of(rows(*figures))
    return sorted(range(len(ranks)), key=ranks.__getitem__)


@pytest.mark.parametrize(
    ("text", "at_most", "bound"),
    [
        ("read_latency_us_p99<=250", True, 250.0),
        (" throughput_ops_s >= 1e5 ", False, 1e5),
        ("write_amplification<=4.5", True, 4.5),
        ("full_size_memory_bytes<=1073741825", True, 1073741825.0),
    ],
)
def test_constraints_are_read_as_written(text: str, at_most: bool, bound: float) -> None:
    constraint = parse_constraint(text)
    assert (constraint.at_most, constraint.bound) == (at_most, bound)
    assert parse_constraint(str(constraint)) == constraint


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("read_latency_us_p99<250", "is not of the form FIELD<=NUMBER"),
        ("read_latency_us_p99<=-1", "is not of the form FIELD<=NUMBER"),
        ("read_latency_us_p99<=", "is not of the form FIELD<=NUMBER"),
        ("read_latency_p99<=250", "did you mean 'read_latency_us_p99'"),
        ("read_latency_us_p99<=0", "has the bound 0"),
    ],
)
def test_a_bad_constraint_is_one_line(text: str, message: str) -> None:
    with pytest.raises(UserError, match=message) as error:
        parse_constraint(text)
    assert "\n" not in str(error.value)


def test_violation_is_the_share_by_which_a_bound_is_missed() -> None:
    assert parse_constraint(WITHIN_250).violation(300) == pytest.approx(0.2)
    assert parse_constraint(WITHIN_250).violation(250) == 0
    assert parse_constraint("throughput_ops_s>=100").violation(75) == pytest.approx(0.25)
    assert parse_constraint(WITHIN_250).violation(math.nan) == math.inf


def test_what_keeps_a_constraint_comes_before_what_does_not() -> None:
    objective = objective_named("throughput_ops_s", [WITHIN_250])
    figures = [(900, 400), (100, 250), (800, 300), (200, 200), (math.nan, math.nan)]
    assert order(objective, figures) == [3, 1, 2, 0, 4]


def test_of_several_fields_fronts_count_first_and_then_the_worse_rank() -> None:
    objective = objective_named(BOTH)
    assert objective.seeks_front
    # 0, 1 and 2 beat each other in one field each; 1 is in the middle of both. 3 is beaten by 1.
    figures = [(300, 900), (200, 500), (100, 100), (150, 600), (math.nan, math.nan)]
    assert order(objective, figures) == [1, 0, 2, 3, 4]


def test_a_front_is_feasible_undominated_and_without_doubles() -> None:
    objective = objective_named(BOTH, [WITHIN_250])
    figures = rows((300, 251), (200, 250), (200, 250), (100, 100), (90, 120), (math.nan, 1), (50, 99))
    assert objective.front(figures) == [1, 3, 6]
    assert objective.front(rows((300, 251))) == []
    assert objective.front([]) == []


def test_a_result_is_feasible_infeasible_or_failed() -> None:
    objective = objective_named("throughput_ops_s", [WITHIN_250])
    trial = Trial(Configuration({"num_levels": 4}), 1.0)
    good, slow = (Result(trial, Status.OK, synthetic_window(0, 1, 1000, latency)) for latency in (90, 900))
    failed = Result(trial, Status.CRASHED, None, "signal 6")
    outcomes = [objective.feasibility(each) for each in (good, slow, failed)]
    assert outcomes == [Feasibility.FEASIBLE, Feasibility.INFEASIBLE, Feasibility.FAILED]
    scores = objective.scores([good, slow, failed])
    assert scores[0] == pytest.approx(1000)
    assert all(math.isnan(score) for score in scores[1:])


def results(*figures: tuple[float, float]) -> list[Result]:
    """Results with these throughputs and latencies."""
    return [
        Result(Trial(Configuration({"num_levels": number}), 1.0), Status.OK, synthetic_window(0, 1, *pair))
        for number, pair in enumerate(figures)
    ]


def test_the_score_of_several_fields_is_that_of_the_worst() -> None:
    figures = [(300, 900), (200, 500), (100, 100), (150, 600), (200, 500)]
    # Beaten in throughput by 0, 1, 4, 3, 1 of the 4 others, and in latency by 4, 1, 0, 3, 1.
    expected = [0.0, 0.75, 0.0, 0.25, 0.75]
    for name in ("balance", BOTH):
        assert objective_named(name).scores(results(*figures)) == pytest.approx(expected)
    # 0 breaks the constraint. The rest is beaten by 0, 3, 2, 0 of 3 in throughput, by 1, 0, 3, 1 in latency.
    bound = objective_named("balance", ["read_latency_us_p99<=800"])
    scores = bound.scores(results(*figures))
    assert math.isnan(scores[0])
    assert scores[1:] == pytest.approx([2 / 3, 0.0, 0.0, 2 / 3])
    assert objective_named("balance").scores(results((5, 5))) == [1.0]
    assert objective_named("balance").scores([]) == []


def test_a_field_without_figures_does_not_count() -> None:
    objective = objective_named(("throughput_ops_s", "scan_latency_us_p99"))
    assert objective.scores(results((300, 1), (200, 1), (100, 1))) == pytest.approx([1.0, 0.5, 0.0])
    undefined = objective_named(("scan_latency_us_p99", "scan_latency_us_p50"))
    assert all(math.isnan(score) for score in undefined.scores(results((1, 1), (2, 2))))


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("throughput_ops_s", "balance"), "'balance' cannot be combined"),
        (("throughput_ops_s", "throughput_ops_s"), "named twice"),
        (("throughput",), "did you mean 'throughput_ops_s'"),
    ],
)
def test_a_bad_objective_is_one_line(names: tuple[str, ...], message: str) -> None:
    with pytest.raises(UserError, match=message):
        objective_named(names)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 2)), min_size=1, max_size=12))
def test_nobody_is_dominated_by_somebody_of_the_same_or_a_later_front(
    points: list[tuple[int, int, int]],
) -> None:
    gains = np.array([point[:2] for point in points], dtype=float)
    violations = np.array([point[2] for point in points], dtype=float)
    fronts = fronts_of(gains, violations)
    for i in range(len(points)):
        for j in range(len(points)):
            equal = violations[i] == violations[j]
            dominates = (gains[i] >= gains[j]).all() and (gains[i] > gains[j]).any()
            if violations[i] < violations[j] or (equal and dominates):
                assert fronts[i] < fronts[j]
    for front in fronts[fronts > 0]:
        assert (fronts == front - 1).any()
