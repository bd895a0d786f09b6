"""Studies in the steady protocol: full and aged stores, a closed loop, then an offered rate."""

import signal
from collections.abc import Sequence
from typing import Any

import pytest
from tests.study.small_studies import (
    Recorder,
    engine_of,
    recorded_keys,
    response,
    run,
    spec_of,
    timeless,
    verify,
)

from rocktune.engine.base import Conditions, Progress
from rocktune.ledger import Ledger
from rocktune.outcome import Outcome
from rocktune.report import findings, lasting
from rocktune.study import StudyInterrupted, StudySpec, seeds
from rocktune.testing.dying import Died
from rocktune.testing.synthetic_engine import SyntheticEngine, no_fault
from rocktune.trial import Configuration, Experiment
from rocktune.workload.arrival import ArrivalSpec
from rocktune.workload.sessions import SessionSpec


def steady_spec(**given: Any) -> StudySpec:
    return spec_of(protocol="steady", proof_pairs=6, **given)


def proof_experiments(engine: SyntheticEngine) -> list[Experiment]:
    return [each for each in engine.experiments if each.aged]


def arrivals(experiments: list[Experiment]) -> list[ArrivalSpec]:
    return [session.arrival for each in experiments for session in each.workload.sessions]


def offered(experiments: list[Experiment]) -> set[float]:
    return {each.operations_s for each in arrivals(experiments) if each.kind == "fixed_rate"}


def test_what_only_an_aged_store_shows_is_searched_on_aged_stores(ledger: Ledger) -> None:
    """The garbage of blob files has no model. Young and aged stores do not compare, so all runs are aged."""
    engine = engine_of()
    with_blobs = {"cf": {"enable_blob_files": "true", "min_blob_size": "100"}}
    run(steady_spec(base_options=with_blobs), engine, ledger)
    assert engine.experiments
    assert all(each.aged for each in engine.experiments)
    young = engine_of()
    large = {"cf": {"enable_blob_files": "true", "min_blob_size": "2000"}}
    run(steady_spec(base_options=large).model_copy(update={"name": "young"}), young, ledger)
    assert not all(each.aged for each in young.experiments)


def test_a_steady_study_from_beginning_to_end(ledger: Ledger) -> None:
    engine, observer = engine_of(), Recorder()
    outcome = Outcome.from_json(run(steady_spec(), engine, ledger, observer))
    assert observer.phases[-2:] == ["prove", "offer"]
    assert (outcome.protocol, outcome.objective, outcome.recommended) == (
        "steady",
        "sustained_throughput_ops_s",
        "best",
    )
    # All stores hold all keys; only those of the proof are aged, and each pair has its own.
    assert all(each.workload.preload.keys == each.workload.keys for each in engine.experiments)
    proof = proof_experiments(engine)
    pairs = [seeds.PROVE + pair for pair in range(6)]
    # Both runs of RocksDB's defaults begin on the store of the first pair.
    assert [each.base_seed for each in proof].count(pairs[0]) == 2 + 2 + 2
    assert sorted({each.base_seed for each in proof}) == pairs
    assert {each.base_seed for each in engine.experiments if not each.aged} == {0}
    # 12 runs of the pairs and 2 of the defaults in a closed loop; 12 at 80% of the baseline's mean.
    assert [each.kind for each in arrivals(proof)] == ["closed"] * 14 + ["fixed_rate"] * 12
    (rate,) = offered(proof)
    sustained = outcome.baseline.figure("sustained_throughput_ops_s").value
    assert sustained is not None
    assert rate == pytest.approx(0.8 * sustained)
    assert outcome.tail is not None
    assert outcome.tail.offered_ops_s == pytest.approx(rate)
    assert outcome.tail.offered_share == 0.8
    assert outcome.tail.verdict == "kept"
    assert outcome.tail.p99_ratio.repeats == 6 * 2
    assert outcome.seconds.prove == pytest.approx(14 * 480 / 64)
    # One window to settle, and two that count.
    assert outcome.seconds.offer == pytest.approx(12 * 3 * 1440 / 64)
    assert lasting.tail_sentence(outcome).startswith("Tail kept: at ")
    assert "sustained throughput" in findings.headline(outcome)


def slow_winners(configuration: Configuration, throughput: float) -> float:
    """Large write buffers make the tail three times longer."""
    return 300.0 if configuration.get("write_buffer_size", 0) > 64 << 20 else 100.0  # type: ignore[operator]


def test_a_worse_tail_is_not_recommended(ledger: Ledger) -> None:
    engine = SyntheticEngine(response, no_fault, own_noise=0.002, latency_us=slow_winners)
    outcome = Outcome.from_json(run(steady_spec(), engine, ledger))
    assert outcome.ratio.low is not None
    assert outcome.ratio.low > 1
    assert outcome.tail is not None
    assert (outcome.tail.verdict, outcome.recommended) == ("worse", "baseline")
    assert outcome.tail.p99_ratio.value == pytest.approx(3)
    assert findings.verdict(outcome).startswith("Keep the baseline.")
    assert "its tail latency at the offered rate was worse" in findings.verdict(outcome)
    assert "no proof of its tail" in findings.headline(outcome)


def test_finalists_with_a_worse_tail_are_passed_over(ledger: Ledger) -> None:
    """A faster finalist that stalls at the offered rate does not cost the user a recommendation."""
    verification = {"finalists": 3, "pick_runs": 2, "ablation_pairs": 0}
    spec = steady_spec(verification=verification)
    fastest = Outcome.from_json(run(spec, engine_of(), ledger)).best
    assert fastest is not None
    ledger.delete_study("study")

    def stalls(configuration: Configuration, _throughput: float) -> float:
        return 300.0 if dict(configuration) == fastest.configuration else 100.0

    observer = Recorder()
    engine = SyntheticEngine(response, no_fault, own_noise=0.002, latency_us=stalls)
    outcome = Outcome.from_json(run(spec, engine, ledger, observer))
    assert outcome.best is not None
    assert outcome.best.configuration != fastest.configuration
    assert outcome.recommended == "best"
    (passed,) = outcome.passed_over
    assert passed.configuration == fastest.configuration
    assert passed.p99_ratio == pytest.approx(3, rel=0.02)
    assert passed.figures["sustained_throughput_ops_s"] > 20_000  # type: ignore[operator]
    assert "One finalist was faster in a closed loop and passed over" in " ".join(lasting.sentences(outcome))
    # The baseline and both finalists, twice each, on loaded stores. A run has two windows.
    assert outcome.seconds.tails == pytest.approx(6 * 2 * 1440 / 64)
    rated = [each for each in engine.experiments if not each.aged and offered([each])]
    assert len(rated) == 6
    assert Outcome.from_json(outcome.to_json()) == outcome


def test_options_that_only_the_tail_needs_are_kept(ledger: Ledger) -> None:
    """Pruning measures a closed loop, so what it leaves out is measured at the offered rate, too."""
    spec = steady_spec()
    pruned = Outcome.from_json(run(spec, engine_of(), ledger))
    assert pruned.best is not None
    dropped = [each for each in pruned.options_that_matter if not each.kept]
    assert dropped
    ledger.delete_study("study")

    def stalls(configuration: Configuration, _throughput: float) -> float:
        return 300.0 if dict(configuration) == pruned.best.configuration else 100.0  # type: ignore[union-attr]

    engine = SyntheticEngine(response, no_fault, own_noise=0.002, latency_us=stalls)
    outcome = Outcome.from_json(run(spec, engine, ledger))
    assert all(each.kept for each in outcome.options_that_matter)
    assert outcome.recommended == "best"


def test_a_choice_by_tails_that_was_cut_off_goes_on(ledger: Ledger) -> None:
    spec = steady_spec()
    whole, observer = run(spec, engine_of(), ledger, Recorder()), Recorder()
    records = ledger.trials(ledger.study("study"))
    inside = [place for place, record in enumerate(records, 1) if record.phase == "tails"]
    assert inside
    for dies_after in inside:
        ledger.delete_study("study")
        with pytest.raises(Died):
            run(spec, engine_of(), ledger, Recorder(dies_after=dies_after))
        observer = Recorder()
        assert timeless(run(spec, engine_of(), ledger, observer)) == timeless(whole)
        assert len(observer.finished) == len(records) - dies_after


def test_an_undecided_tail_is_not_recommended(ledger: Ledger) -> None:
    class Erratic:
        """Latencies of which each other one is ten times as long."""

        def __init__(self) -> None:
            self.count = 0

        def __call__(self, configuration: Configuration, throughput: float) -> float:
            self.count += 1
            return 1000.0 if self.count % 3 == 0 else 100.0

    engine = SyntheticEngine(response, no_fault, own_noise=0.002, latency_us=Erratic())
    outcome = Outcome.from_json(run(steady_spec(), engine, ledger))
    assert outcome.tail is not None
    assert (outcome.tail.verdict, outcome.recommended) == ("undecided", "baseline")
    assert "is undecided" in findings.verdict(outcome)
    # Four more windows of the same runs did not decide it either.
    assert outcome.tail.p99_ratio.repeats == 6 * 6
    assert outcome.seconds.offer == pytest.approx(12 * 7 * 1440 / 64)


def test_a_tail_that_was_cut_off_between_its_looks_goes_on(ledger: Ledger) -> None:
    def erratic(_configuration: Configuration, throughput: float) -> float:
        return 1000.0 if round(throughput) % 3 == 0 else 100.0

    def engine() -> SyntheticEngine:
        return SyntheticEngine(response, no_fault, own_noise=0.002, latency_us=erratic)

    spec = steady_spec()
    whole = run(spec, engine(), ledger, Recorder())
    records = ledger.trials(ledger.study("study"))
    inside = [place for place, record in enumerate(records, 1) if record.phase == "offer"]
    assert len(inside) == 12 * 7
    # Within the first look, after it, within the second, and within the third.
    for dies_after in (inside[0], inside[12 * 3 - 1], inside[12 * 3], inside[-2]):
        ledger.delete_study("study")
        with pytest.raises(Died):
            run(spec, engine(), ledger, Recorder(dies_after=dies_after))
        assert timeless(run(spec, engine(), ledger, Recorder())) == timeless(whole)


def test_without_a_gain_no_rate_is_offered(ledger: Ledger) -> None:
    observer = Recorder()
    outcome = Outcome.from_json(run(steady_spec(), engine_of(response=lambda _: 20_000.0), ledger, observer))
    assert "offer" not in observer.phases
    assert (outcome.tail, outcome.recommended) == (None, "baseline")


@pytest.mark.parametrize(("rate", "is_told"), [(15_000.0, False), (1e6, True)])
def test_a_given_rate_is_offered_and_told_if_it_is_too_much(
    ledger: Ledger, rate: float, is_told: bool
) -> None:
    engine, observer = engine_of(), Recorder()
    outcome = Outcome.from_json(run(steady_spec(rate=rate), engine, ledger, observer))
    assert offered(proof_experiments(engine)) == {rate}
    assert outcome.tail is not None
    assert (outcome.tail.offered_ops_s, outcome.tail.offered_share) == (rate, None)
    told = [note for note in observer.notes if "less than the offered 1,000,000" in note]
    assert bool(told) == is_told


def test_a_workload_with_a_rate_keeps_it_for_the_tail(ledger: Ledger) -> None:
    spec = steady_spec()
    rated = SessionSpec(
        mix=spec.workload.sessions[0].mix, arrival=ArrivalSpec(kind="fixed_rate", operations_s=123.0)
    )
    spec = spec.model_copy(update={"workload": spec.workload.model_copy(update={"sessions": (rated,)})})
    engine = engine_of()
    outcome = Outcome.from_json(run(spec, engine, ledger))
    # The search and the proof's first phase find what stores sustain.
    assert {each.kind for each in arrivals(engine.experiments[:6])} == {"closed"}
    assert offered(proof_experiments(engine)) == {123.0}
    assert outcome.tail is not None
    assert outcome.tail.offered_ops_s is None
    assert "the workload's own rate" in lasting.tail_sentence(outcome)


def test_a_search_for_latency_keeps_the_workloads_rate(ledger: Ledger) -> None:
    spec = steady_spec(objective="read_latency_us_p99")
    rated = SessionSpec(
        mix=spec.workload.sessions[0].mix, arrival=ArrivalSpec(kind="fixed_rate", operations_s=123.0)
    )
    spec = spec.model_copy(update={"workload": spec.workload.model_copy(update={"sessions": (rated,)})})
    engine = engine_of()
    run(spec, engine, ledger)
    assert {each.kind for each in arrivals(engine.experiments)} == {"fixed_rate"}


@pytest.mark.parametrize("after", range(1, 12))
def test_a_tail_that_was_cut_off_goes_on(ledger: Ledger, tmp_path: Any, after: int) -> None:
    spec = steady_spec()
    observer = Recorder()
    whole = run(spec, engine_of(), ledger, observer)
    trials = len(observer.finished)
    keys = recorded_keys(ledger)
    ledger.delete_study("study")
    with pytest.raises(Died):
        run(spec, engine_of(), ledger, Recorder(dies_after=trials - after))
    again = Recorder()
    assert timeless(run(spec, engine_of(), ledger, again)) == timeless(whole)
    assert len(again.finished) == after
    assert recorded_keys(ledger) == keys


class Preparing(SyntheticEngine):
    """An engine that makes stores ahead, during which the user may press Ctrl-C."""

    def __init__(self, interrupts: bool = False) -> None:
        super().__init__(response, no_fault, own_noise=0.002)
        self.prepared: list[list[Experiment]] = []
        self._interrupts = interrupts

    def prepare(self, conditions: Sequence[Conditions], progress: Progress) -> None:
        self.prepared.append([experiment for experiment, _ in conditions])
        if self._interrupts and self.prepared[-1][0].aged:
            signal.raise_signal(signal.SIGINT)
            progress("age", 1.0, 2.0)
            pytest.fail("the user asked to stop")


def test_stores_are_made_ahead_of_the_runs_of_a_batch(ledger: Ledger) -> None:
    engine = Preparing()
    run(steady_spec(), engine, ledger)
    # Six pairs and the defaults twice; then the pairs' stores again, which the cache has by then.
    aged = [each for each in engine.prepared if each[0].aged]
    assert [len(each) for each in aged] == [14, 12]
    assert [each.base_seed for each in aged[0]] == [each.base_seed for each in proof_experiments(engine)[:14]]


def test_ctrl_c_does_not_wait_for_stores_that_are_made_ahead(ledger: Ledger) -> None:
    spec = steady_spec()
    whole = run(spec, engine_of(), ledger)
    trials = len(recorded_keys(ledger))
    ledger.delete_study("study")
    engine = Preparing(interrupts=True)
    with pytest.raises(StudyInterrupted):
        run(spec, engine, ledger)
    assert not proof_experiments(engine)
    observer = Recorder()
    assert timeless(run(spec, engine_of(), ledger, observer)) == timeless(whole)
    assert len(observer.finished) < trials


def test_verifying_at_another_scale_ages_stores_of_its_own(ledger: Ledger) -> None:
    spec = steady_spec()
    run(spec, engine_of(), ledger)
    engine = engine_of()
    verified = Outcome.from_json(verify(spec, engine, ledger, 16))
    assert all(each.aged for each in engine.experiments)
    assert {each.scale for each in engine.experiments} == {16}
    assert verified.tail is not None
    assert verified.verifications["1/16"].tail == verified.tail
    assert verified.verified_at_scale == "1/16"


def test_the_short_protocol_says_what_it_is(ledger: Ledger) -> None:
    outcome = Outcome.from_json(run(spec_of(), engine_of(), ledger))
    assert outcome.protocol == "short"
    assert "in short runs" in findings.headline(outcome)
    assert lasting.sentences(outcome) == [
        "These figures are of short runs. A configuration that postpones compactions looks better in them "
        "than in steady state."
    ]
