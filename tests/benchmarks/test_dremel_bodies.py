"""The measuring parts of Dremel's benchmarks, on an engine without stores."""

import math
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from benchmarks.common.claims import Claim, Measured, Settings, decided, exactly, reported
from benchmarks.common.tables import read_rows, typed, write_csv
from benchmarks.dremel import (
    buckets,
    fusion,
    halving,
    latency,
    motivation,
    tuning_time,
)
from benchmarks.dremel.searches import merged, over_searches
from tests.benchmarks.made_up import synthetic_engine

from rocktune.errors import UserError

WRITE_HEAVY = "dremel-n-skew0.3-30get"
FAST = "dremel-n-skew0.9-30get-200mb"
ALL = "min_latency,max_throughput,balance"


def claims_of(
    module: ModuleType, monkeypatch: pytest.MonkeyPatch, out: Path, quick: bool = False, **extra: Any
) -> dict[str, Claim]:
    monkeypatch.setattr(module, "embedded_engine", synthetic_engine)
    body = getattr(module, module.__name__.rpartition(".")[2])
    settings = Settings(quick, False, out, 64, 1, "", {"pairs": 2, "repeats": 2} | extra)
    claims = body(settings)
    assert (out / "figure.html").stat().st_size > 1000
    found = {claim.name: claim for claim in claims}
    assert len(found) == len(claims)
    assert all(claim.engine and claim.device and claim.source.startswith("Dremel, ") for claim in claims)
    return found


def test_motivation(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    claims = claims_of(motivation, monkeypatch, tmp_path, configurations=11, per_feature=3)
    # Throughput is constant over the age, so ranks are kept and the start predicts the end.
    assert claims[f"{WRITE_HEAVY}_figure_4b_best_10_kept"].measured.value == 10
    assert claims[f"{WRITE_HEAVY}_figure_4c_error_of_power_law"].measured.high < 0.01
    assert claims[f"{WRITE_HEAVY}_figure_4a_time_below_half_of_the_mean"].measured.value == 0
    # Write buffers alone matter, and the best of the four is so everywhere.
    assert claims["figure_1b_distinct_best_configurations"].measured.value == 1
    poor_over = f"{WRITE_HEAVY}_figure_4d_good_over_poor_"
    assert claims[f"{poor_over}read_sstable_cost"].measured.value < 1.1
    assert claims[f"{poor_over}block_cache_hit_rate"].measured.value > 1.1
    assert len(read_rows(tmp_path / "configurations.csv", typed())) == 12


def test_tuning_time(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    claims = claims_of(
        tuning_time, monkeypatch, tmp_path, settings=WRITE_HEAVY, tuners="dremel,random,tpe,auto"
    )
    assert claims[f"{WRITE_HEAVY}_dremel_over_tuning_guide"].measured.value > 1.1
    assert claims[f"{WRITE_HEAVY}_random_over_tuning_guide"].measured.value > 1.1
    assert {f"{WRITE_HEAVY}_dremel_over_{rival}" for rival in ("random", "tpe", "auto")} <= claims.keys()
    rows = read_rows(tmp_path / "recommended.csv", typed())
    assert {row["tuner"] for row in rows} == {"dremel", "random", "tpe", "auto"}
    # Nothing is recommended before each arm had its turn, 16 runs to 60 s.
    assert rows[0]["tuner"] == "dremel"
    assert float(rows[0]["full_size_s"]) == pytest.approx(16 * 60)
    assert max(float(row["full_size_s"]) for row in rows) <= 2325 * (1 + 1e-9)


def test_settings_are_won_and_lost_and_their_mean_has_an_interval(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    two = f"{WRITE_HEAVY},{FAST}"
    claims = claims_of(tuning_time, monkeypatch, tmp_path, settings=two, tuners="dremel,random")
    mean = claims["dremel_over_tuning_guide_in_all_settings"]
    ratios = [claims[f"{each}_dremel_over_tuning_guide"].measured.value for each in two.split(",")]
    assert mean.measured.value == pytest.approx(math.sqrt(math.prod(ratios)))
    assert mean.measured.repeats == 2
    assert mean.device == "ssd-100mb, ssd-200mb"
    assert claims["settings_where_dremel_wins_over_tuning_guide"].measured.value == 2
    assert claims["settings_where_dremel_loses_to_tuning_guide"].measured.value == 0
    assert merged([[mean]]) == [mean]
    once = claims_of(tuning_time, monkeypatch, tmp_path, settings=two, tuners="dremel,random", pairs=1)
    assert once["settings_where_dremel_wins_over_tuning_guide"].measured.value == 0


def test_tuning_time_needs_dremel_and_a_rival(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for tuners in ("dremel", "random,tpe"):
        with pytest.raises(UserError, match="name dremel and at least one other"):
            claims_of(tuning_time, monkeypatch, tmp_path, settings=WRITE_HEAVY, tuners=tuners)


def test_latency(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    claims = claims_of(latency, monkeypatch, tmp_path, settings=WRITE_HEAVY, objectives=ALL)
    ratio = claims[f"{WRITE_HEAVY}_min_latency_latency_over_tuning_guide"].measured
    assert ratio.value < 0.95
    assert claims[f"{WRITE_HEAVY}_balance_worse_of_both_improvements"].measured.value > 1.05


def test_latency_alone_is_searched_for_in_several_settings(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    claims = claims_of(
        latency, monkeypatch, tmp_path, settings=f"{WRITE_HEAVY},{FAST}", objectives="min_latency"
    )
    dremel = claims["min_latency_latency_over_tuning_guide_in_all_settings"].measured.value
    random = claims["random_min_latency_latency_over_tuning_guide_in_all_settings"].measured.value
    over = claims["min_latency_latency_over_random_in_all_settings"].measured.value
    assert dremel < 0.95
    assert over == pytest.approx(dremel / random)
    assert f"{FAST}_random_min_latency_latency_over_tuning_guide" in claims
    assert not any("balance" in name for name in claims)


@pytest.mark.parametrize("objectives", ["max_throughput", "min_latency,speed"])
def test_latency_refuses_other_objectives(
    objectives: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with pytest.raises(UserError, match="objectives: "):
        claims_of(latency, monkeypatch, tmp_path, settings=WRITE_HEAVY, objectives=objectives)


def test_fusion(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    claims = claims_of(fusion, monkeypatch, tmp_path, quick=True)
    ratio = claims[f"{WRITE_HEAVY}_table_3_within_over_across"]
    assert ratio.paper == 0.179
    assert ratio.measured.repeats == 4
    assert len(read_rows(tmp_path / "arms.csv", typed())) == 8
    assert f"{FAST}_figure_12_all_features_over_all_but_compaction_frequency" in claims


def test_buckets(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    claims = claims_of(buckets, monkeypatch, tmp_path, settings=FAST, buckets="3,2")
    # (81 + 15) configurations against 16 + 15.
    assert claims[f"{FAST}_3_buckets_over_2_time"].measured.value == pytest.approx(96 / 31, rel=0.02)
    assert claims[f"{FAST}_2_buckets_over_tuning_guide"].measured.value > 1.1


def test_halving(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    claims = claims_of(halving, monkeypatch, tmp_path, settings=WRITE_HEAVY)
    achieved = claims[f"{WRITE_HEAVY}_achieved_over_best_seen"]
    assert achieved.paper == 0.908
    assert 0.9 < achieved.measured.value <= 1.0
    trace = [
        row for row in read_rows(tmp_path / "ucb_trace.csv", typed()) if row["setting"] == halving.TRACED[0]
    ]
    assert [int(row["round"]) for row in trace] == [0] * 16 + [1] * 5 + [2] * 5 + [3] * 5 + [4] * 5
    # Each arm's first configuration comes once; then the arms of the highest rewards have their turn.
    assert len({row["arm"] for row in trace[:16]}) == 16
    first = sorted(trace[:16], key=lambda row: -float(row["throughput_ops_s"]))
    assert {row["arm"] for row in trace[16:21]} == {row["arm"] for row in first[:5]}


def test_an_interrupted_script_measures_nothing_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ledger = f"sqlite:///{tmp_path}/ledger.sqlite"
    first = claims_of(latency, monkeypatch, tmp_path, settings=WRITE_HEAVY, objectives=ALL, ledger=ledger)

    def refuse(*_: Any) -> None:
        raise AssertionError("everything is recorded")

    monkeypatch.setattr("rocktune.testing.synthetic_engine.SyntheticEngine.open", refuse)
    again = claims_of(latency, monkeypatch, tmp_path, settings=WRITE_HEAVY, objectives=ALL, ledger=ledger)
    assert {name: claim.measured for name, claim in again.items()} == {
        name: claim.measured for name, claim in first.items()
    }


def test_intervals_are_over_searches() -> None:
    def body(settings: Settings) -> list[Claim]:
        """Has a ratio of 2 or 8, and a time of 10 or 30."""
        second = settings.seed == 8
        known = Measured(8.0 if second else 2.0, 1.9, 2.1, 6)
        claim = reported("ratio", "s", "ratio of throughput", known, engine="", device="")
        took = reported("time", "s", "s", exactly(30.0 if second else 10.0), engine="", device="")
        return [decided(claim, low=1.4), took]

    settings = Settings(False, False, None, 64, 7, "", {"searches": 2})
    ratio, took = over_searches(body)(settings)
    assert ratio.measured.value == pytest.approx(4)
    assert ratio.measured.repeats == 2
    assert ratio.unit == "ratio of throughput; over searches"
    # Each search alone keeps the target by far, but two that differ so much do not.
    assert ratio.measured.low < 1.4
    assert ratio.holds is False
    assert took.measured.value == 20


def test_tables_of_all_searches_are_joined(tmp_path: Path) -> None:
    def body(settings: Settings) -> list[Claim]:
        assert settings.out is not None
        write_csv(settings.out / "t.csv", [{"tuner": "bo", "ratio": settings.seed / 2}])
        return []

    over_searches(body)(Settings(False, False, tmp_path, 64, 9, "", {"searches": 2}))
    assert (tmp_path / "t.csv").read_text().split() == ["search,tuner,ratio", "9,bo,4.5", "10,bo,5.0"]
