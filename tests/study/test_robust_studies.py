"""Studies of the worst case over workloads near the given one."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.study.small_studies import Recorder, recorded_keys, run, spec_of, timeless, verify

from rocktune.engine.base import Progress
from rocktune.errors import UserError
from rocktune.ledger import Ledger
from rocktune.outcome import Outcome
from rocktune.report import findings
from rocktune.report.robust import workload_rows, workloads_section
from rocktune.study.specs.estimate import estimate
from rocktune.testing.dying import Died
from rocktune.testing.synthetic_engine import SyntheticEngine, SyntheticRun
from rocktune.trial import Configuration, Experiment
from rocktune.units import MIB

BUDGET_S = 1.875 * 5 * 16
WORKLOADS = 5


class WorkloadEngine(SyntheticEngine):
    """An engine whose throughput depends on the workload too."""

    def __init__(self, response: Callable[[Configuration, str], float]) -> None:
        super().__init__(lambda _: 1.0, own_noise=0.002)
        self._by_workload = response
        self._engines: dict[str, SyntheticEngine] = {}

    def open(
        self,
        experiment: Experiment,
        configuration: Configuration,
        seed: int,
        progress: Progress | None = None,
    ) -> SyntheticRun:
        name = experiment.workload.name
        if name not in self._engines:
            self._engines[name] = SyntheticEngine(
                lambda opened: self._by_workload(opened, name), own_noise=0.002
            )
        self.experiments.append(experiment)
        return self._engines[name].open(experiment, configuration, seed, progress)


def _buffer_mib(configuration: Configuration) -> float:
    return float(configuration.get("write_buffer_size", 4 * MIB)) / MIB


def good_everywhere(configuration: Configuration, workload: str) -> float:
    """Large write buffers help, and more so with more writes."""
    return 20_000 + _buffer_mib(configuration) * (100 if "more writes" in workload else 30)


def good_here_alone(configuration: Configuration, workload: str) -> float:
    """Large write buffers help on the given workload, and hurt with fewer writes."""
    return 20_000 + _buffer_mib(configuration) * (-30 if "fewer writes" in workload else 100)


def test_the_worst_of_the_workloads_is_proven(ledger: Ledger) -> None:
    spec = spec_of(BUDGET_S, robust=0.1)
    names = [near.name for near in spec.neighbours]
    assert len(names) == WORKLOADS - 1
    engine = WorkloadEngine(good_everywhere)
    document = run(spec, engine, ledger)
    outcome = Outcome.from_json(document)
    assert {each.workload.name for each in engine.experiments} == {spec.workload.name, *names}
    assert outcome.recommended == "best"
    ratios = {each.workload: each.ratio for each in outcome.workloads}
    assert set(ratios) == {spec.workload.name, *names}
    values = [ratio.value or 0 for ratio in ratios.values()]
    assert values == sorted(values)
    assert outcome.ratio.value == pytest.approx(values[0])
    # It helps least where there are not more writes.
    assert "more writes" not in outcome.workloads[0].workload
    assert "more writes" in outcome.workloads[-1].workload
    assert f"on the worst of {WORKLOADS} workloads" in findings.headline(outcome)
    assert [name for name, _ in workload_rows(outcome)] == list(ratios)
    assert all(name in workloads_section(outcome) for name in names)


def test_what_helps_on_the_given_workload_alone_is_not_recommended(ledger: Ledger) -> None:
    narrow = run(spec_of(1.875 * 16), WorkloadEngine(good_here_alone), ledger)
    assert narrow["recommended"] == "best"
    assert (
        narrow["best"]["configuration"]["write_buffer_size"]
        > narrow["baseline"]["configuration"]["write_buffer_size"]
    )
    spec = spec_of(BUDGET_S, robust=0.1).model_copy(update={"name": "robust"})
    robust = run(spec, WorkloadEngine(good_here_alone), ledger)
    # The search seeks the worst case, which small buffers make best; where they lose, nothing is proven.
    assert (
        robust["best"]["configuration"]["write_buffer_size"]
        < narrow["best"]["configuration"]["write_buffer_size"]
    )
    assert robust["recommended"] == "baseline"
    worst, best = (robust["workloads"][place]["ratio"]["value"] for place in (0, -1))
    assert worst < 1 <= best


def test_constraints_hold_on_the_worst_workload(ledger: Ledger) -> None:
    """The given workload does more than 20,000 operations, the ones with fewer writes do less."""

    def response(configuration: Configuration, workload: str) -> float:
        return good_everywhere(configuration, workload) * (0.5 if "fewer writes" in workload else 1.0)

    outcome = run(
        spec_of(BUDGET_S, robust=0.1, constraints=["throughput_ops_s>=18000"]),
        WorkloadEngine(response),
        ledger,
    )
    assert (outcome["best"], outcome["nearest_miss"] is None) == (None, False)


def test_each_trial_costs_the_seconds_of_all_workloads(ledger: Ledger) -> None:
    spec = spec_of(BUDGET_S, robust=0.1)
    run(spec, WorkloadEngine(good_everywhere), ledger)
    searched = [record for record in ledger.trials(ledger.study("study")) if record.phase == "search"]
    assert len(searched) == 16
    assert sum(record.measured_s for record in searched) == pytest.approx(BUDGET_S)
    alone, near = (
        estimate(spec_of(budget, robust=robust)) for budget, robust in ((BUDGET_S, None), (BUDGET_S, 0.1))
    )
    assert near.verification_s == pytest.approx(WORKLOADS * alone.verification_s)
    assert near.memory_bytes > alone.memory_bytes


def test_the_default_budget_is_for_as_many_configurations() -> None:
    robust, alone = (spec_of(budget=None, robust=share) for share in (0.1, None))
    assert robust.budget_s == pytest.approx(WORKLOADS * alone.budget_s)


def test_a_killed_study_goes_on_to_the_same_outcome(ledger: Ledger) -> None:
    spec = spec_of(BUDGET_S, robust=0.1)
    whole = run(spec.model_copy(update={"name": "whole"}), WorkloadEngine(good_everywhere), ledger)
    with pytest.raises(Died):
        run(spec, WorkloadEngine(good_everywhere), ledger, Recorder(dies_after=9))
    outcome = run(spec, WorkloadEngine(good_everywhere), ledger)
    assert timeless(outcome) | {"study": ""} == timeless(whole) | {"study": ""}
    assert len({trial for trial, _ in recorded_keys(ledger)}) == len(recorded_keys(ledger))


def test_halving_goes_on_with_all_runs_of_a_trial(ledger: Ledger) -> None:
    spec = spec_of(BUDGET_S, tuner="dremel", robust=0.1)
    outcome = run(spec, WorkloadEngine(good_everywhere), ledger)
    assert outcome["recommended"] == "best"
    ages = {
        record.trial.until_s: record.measurement
        for record in ledger.trials(ledger.study("study"))
        if record.phase == "search" and record.measurement
    }
    assert len(ages) > 1
    assert all(len(measured.neighbours) == WORKLOADS - 1 for measured in ages.values())


def test_a_verification_at_another_scale_runs_on_all_workloads(ledger: Ledger) -> None:
    spec = spec_of(BUDGET_S, robust=0.1)
    run(spec, WorkloadEngine(good_everywhere), ledger)
    outcome = verify(spec, WorkloadEngine(good_everywhere), ledger, 32)
    assert len(outcome["verifications"]["1/32"]["workloads"]) == WORKLOADS


def test_tails_are_those_of_the_given_workload(ledger: Ledger) -> None:
    spec = spec_of(BUDGET_S, robust=0.1, protocol="steady", proof_pairs=6)
    engine = WorkloadEngine(good_everywhere)
    outcome = Outcome.from_json(run(spec, engine, ledger))
    assert outcome.tail is not None
    arrivals = {
        (each.workload.name == spec.workload.name, session.arrival.kind)
        for each in engine.experiments
        for session in each.workload.sessions
    }
    assert arrivals == {(True, "closed"), (False, "closed"), (True, "fixed_rate")}


def test_a_request_that_cannot_be_robust_is_refused(tmp_path: Path) -> None:
    def workload(mix: str) -> str:
        file = tmp_path / "uniform.toml"
        file.write_text(f'name = "uniform"\nkeys = 100000\n[[sessions]]\nmix = {mix}\n')
        return str(file)

    with pytest.raises(UserError, match="engine 'db_bench' cannot run workloads near yours"):
        spec_of(robust=0.1, workload=workload("{ get = 0.5, put = 0.5 }"), engine="db_bench", device="none")
    with pytest.raises(UserError, match="robust: input should be less than 1, not"):
        spec_of(robust=1.5)
    with pytest.raises(UserError, match="has neither a mix of reads and writes nor skewed keys"):
        spec_of(robust=0.1, workload=workload("{ put = 1.0 }"))
