"""Bounds that follow from the baseline."""

import math

import pytest

from rocktune.constraint import Constraint, parse_constraint
from rocktune.objective import objective_named

WITHIN = "read_latency_us_p99<=1.25x"
SPACE = "max_space_amplification<=2"


def test_a_multiple_of_the_baselines_figure() -> None:
    stated = parse_constraint(WITHIN)
    assert (stated.bound, stated.is_relative, str(stated)) == (1.25, True, WITHIN)
    assert stated.against(400) == Constraint("read_latency_us_p99", True, 500)
    assert parse_constraint("throughput_ops_s>=0.9x").against(1000) == Constraint(
        "throughput_ops_s", False, 900
    )


def test_nothing_keeps_a_multiple_of_what_the_baseline_lacks() -> None:
    assert parse_constraint(WITHIN).against(math.nan).violation(1.0) == math.inf


def test_a_multiple_of_zero_is_kept_by_zero_alone() -> None:
    bounded = parse_constraint("stalled_share<=1.25x").against(0.0)
    assert (bounded.violation(0.0), bounded.violation(1e-9)) == (0.0, math.inf)


@pytest.mark.parametrize(
    ("text", "is_default", "baseline", "bound"),
    [
        (SPACE, True, 1.5, 2.0),
        # 1.05 times what the baseline has, if it breaks a default.
        (SPACE, True, 2.4, 2.52),
        ("throughput_ops_s>=105", True, 84.0, 80.0),
        # The user's own bound stays, and so does a default of a baseline that failed.
        (SPACE, False, 2.4, 2.0),
        (SPACE, True, math.nan, 2.0),
    ],
)
def test_only_a_default_yields_to_the_baseline(
    text: str, is_default: bool, baseline: float, bound: float
) -> None:
    bounded = parse_constraint(text, is_default).against(baseline)
    assert bounded.bound == pytest.approx(bound)
    assert math.isnan(baseline) or not is_default or bounded.violation(baseline) == 0


def test_an_objective_takes_the_bounds_of_its_baseline() -> None:
    stated = objective_named("throughput_ops_s", [WITHIN], [SPACE])
    bounded = stated.against(
        {"throughput_ops_s": 9.0, "read_latency_us_p99": 100.0, "max_space_amplification": 4.0}
    )
    assert [each.bound for each in bounded.constraints] == [125.0, 4.2]
    assert bounded.violation({"read_latency_us_p99": 250.0, "max_space_amplification": 6.3}) == 1.5
    assert bounded.against(dict.fromkeys(stated.all_fields, math.nan)) == bounded
