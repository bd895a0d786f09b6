"""Studies that begin with what earlier ones have found."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.study.small_studies import engine_of, response, run, spec_of

from rocktune.device import load_device
from rocktune.ledger import Ledger
from rocktune.study import StudySpec, earlier_of, seeds_of, space_of
from rocktune.study.warm_start import MAX_DISTANCE, MAX_SEEDS, Earlier, distance
from rocktune.testing.synthetic import synthetic_window
from rocktune.trial import Configuration, Result, Status, Trial
from rocktune.workload import load_workload

ENGINE = "RocksDB 9.9.3"


def earlier(name: str, spec: StudySpec, seed: int = 5, count: int = 8, **given: Any) -> Earlier:
    """An earlier study with some configurations; the later ones are faster."""
    configurations = map(Configuration, space_of(spec).sample(count, np.random.default_rng(seed)))
    results = [
        Result(Trial(each, 1.875), Status.OK, synthetic_window(0, 1.875, 1000.0 * number), "")
        for number, each in enumerate(configurations, 1)
    ]
    return Earlier(name, spec, given.pop("engine", ENGINE), results, **given)


def test_the_distance_of_equal_conditions_is_0_and_grows_with_differences() -> None:
    spec = spec_of()

    def far(engine: str = ENGINE, **changed: Any) -> float:
        other = spec.model_copy(update=changed)
        return distance(spec, ENGINE, Earlier("x", other, engine, ()))

    assert far() == 0
    assert far(seed=9, scale=16, budget_s=100.0) == 0
    # A tenfold device, by hand: 0.3 for each decade.
    ten = spec.device.model_copy(update={"bandwidth_bytes_s": 10 * spec.device.bandwidth_bytes_s})
    assert far(device=ten) == pytest.approx(0.3)
    # Half of the data over memory twice as large: 0.3 * log10(2).
    assert far(memory_bytes=2 * spec.memory_bytes) == pytest.approx(0.3 * np.log10(2))
    assert far("RocksDB 9.8.1") == pytest.approx(0.2)
    assert far("RocksDB 9.9.1") == 0
    reads = load_workload("dremel-read-heavy")
    assert 0.3 < far(workload=reads) < MAX_DISTANCE
    assert far(workload=reads, device=load_device("none")) > far(workload=reads)


def test_the_best_of_the_nearest_studies_come_by_turns() -> None:
    spec = spec_of(budget_s=1.875 * 40)
    near = earlier("near", spec)
    far = earlier("far", spec.model_copy(update={"memory_bytes": spec.memory_bytes * 2}), seed=6)
    other = {"device": load_device("none"), "workload": load_workload("dremel-read-heavy")}
    unlike = earlier("unlike", spec.model_copy(update=other), seed=7)
    seeds = seeds_of(spec, ENGINE, [far, unlike, near])
    assert [each.study for each in seeds] == ["near", "far", "near", "far"]
    assert [each.distance for each in seeds[:2]] == [0, pytest.approx(0.09, abs=0.001)]
    assert seeds[0].configuration == dict(near.results[-1].trial.configuration)
    assert len(seeds) == MAX_SEEDS


def test_the_proven_configuration_comes_first() -> None:
    spec = spec_of(budget_s=1.875 * 40)
    proven = dict(space_of(spec).sample(1, np.random.default_rng(77))[0])
    seeds = seeds_of(spec, ENGINE, [earlier("near", spec, proven=proven)])
    assert seeds[0].configuration == proven


@pytest.mark.parametrize(("runs", "seeds"), [(40, 4), (12, 3), (4, 1), (3, 0)])
def test_they_cost_a_quarter_of_the_budget_at_most(runs: int, seeds: int) -> None:
    spec = spec_of(budget_s=1.875 * runs)
    assert len(seeds_of(spec, ENGINE, [earlier("near", spec)])) == seeds


def test_failed_runs_and_the_baseline_are_not_taken_over() -> None:
    spec = spec_of(budget_s=1.875 * 40)
    failed = Result(
        Trial(Configuration(space_of(spec).sample(1, np.random.default_rng(5))[0]), 1.875),
        Status.CRASHED, None, "signal 6",
    )  # fmt: skip
    default = Result(Trial(space_of(spec).default(), 1.875), Status.OK, synthetic_window(0, 1.875, 9.0), "")
    assert seeds_of(spec, ENGINE, [Earlier("x", spec, ENGINE, [failed, default])]) == ()


def test_another_space_gets_the_nearest_configuration() -> None:
    wide = spec_of(space="full", budget_s=1.875 * 40)
    seeds = seeds_of(spec_of(budget_s=1.875 * 40), ENGINE, [earlier("wide", wide)])
    assert seeds
    for seed in seeds:
        space_of(spec_of()).validate(Configuration(seed.configuration))


def test_the_cheapest_of_an_earlier_study_are_taken_over_for_a_cost(tmp_path: Path) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text('currency = "USD"\nper_gb_hour_of_memory = 0.01\n')
    # All take the same memory, so that the fastest is the cheapest.
    for objective in ("cost", "0.5*cost + 0.5*throughput_ops_s"):
        spec = spec_of(budget_s=1.875 * 40, objective=objective, prices=str(prices))
        near = earlier("near", spec_of(budget_s=1.875 * 40))
        assert seeds_of(spec, ENGINE, [near])[0].configuration == dict(near.results[-1].trial.configuration)


@pytest.mark.parametrize("tuner", ["random", "auto", "dremel"])
def test_a_warm_study_measures_what_a_ledger_holds_first(tuner: str, ledger: Ledger) -> None:
    spec = spec_of(budget_s=1.875 * 16)
    run(spec.model_copy(update={"name": "cold"}), engine_of(response=response), ledger)
    seeds = seeds_of(spec, engine_of().version, tuple(earlier_of(ledger, spec.name)))
    assert 1 <= len(seeds) <= MAX_SEEDS
    warm = spec.model_copy(update={"tuner": tuner, "tried": seeds, "seed": 4})
    outcome = run(warm, engine_of(response=response), ledger)
    records = [each for each in ledger.trials(ledger.study("study")) if each.phase == "search"]
    assert [each.trial.configuration for each in records[: len(seeds)]] == [
        Configuration(each.configuration) for each in seeds
    ]
    # The winner is at least as good as the best of the cold study's.
    assert max(map(response, (each.trial.configuration for each in records))) >= max(
        response(Configuration(each.configuration)) for each in seeds
    )
    assert outcome["recommended"] == "best"


def test_an_outcome_of_a_newer_rocktune_does_not_hide_the_others(ledger: Ledger) -> None:
    for name in ("newer", "usual"):
        run(spec_of().model_copy(update={"name": name}), engine_of(response=response), ledger)
    newer = ledger.study("newer")
    outcome = ledger.outcome(newer)
    assert outcome is not None
    ledger.set_outcome(newer, {**outcome, "version": 99})
    assert [each.name for each in earlier_of(ledger, "other")] == ["newer", "usual"]


def test_the_study_itself_is_not_earlier(ledger: Ledger) -> None:
    run(spec_of(), engine_of(response=response), ledger)
    assert [each.name for each in earlier_of(ledger, "other")] == ["study"]
    assert list(earlier_of(ledger, "study")) == []
