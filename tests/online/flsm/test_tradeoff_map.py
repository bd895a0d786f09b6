import math
from pathlib import Path
from typing import Any

import pytest

from rocktune import api
from rocktune.api.tradeoff import summary_of
from rocktune.errors import UserError
from rocktune.online import MapPoint
from rocktune.online.flsm.tradeoff_map import shape_options

WORKLOAD = """
keys = 20000
key_bytes = 16
value = 100
mix = {get = 0.5, put = 0.5}
preload = {keys = 20000}
"""


@pytest.fixture(autouse=True)
def data_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROCKTUNE_DATA", str(tmp_path / "data"))


def test_a_map_has_each_point_and_a_report(tmp_path: Path) -> None:
    file = tmp_path / "small.toml"
    file.write_text(WORKLOAD)
    found = api.map_flsm(
        workload=str(file), device="sata", scale="1", shapes=["2", "lazy-leveling", "universal"],
        lookups=[0.0, 0.5], absent=True, filters=["uniform", "monkey"], warm="200ms", measure="300ms",
        options={"write_buffer_size": "65536"}, repeats=2, out=tmp_path / "out",
    )  # fmt: skip
    # RocksDB's own store has uniform filters alone.
    assert len(found["points"]) == 2 * 2 * (3 + 2)
    assert len(found["summary"]) == 2 * (3 + 2)
    for row in found["summary"]:
        assert row["throughput_ops_s_low"] <= row["throughput_ops_s"] <= row["throughput_ops_s_high"]
        assert math.isnan(row["read_latency_us_p99"]) == (row["lookups"] == 0)
    page = found["report"].read_text()
    assert "Best shape by lookups" in page
    assert "lazy-leveling" in page


def point(**changes: Any) -> MapPoint:
    given: dict[str, Any] = dict.fromkeys(MapPoint.__dataclass_fields__, 1.0)
    return MapPoint(**{**given, "shape": "1", "filters": "uniform", "turn": 0, **changes})


def test_a_point_is_the_median_over_its_runs() -> None:
    (row,) = summary_of(
        [point(turn=turn, throughput_ops_s=speed) for turn, speed in enumerate((5.0, 1.0, 3.0))]
    )
    assert (row["throughput_ops_s_low"], row["throughput_ops_s"], row["throughput_ops_s_high"]) == (
        1.0,
        3.0,
        5.0,
    )
    assert "turn" not in row


def test_shapes_are_stores() -> None:
    assert shape_options("3", "monkey", 4.0, 10) == {
        "flsm": {"filters": "monkey", "bits_per_key": "4", "size_ratio": "10", "policy_1": "3"}
    }
    assert shape_options("lazy-leveling", "uniform", 8.0, 5)["flsm"]["deepest_policy"] == "1"
    assert shape_options("moderate", "uniform", 8.0, 10)["flsm"]["policy_1"] == "5"
    assert (
        shape_options("universal", "uniform", 8.0, 10)["cf"]["compaction_style"]
        == "kCompactionStyleUniversal"
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"shapes": ["universl"]}, "did you mean 'universal'"),
        ({"shapes": ["11"]}, "unknown shape '11'"),
        ({"filters": ["monky"]}, "did you mean 'monkey'"),
        ({"lookups": [50]}, "lookups: 50 must be from 0 to 1"),
        ({"bits_per_key": [-1]}, "bits_per_key: -1 must be from 0 to 100"),
        ({"repeats": 0}, "repeats: 0 must be at least 1"),
        ({"device": "nvm"}, "device"),
        ({"warm": "0s"}, "warm"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(given: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message) as raised:
        api.map_flsm(**({"device": "sata"} | given))
    assert "\n" not in str(raised.value)
