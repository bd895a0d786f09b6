"""Studies of goals beyond one figure: the cost of operations, and weighted sums."""

from pathlib import Path
from typing import Any

import pytest
from tests.study.small_studies import engine_of, response, run, spec_of, timeless, verify

from rocktune.cli.tables import _comparison
from rocktune.cost import COST, Prices
from rocktune.errors import UserError
from rocktune.ledger import Ledger
from rocktune.outcome import Outcome
from rocktune.report import check_command_line
from rocktune.report.cost import cost_rows, cost_section
from rocktune.study import StudySpec, has_larger_model, make_request, resolve_scale_check
from rocktune.testing.synthetic_engine import SyntheticEngine

WEIGHTED = "0.7*throughput_ops_s + 0.3*read_latency_us_p99"
PRICES = 'currency = "USD"\nper_cpu_hour = 0.04\nper_gb_hour_of_memory = 0.004\n'


@pytest.fixture
def prices(tmp_path: Path) -> str:
    file = tmp_path / "prices.toml"
    file.write_text(PRICES)
    return str(file)


def test_a_study_of_the_cost_proves_it_and_shows_its_parts(prices: str, ledger: Ledger) -> None:
    spec = spec_of(1.875 * 12, objective=COST, prices=prices, constraints=["throughput_ops_s>=1000"])
    assert StudySpec.model_validate(spec.model_dump(mode="json")) == spec
    document = run(spec, engine_of(), ledger)
    outcome = Outcome.from_json(document)
    assert outcome.prices == Prices(currency="USD", per_cpu_hour=0.04, per_gb_hour_of_memory=0.004)
    best, baseline = (document[side][COST]["value"] for side in ("best", "baseline"))
    # The machine time of a run is constant, so an operation costs less in a faster store.
    assert best < baseline
    assert document["ratio_to_baseline"]["value"] == pytest.approx(baseline / best, rel=0.02)
    assert document["recommended"] == "best"
    rows = dict(cost_rows(outcome))
    assert list(rows) == ["cost, USD per million operations", "of cpu", "of memory"]
    for part in ("cost_of_cpu", "cost_of_memory"):
        assert document["best"][part]["value"] < document["baseline"][part]["value"]
    parts = document["best"]["cost_of_cpu"]["value"] + document["best"]["cost_of_memory"]["value"]
    assert parts == pytest.approx(best)
    assert "USD per million operations" in cost_section(outcome)
    assert "cost, USD per million operations" in list(_comparison(outcome).columns[0].cells)


def test_cost_without_a_study_of_it_has_no_section(ledger: Ledger) -> None:
    outcome = Outcome.from_json(run(spec_of(), engine_of(), ledger))
    assert (cost_rows(outcome), cost_section(outcome), outcome.prices) == ([], "", None)


def test_a_verification_prices_its_own_scale(prices: str, ledger: Ledger) -> None:
    # At 1/64 these stores hold 64 times less. The synthetic engine's memory does not shrink, so the same
    # bytes at scale 1/32 stand for half of the memory.
    spec = spec_of(1.875 * 12, objective=COST, prices=prices)
    before = run(spec, engine_of(), ledger)["verifications"]["1/64"]
    after = verify(spec, engine_of(), ledger, 32)["verifications"]["1/32"]
    for side in ("best", "baseline"):
        ratio = after[side]["cost_of_memory"]["value"] / before[side]["cost_of_memory"]["value"]
        assert ratio == pytest.approx(0.5, rel=0.15)
        cpu = after[side]["cost_of_cpu"]["value"] / before[side]["cost_of_cpu"]["value"]
        assert cpu == pytest.approx(1.0, rel=0.15)


@pytest.mark.parametrize(
    ("workload", "given", "message"),
    [
        (
            "ycsb-a",
            {"objective": "scan_latency_us_p99"},
            "objective: workload 'ycsb-a' has no scans, so that no run has scan_latency_us_p99; name another",
        ),
        ("ycsb-c", {"objective": "write_latency_us_p99"}, "objective: workload 'ycsb-c' has no writes"),
        ("ycsb-c", {"objective": "write_amplification"}, "objective: workload 'ycsb-c' has no writes"),
        (
            "ycsb-a",
            {"constraints": ["skipped_keys_per_scan<=5"]},
            "constraint: workload 'ycsb-a' has no scans",
        ),
        (
            "ycsb-e",
            {"objective": "0.5*read_latency_us_p99 + 0.5*throughput_ops_s"},
            "objective: workload 'ycsb-e' has no reads",
        ),
    ],
)
def test_figures_that_no_run_has_are_refused(workload: str, given: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        spec_of(workload=workload, **given)


def test_figures_of_operations_that_there_are_are_taken() -> None:
    for workload, objective in (
        ("ycsb-e", "scan_latency_us_p99"),
        ("ycsb-f", "write_amplification"),
        # A figure that no run has does not count in the balance.
        ("ycsb-e", "balance"),
    ):
        assert spec_of(workload=workload, objective=objective).objective == objective


@pytest.mark.parametrize(
    ("objective", "message"),
    [
        (COST, "objective: 'cost' needs your prices; give them with --prices FILE"),
        ("0.5*cost + 0.5*throughput_ops_s", "'cost' needs your prices"),
        ("max_write_stop_s", "may be 0, and ratios to 0 are not defined; improve longest_wait_us"),
    ],
)
def test_a_goal_that_cannot_be_measured_is_refused(objective: str, message: str) -> None:
    with pytest.raises(UserError, match=message) as error:
        spec_of(objective=objective)
    assert "\n" not in str(error.value)


def test_prices_without_use_are_refused(prices: str) -> None:
    with pytest.raises(UserError, match="no objective and no constraint is 'cost'"):
        spec_of(prices=prices)
    with pytest.raises(UserError, match="engine 'db_bench' does not count all that has a price"):
        spec_of(objective=COST, prices=prices, engine="db_bench", device="none")


def test_a_constraint_on_the_cost_needs_prices_too(prices: str, ledger: Ledger) -> None:
    with pytest.raises(UserError, match="needs your prices"):
        spec_of(constraints=["cost<=0.01"])
    outcome = run(spec_of(constraints=["cost<=1000"], prices=prices), engine_of(), ledger)
    assert outcome["best"]["keeps_constraints"]


@pytest.mark.parametrize("tuner", ["random", "dremel", "ga", "tpe", "smpso"])
def test_every_tuner_improves_a_weighted_sum(tuner: str, ledger: Ledger) -> None:
    spec = spec_of(1.875 * 20, tuner=tuner, objective=WEIGHTED)
    outcome = run(spec, engine_of(), ledger)
    assert outcome["objective"] == WEIGHTED
    best, baseline = outcome["best"], outcome["baseline"]
    ratios = {
        field: best[field]["value"] / baseline[field]["value"]
        for field in ("throughput_ops_s", "read_latency_us_p99")
    }
    expected = ratios["throughput_ops_s"] ** 0.7 * ratios["read_latency_us_p99"] ** -0.3
    assert outcome["ratio_to_baseline"]["value"] == pytest.approx(expected, rel=0.02)
    assert outcome["ratio_to_baseline"]["value"] > 1
    assert Outcome.from_json(outcome).front == ()
    assert f"weighted figures, {WEIGHTED}" in list(_comparison(Outcome.from_json(outcome)).columns[0].cells)


def test_weights_of_opposed_figures_decide_what_is_chosen(ledger: Ledger) -> None:
    """What makes a store faster makes its reads slower, in proportion."""

    def engine() -> SyntheticEngine:
        return SyntheticEngine(
            response, shared_noise=0, own_noise=0, latency_us=lambda _, throughput: throughput / 100
        )

    fast = spec_of(1.875 * 20, objective="0.7*throughput_ops_s + 0.3*read_latency_us_p99")
    outcome = run(fast, engine(), ledger)
    assert outcome["best"]["throughput_ops_s"]["value"] > outcome["baseline"]["throughput_ops_s"]["value"]
    prompt = spec_of(1.875 * 20, objective="0.3*throughput_ops_s + 0.7*read_latency_us_p99")
    outcome = run(prompt.model_copy(update={"name": "prompt"}), engine(), ledger)
    latency = "read_latency_us_p99"
    assert outcome["best"][latency]["value"] < outcome["baseline"][latency]["value"]


def test_a_study_of_weights_resumes_to_the_same_outcome(ledger: Ledger) -> None:
    spec = spec_of(objective=WEIGHTED)
    outcome = run(spec, engine_of(), ledger)
    assert timeless(run(spec, engine_of(), ledger)) == timeless(outcome)


def test_the_rate_holds_in_all_runs_of_a_goal_without_throughput(ledger: Ledger) -> None:
    engine = engine_of()
    run(spec_of(objective="longest_wait_us", protocol="steady", rate=500.0), engine, ledger)
    arrivals = {
        session.arrival.operations_s for each in engine.experiments for session in each.workload.sessions
    }
    assert arrivals == {500.0}


def test_models_are_compared_by_a_measured_figure(prices: str, ledger: Ledger) -> None:
    spec = spec_of(objective=COST, prices=prices)
    assert not has_larger_model(spec)
    assert has_larger_model(spec_of())
    outcome = Outcome.from_json(run(spec, engine_of(), ledger))
    assert check_command_line(ledger.study("study"), outcome) is None
    request = {
        "workload": "dremel-write-heavy",
        "device": "ssd-100mb",
        "scale": "1/64",
        "objective": WEIGHTED,
    }
    with pytest.raises(UserError, match="models are compared by a measured figure, not by"):
        resolve_scale_check(make_request(request), "check", 20)
