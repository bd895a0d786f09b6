import math

import pytest

from rocktune.measurement import Measurement
from rocktune.testing.synthetic import synthetic_window

SPACE = ("mean_space_amplification", "max_space_amplification")


def space(measured: Measurement) -> list[float]:
    return [measured.figures[name] for name in SPACE]


def test_space_over_a_window_and_over_two() -> None:
    first = synthetic_window(0, 1, max_space_amplification=2.1)
    second = synthetic_window(1, 2, max_space_amplification=3.1)
    assert space(first) == pytest.approx([(9 * 1.1 + 2.1) / 10, 2.1])
    assert space(first.merged(second)) == pytest.approx([(18 * 1.1 + 5.2) / 20, 3.1])


def test_intervals_without_live_data_do_not_count() -> None:
    series = {"stored_bytes": [500, 30, 40], "live_bytes": [0, 20, 20]}
    window = Measurement(synthetic_window(0, 1).raw | {"series": series})
    assert space(window) == [1.75, 2.0]
    # Engines other than the worker have no such series.
    assert all(math.isnan(each) for each in space(Measurement(window.raw | {"series": {}})))


@pytest.mark.parametrize(
    ("tickers", "scans", "skipped"),
    [
        ({"rocksdb.number.iter.skip": 30}, 4, 7.5),
        ({"rocksdb.number.keys.read": 1}, 4, 0.0),
        ({"rocksdb.number.iter.skip": 30}, 0, math.nan),
        (None, 4, math.nan),
    ],
)
def test_skipped_keys_are_those_of_a_scan(tickers: dict[str, int] | None, scans: int, skipped: float) -> None:
    raw = {"from_s": 0.0, "until_s": 1.0, "operations": {"scan": {"count": scans}} if scans else {}}
    found = Measurement(raw | ({} if tickers is None else {"tickers": tickers}))
    assert found.figures["skipped_keys_per_scan"] == pytest.approx(skipped, nan_ok=True)
