from datetime import UTC, datetime

import pytest

from rocktune.ledger import TrialRecord
from rocktune.objective import objective_named
from rocktune.study.proving.hypervolume import bounds_of, hypervolume, hypervolume_over_time
from rocktune.trial import Configuration, Measurement, Status, Trial

FRONT = objective_named("throughput_ops_s, read_latency_us_p99")
BOUNDS = {"throughput_ops_s": (0.0, 100.0), "read_latency_us_p99": (1000.0, 0.0)}


def row(throughput: float, latency: float) -> dict[str, float]:
    return {"throughput_ops_s": throughput, "read_latency_us_p99": latency}


@pytest.mark.parametrize(
    ("rows", "share"),
    [
        ([], 0.0),
        ([row(50, 500)], 0.25),
        ([row(100, 0)], 1.0),
        # Two rectangles, 0.8 x 0.2 and 0.2 x 0.8, that share 0.2 x 0.2.
        ([row(80, 800), row(20, 200)], 0.8 * 0.2 + 0.2 * 0.8 - 0.2 * 0.2),
        ([row(80, 800), row(20, 200), row(10, 900)], 0.28),
        ([row(-5, 500)], 0.0),
    ],
)
def test_it_is_the_share_of_the_box_that_is_dominated(rows: list[dict[str, float]], share: float) -> None:
    assert hypervolume(rows, FRONT, BOUNDS) == pytest.approx(share)


def test_what_breaks_a_constraint_dominates_nothing() -> None:
    bounded = objective_named("throughput_ops_s, read_latency_us_p99", ["read_latency_us_p99<=400"])
    assert hypervolume([row(80, 800), row(20, 200)], bounded, BOUNDS) == pytest.approx(0.2 * 0.8)


def test_bounds_are_the_worst_and_the_best() -> None:
    rows = [row(10, 300), row(30, 900), row(float("nan"), 1)]
    assert bounds_of(rows, FRONT) == {"throughput_ops_s": (10, 30), "read_latency_us_p99": (900, 300)}
    assert bounds_of([row(10, 300), row(10, 900)], FRONT) is None
    assert bounds_of([], FRONT) is None


def record(place: int, figures: dict[str, float] | None, until_s: float = 2.0) -> TrialRecord:
    measurement = figures and Measurement({"from_s": 0.0, "until_s": until_s, "figures": figures})
    return TrialRecord(
        phase="search",
        batch=place,
        index=0,
        trial=Trial(Configuration({"x": place}), until_s),
        status=Status.OK if measurement else Status.CRASHED,
        message="",
        measured_s=2.0,
        repeated_s=0.0,
        options={},
        measurement=measurement or None,
        window=None,
        recorded_at=datetime(2026, 1, 1, tzinfo=UTC),
    )


def test_it_grows_with_the_front_and_counts_all_seconds() -> None:
    records = [
        record(0, row(50, 500)),
        record(1, None),
        record(2, row(100, 0), until_s=1.0),
        record(3, row(40, 600)),
        record(4, row(75, 250)),
    ]
    grown = hypervolume_over_time(records, FRONT, BOUNDS)
    assert grown is not None
    assert [at_s for at_s, _ in grown.by_time] == [2.0, 10.0]
    assert [volume for _, volume in grown.by_time] == pytest.approx([0.25, 0.75 * 0.75])
    own = hypervolume_over_time(records, FRONT)
    assert own is not None
    assert own.bounds == {"throughput_ops_s": (40, 75), "read_latency_us_p99": (600, 250)}
    assert hypervolume_over_time(records, objective_named("throughput_ops_s")) is None
    assert hypervolume_over_time([record(0, None)], FRONT) is None
