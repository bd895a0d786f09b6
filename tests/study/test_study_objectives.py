"""Studies with constraints and with several objectives."""

import pytest
from tests.study.small_studies import SMALL, response, run, spec_of

from rocktune.errors import UserError
from rocktune.export import export_study
from rocktune.ledger import Ledger
from rocktune.outcome import Outcome
from rocktune.testing.synthetic_engine import SyntheticEngine

BOTH = ("throughput_ops_s", "read_latency_us_p99")


def _opposed_engine() -> SyntheticEngine:
    """What makes a store faster makes its reads slower: every configuration is on the front."""
    return SyntheticEngine(
        response, shared_noise=0, own_noise=0, latency_us=lambda _, throughput: throughput / 100
    )


def test_a_front_is_measured_afresh_and_its_middle_is_proven(ledger: Ledger) -> None:
    verification = SMALL | {"front_points": 5}
    spec = spec_of(1.875 * 20, objective=BOTH, verification=verification)
    engine = _opposed_engine()
    engine.version = "RocksDB 7.8.3, assertions off"
    outcome = run(spec, engine, ledger)
    assert outcome["objective"] == "throughput_ops_s, read_latency_us_p99"
    front = outcome["front"]
    assert len(front) == 5
    assert [point["throughput_ops_s"] for point in front] == sorted(
        (point["throughput_ops_s"] for point in front), reverse=True
    )
    searched = [
        record.measurement.figures["throughput_ops_s"]
        for record in ledger.trials(ledger.study("study"))
        if record.phase == "search" and record.measurement
    ]
    assert front[0]["throughput_ops_s"] == pytest.approx(max(searched))
    assert front[-1]["throughput_ops_s"] == pytest.approx(min(searched))
    picked = [point["configuration"] for point in front[1:-1]]
    assert outcome["best"]["configuration"] in picked
    text = export_study("options-file", ledger.study("study"), Outcome.from_json(outcome), point=1)
    assert "point 1 of 5 of the Pareto front" in text
    assert f"write_buffer_size={front[0]['configuration']['write_buffer_size']}" in text
    for point, message in (
        (0, "point: 0 does not exist; the front has 1 to 5"),
        (6, "point: 6 does not exist; the front has 1 to 5"),
    ):
        with pytest.raises(UserError, match=message):
            export_study("options-file", ledger.study("study"), Outcome.from_json(outcome), point=point)


def test_a_constraint_that_nothing_keeps_is_told_with_the_nearest_miss(ledger: Ledger) -> None:
    spec = spec_of(constraints=["read_latency_us_p99<=100"])
    outcome = run(spec, _opposed_engine(), ledger)
    assert (outcome["best"], outcome["recommended"]) == (None, "baseline")
    records = ledger.trials(ledger.study("study"))
    assert {record.phase for record in records} == {"baseline", "search", "pick"}
    smallest = min(record.measurement.figures[BOTH[1]] for record in records if record.measurement)
    assert outcome["nearest_miss"]["read_latency_us_p99"] == pytest.approx(smallest, rel=0.02)
    with pytest.raises(UserError, match="has no front"):
        export_study("options-file", ledger.study("study"), Outcome.from_json(outcome), point=1)


def test_a_constraint_decides_what_is_best(ledger: Ledger) -> None:
    spec = spec_of(1.875 * 20, constraints=["read_latency_us_p99<=215"])
    outcome = run(spec, _opposed_engine(), ledger)
    best, baseline = outcome["best"], outcome["baseline"]
    assert best["read_latency_us_p99"]["value"] <= 215 < baseline["read_latency_us_p99"]["value"]
    assert (best["keeps_constraints"], baseline["keeps_constraints"]) == (True, False)
    assert outcome["recommended"] == "best"
    assert outcome["ratio_to_baseline"]["value"] < 1
    assert outcome["nearest_miss"] is None


def test_a_front_keeps_what_differs_by_noise_alone(ledger: Ledger) -> None:
    """Throughput and latency improve together, so the means leave one point; noise leaves several."""
    verification = SMALL | {"front_points": 6, "pick_runs": 2}
    # A wide search would have finalists that differ by more than the noise.
    engine = SyntheticEngine(lambda _: 20_000.0, own_noise=0.05, latency_us=lambda _, ops: 1e6 / ops)
    spec = spec_of(1.875 * 20, tuner="nsga2", objective=BOTH, verification=verification)
    outcome = Outcome.from_json(run(spec, engine, ledger))
    assert set(outcome.front_noise) == set(BOTH)
    assert all(1.02 < ratio < 1.5 for ratio in outcome.front_noise.values())
    assert len(outcome.front) == 6
    everyone = set(range(1, 7))
    assert any(set(point.alike) == everyone - {number} for number, point in enumerate(outcome.front, 1))
