"""Sentences about a scale check."""

from typing import Any

import pytest

from rocktune.outcome import Interval, ScaleCheck
from rocktune.report.scale import check_notes, check_statement


def check_of(correlation: float | None, low: float | None, regret: float | None, **given: Any) -> ScaleCheck:
    conditions: dict[str, Any] = {
        "workload": "w",
        "device": "d",
        "space": "s",
        "engine": "RocksDB 7.8.3, assertions on",
        "protocol": "steady",
        "figure": "sustained_throughput_ops_s",
        "scale": "1/64",
        "larger_scale": "1/16",
        "configurations": 20,
        "correlation": Interval(value=correlation, low=low, high=0.95, repeats=20),
        "regret": Interval(value=regret, low=None, high=None, repeats=3),
    }
    return ScaleCheck(**conditions | given)


@pytest.mark.parametrize(
    ("check", "statement", "notes"),
    [
        (
            check_of(0.9, 0.76, 0.03),
            "a 1/64 model ranks the configurations of space s for w on d by sustained throughput like a 1/16 "
            "model: Spearman's correlation of 20 configurations is 0.90 (0.76 to 0.95), and its choice is 3% "
            "worse than the larger model's.",
            [],
        ),
        (
            check_of(0.54, 0.13, -0.02, scale="1/4", larger_scale="1", failed=1, disturbed=2),
            "a 1/4 model does not rank the configurations of space s for w on d by sustained throughput like "
            "full size: Spearman's correlation of 20 configurations is 0.54 (0.13 to 0.95), and its choice "
            "is as good as the larger model's.",
            [
                "Tune with --scale 1.",
                "Left out because a run failed: 1 configuration.",
                "Other programs took the processors during 2 runs, in all repeats.",
            ],
        ),
        (
            check_of(None, None, None, configurations=3, failed=17),
            "Whether a 1/64 model ranks the configurations of space s for w on d by sustained throughput is "
            "undecided: 3 configurations ran well at both models, 17 others failed, or the figure is 0.",
            ["Left out because a run failed: 17 configurations."],
        ),
    ],
)
def test_a_check_in_words(check: ScaleCheck, statement: str, notes: list[str]) -> None:
    assert check_statement(check) == statement
    assert check_notes(check) == notes


@pytest.mark.parametrize(
    ("low", "regret", "verdict"),
    [
        (0.5, 0.05, "ranks"),
        (0.499, 0.05, "does not rank"),
        (0.5, 0.0501, "does not rank"),
        (None, 0.0, "undecided"),
        (0.5, None, "undecided"),
    ],
)
def test_the_bounds_of_the_verdict(low: float | None, regret: float | None, verdict: str) -> None:
    assert check_of(0.9, low, regret).verdict == verdict
    assert check_of(0.9, low, regret, configurations=9).verdict == "undecided"
