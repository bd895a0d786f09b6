from typing import Any

import pytest

from rocktune.report.figures import _series
from rocktune.trial import Measurement


def run_of(*operations: int, interval_s: float = 1.0) -> Measurement:
    raw: dict[str, Any] = {"from_s": 0.0, "until_s": 3.0}
    return Measurement(raw | {"series": {"interval_s": interval_s, "operations": list(operations)}})


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        # A fourth interval is beyond the run's age.
        ([run_of(10, 20, 30, 1), run_of(30, 20, 10, 1)], ([1.0, 2.0, 3.0], [20.0, 20.0, 20.0])),
        # db_bench may end before it reports its last second.
        ([run_of(10, 20, 30), run_of(30, 40)], ([1.0, 2.0], [20.0, 30.0])),
        ([run_of(10, 20, 30), run_of()], ([], [])),
        ([run_of(10, 20, 30), Measurement({"from_s": 0.0, "until_s": 3.0})], ([], [])),
        (
            [run_of(*range(6), interval_s=0.5)],
            ([0.5, 1.0, 1.5, 2.0, 2.5, 3.0], [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]),
        ),
    ],
)
def test_whole_intervals_that_all_runs_have(
    runs: list[Measurement], expected: tuple[list[float], list[float]]
) -> None:
    assert _series(runs) == expected
