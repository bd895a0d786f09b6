from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rocktune.errors import UserError
from rocktune.export import export_study
from rocktune.ledger import Ledger, open_ledger
from rocktune.outcome import Outcome
from rocktune.study import (
    Observer,
    StudyInterrupted,
    StudySpec,
    VerificationSettings,
    run_study,
    verify_study,
)
from rocktune.study.executors import executor_of
from rocktune.study.specs.request import make_request
from rocktune.study.specs.resolving import resolve
from rocktune.study.study import _Study
from rocktune.testing.dying import Died
from rocktune.testing.own_options import imported_options
from rocktune.testing.synthetic_engine import Fault, SyntheticEngine, no_fault
from rocktune.trial import Configuration, OptionMaps, Result, Status, Trial

SMALL = {"finalists": 2, "pick_runs": 1, "ablation_pairs": 2}
TIMES = ("opening", "loading", "other", "total", "repeated")


class Recorder(Observer):
    """Counts trials, and may die when some number of them have been recorded."""

    def __init__(self, dies_after: int | None = None) -> None:
        self.phases: list[str] = []
        self.finished: list[Result] = []
        self.ratios: list[float | None] = []
        self.notes: list[str] = []
        self._dies_after = dies_after

    def phase_started(self, name: str, total_s: float | None) -> None:
        self.phases.append(name)

    def trial_finished(self, result: Result) -> None:
        self.finished.append(result)
        if len(self.finished) == self._dies_after:
            raise Died

    def best_changed(self, configuration: Configuration, ratio: float | None) -> None:
        self.ratios.append(ratio)

    def note(self, text: str) -> None:
        self.notes.append(text)


def _spec(
    budget_s: float = 1.875 * 4,
    tuner: str = "random",
    base_options: OptionMaps | None = None,
    verification: dict[str, Any] = SMALL,
    seed: int = 3,
    **given: Any,
) -> StudySpec:
    request = make_request(
        {
            "workload": "dremel-write-heavy",
            "device": "ssd-100mb",
            "tuner": tuner,
            "scale": "1/64",
            "seed": seed,
        }
        | {"budget": budget_s, "verification": verification}
        | given
    )
    file = None if base_options is None else imported_options(base_options)
    return resolve(request, "study", lambda: file)


def _run(*given: Any) -> dict[str, Any]:
    """The outcome as the ledger has it."""
    return run_study(*given).to_json()


def _verify(*given: Any) -> dict[str, Any]:
    return verify_study(*given).to_json()


def _response(configuration: Configuration) -> float:
    """Large write buffers make it fast; nothing else matters. Bare RocksDB is slow."""
    if not configuration:
        return 10_000
    return 20_000 + float(configuration.get("write_buffer_size", 0)) / (1 << 15)


def _engine(
    fault: Fault = no_fault, response: Callable[[Configuration], float] = _response
) -> SyntheticEngine:
    return SyntheticEngine(response, fault, own_noise=0.002)


def _timeless(outcome: dict[str, Any]) -> dict[str, Any]:
    seconds = {name: value for name, value in outcome["seconds"].items() if name not in TIMES}
    return outcome | {"seconds": seconds, "ledger": ""}


def _keys(ledger: Ledger) -> list[tuple[Trial, float]]:
    return [(record.trial, record.measured_s) for record in ledger.trials(ledger.study("study"))]


def test_a_study_from_beginning_to_end(ledger: Ledger) -> None:
    engine, observer = _engine(), Recorder()
    outcome = _run(_spec(tuner="dremel", budget_s=2325 / 64, verification={}), engine, ledger, observer)
    assert observer.phases == ["baseline", "search", "pick", "ablate", "prune", "prove"]
    assert outcome["recommended"] == "best"
    assert outcome["ratio_to_baseline"]["low"] > 1
    assert outcome["ratio_to_rocksdb_defaults"]["value"] > outcome["ratio_to_baseline"]["value"]
    assert outcome["ratio_to_baseline"]["repeats"] == 8
    assert (outcome["search_scale"], outcome["verified_at_scale"]) == ("1/64", "1/64")
    largest = outcome["options_that_matter"][0]
    assert largest["matters"]
    assert "write_buffer_size" in [largest["option"], *largest["together_with"]]
    assert outcome["best"]["configuration"]["write_buffer_size"] > 64 << 20
    assert outcome["best"]["options"]["cf"]["write_buffer_size"] == str(
        outcome["best"]["configuration"]["write_buffer_size"]
    )
    assert outcome["rocksdb_defaults"]["configuration"] == {}
    # Within the budget, less what halving rounds down; the proof has its 24 runs of 120 s / 64.
    assert 0.95 * 2325 / 64 < outcome["seconds"]["search"] <= 2325 / 64
    assert outcome["seconds"]["prove"] == pytest.approx(24 * 120 / 64)
    assert ledger.outcome(ledger.study("study")) == outcome
    assert ledger.study("study").state == "finished"
    assert not engine.open_runs
    assert observer.ratios[-1] == max(ratio for ratio in observer.ratios if ratio is not None)


BOTH = ("throughput_ops_s", "read_latency_us_p99")


def _opposed_engine() -> SyntheticEngine:
    """What makes a store faster makes its reads slower: every configuration is on the front."""
    return SyntheticEngine(
        _response, shared_noise=0, own_noise=0, latency_us=lambda _, throughput: throughput / 100
    )


def test_a_front_is_measured_afresh_and_its_middle_is_proven(ledger: Ledger) -> None:
    verification = SMALL | {"front_points": 5}
    spec = _spec(1.875 * 20, objective=BOTH, verification=verification)
    engine = _opposed_engine()
    engine.version = "RocksDB 7.8.3, assertions off"
    outcome = _run(spec, engine, ledger)
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
    for point, message in ((0, "0 is none of the front's, 1 to 5"), (6, "6 is none of the front's, 1 to 5")):
        with pytest.raises(UserError, match=message):
            export_study("options-file", ledger.study("study"), Outcome.from_json(outcome), point=point)


def test_a_constraint_that_nothing_keeps_is_told_with_the_nearest_miss(ledger: Ledger) -> None:
    spec = _spec(constraints=["read_latency_us_p99<=100"])
    outcome = _run(spec, _opposed_engine(), ledger)
    assert (outcome["best"], outcome["recommended"]) == (None, "baseline")
    records = ledger.trials(ledger.study("study"))
    assert {record.phase for record in records} == {"baseline", "search", "pick"}
    smallest = min(record.measurement.figures[BOTH[1]] for record in records if record.measurement)
    assert outcome["nearest_miss"]["read_latency_us_p99"] == pytest.approx(smallest, rel=0.02)
    with pytest.raises(UserError, match="has no front"):
        export_study("options-file", ledger.study("study"), Outcome.from_json(outcome), point=1)


def test_a_constraint_decides_what_is_best(ledger: Ledger) -> None:
    spec = _spec(1.875 * 20, constraints=["read_latency_us_p99<=215"])
    outcome = _run(spec, _opposed_engine(), ledger)
    best, baseline = outcome["best"], outcome["baseline"]
    assert best["read_latency_us_p99"]["value"] <= 215 < baseline["read_latency_us_p99"]["value"]
    assert (best["keeps_constraints"], baseline["keeps_constraints"]) == (True, False)
    assert outcome["recommended"] == "best"
    assert outcome["ratio_to_baseline"]["value"] < 1
    assert outcome["nearest_miss"] is None


def test_proof_and_search_never_share_a_workload_seed(ledger: Ledger) -> None:
    engine = _engine()
    _run(_spec(), engine, ledger)
    study = ledger.study("study")
    replicates = {phase: set[int]() for phase in ("baseline", "search", "pick", "ablate", "prune", "prove")}
    for record in ledger.trials(study):
        replicates[record.phase].add(record.trial.replicate)
    every = [replicate for phase in replicates.values() for replicate in phase]
    assert len(every) == len(set(every))
    assert len({seed for _, seed in engine.opened}) == len(set(every))


def test_every_pair_of_a_proof_has_preloaded_stores_of_its_own(ledger: Ledger) -> None:
    engine = _engine()
    _run(_spec(), engine, ledger)
    stores: dict[int, set[int]] = {}
    for (_, seed), experiment in zip(engine.opened, engine.experiments, strict=True):
        stores.setdefault(experiment.base_seed, set()).add(seed)
    assert len(stores) == 1 + 8
    assert all(len(seeds) == 1 for base_seed, seeds in stores.items() if base_seed)


def test_finished_means_finished(ledger: Ledger) -> None:
    outcome = _run(_spec(), _engine(), ledger)
    engine = _engine()
    assert _run(_spec(), engine, ledger) == outcome
    assert engine.opened == []
    with pytest.raises(UserError, match=r"'study': the name is taken .*seed was 3, now 4"):
        _run(_spec(seed=4), engine, ledger)


@pytest.mark.parametrize(("tuner", "stride"), [("random", 6), ("dremel", 31)])
def test_dying_after_a_trial_changes_nothing(tmp_path: Path, tuner: str, stride: int) -> None:
    settings: dict[str, Any] = {"tuner": tuner} | ({"budget_s": 1200 / 64} if tuner == "dremel" else {})
    with open_ledger(str(tmp_path / "whole")) as ledger:
        whole = _timeless(_run(_spec(**settings), _engine(), ledger))
        expected = _keys(ledger)
    assert len(expected) > 20
    for trial in range(1, len(expected) + 1, stride):
        with open_ledger(str(tmp_path / f"died after {trial}")) as ledger:
            dying = Recorder(dies_after=trial)
            with pytest.raises(Died):
                _run(_spec(**settings), _engine(), ledger, dying)
            resumed = Recorder()
            outcome = _run(_spec(**settings), _engine(), ledger, resumed)
            assert _timeless(outcome) == whole
            assert _keys(ledger) == expected
            assert len(dying.finished) + len(resumed.finished) == len(expected)
            assert resumed.notes == []


def test_dying_during_a_trial_repeats_that_trial_alone(ledger: Ledger) -> None:
    calls = 0

    def dies_once(_configuration: Configuration, _seed: int, until_s: float) -> Status | None:
        nonlocal calls
        calls += until_s > 0
        if calls == 5:
            raise Died
        return None

    with pytest.raises(Died):
        _run(_spec(), _engine(dies_once), ledger)
    recorded = len(_keys(ledger))
    observer = Recorder()
    _run(_spec(), _engine(), ledger, observer)
    assert recorded == 4
    assert len(_keys(ledger)) == recorded + len(observer.finished)


def test_ctrl_c_says_what_is_known_and_how_to_go_on(ledger: Ledger) -> None:
    class Pressed(Recorder):
        def trial_finished(self, result: Result) -> None:
            super().trial_finished(result)
            if len(self.finished) == 7:  # four ages of the baseline, three of the search
                study._interrupt._handle(2, None)

    observer = Pressed()
    record = ledger.create_study("study", _spec().model_dump(mode="json"))
    study = _Study(_spec(), executor_of(_engine()), ledger, record, observer)
    with pytest.raises(StudyInterrupted) as interrupted:
        study.run()
    assert interrupted.value.resume == f"rocktune resume study --ledger {ledger.url}"
    assert interrupted.value.best is not None
    assert interrupted.value.ratio is not None
    assert len(_keys(ledger)) == 7
    assert ledger.study("study").state == "interrupted"
    _run(_spec(), _engine(), ledger, Recorder())
    assert ledger.study("study").state == "finished"


def test_ctrl_c_while_verifying_says_how_to_go_on_verifying(ledger: Ledger) -> None:
    spec = _spec()
    outcome = run_study(spec, _engine(), ledger)
    best = outcome.best
    assert best is not None
    study = _Study(spec, executor_of(_engine()), ledger, ledger.study("study"), None, 4)
    study._interrupt.requested = True
    with pytest.raises(StudyInterrupted) as interrupted:
        study.verify(outcome, best)
    assert interrupted.value.resume.startswith("rocktune verify study --scale 1/4")
    assert dict(interrupted.value.best or {}) == best.configuration
    assert ledger.study("study").state == "finished"


def test_failing_configurations_never_end_a_study(ledger: Ledger) -> None:
    def fault(configuration: Configuration, _seed: int, until_s: float) -> Status | None:
        if not configuration or configuration["block_size"] == 4096:
            return None
        return Status.CRASHED if until_s > 0 else None

    outcome = _run(_spec(budget_s=1.875 * 12), _engine(fault), ledger)
    assert outcome["trials"]["crashed"] > 0
    assert outcome["seconds"]["search"] == pytest.approx(1.875 * 12)
    assert outcome["best"]["configuration"]["block_size"] == 4096


def test_when_everything_fails_the_baseline_is_recommended(ledger: Ledger) -> None:
    outcome = _run(_spec(), _engine(lambda *_: Status.OUT_OF_MEMORY), ledger)
    assert (outcome["best"], outcome["recommended"]) == (None, "baseline")
    assert set(outcome["trials"]) == {"out_of_memory"}
    with pytest.raises(UserError, match="no winner to verify"):
        _verify(_spec(), _engine(), ledger, 1)


def test_nothing_better_recommends_the_baseline(ledger: Ledger) -> None:
    outcome = _run(_spec(), _engine(response=lambda _configuration: 20_000), ledger)
    assert outcome["recommended"] == "baseline"
    low, high = (outcome["ratio_to_baseline"][end] for end in ("low", "high"))
    assert low <= 1
    assert high < 1.05
    assert [entry for entry in outcome["options_that_matter"] if entry["verdict"] == "helps"] == []


SAME = """
from rocktune.spec_file import Spec
from rocktune.trial import Batch, Trial
from rocktune.tuners import Tuner

class Same(Tuner):
    name = "same"
    summary = "the baseline"
    settings_type = Spec

    def search(self, problem, rng):
        yield Batch((Trial(problem.baseline, problem.budget_s),))

    def min_budget_s(self, problem):
        return problem.age_s(60.0)
"""


@pytest.mark.parametrize("cache", [None, "capacity=536870912;num_shard_bits=4"])
def test_a_study_forced_to_its_baseline_recommends_it(
    ledger: Ledger, tmp_path: Path, cache: str | None
) -> None:
    """Both sides are the user's file, so they differ in nothing, memory and cache included."""
    (tmp_path / "same.py").write_text(SAME)
    own: OptionMaps = {"db": {}, "cf": {"write_buffer_size": str(48 << 20)}, "table": {}}
    if cache is not None:
        own["table"]["block_cache"] = cache
    spec = _spec(base_options=own, tuner=str(tmp_path / "same.py"))
    outcome = _run(spec, _engine(), ledger)
    assert outcome["recommended"] == "baseline"
    assert outcome["ratio_to_baseline"]["value"] == 1
    best, baseline = outcome["best"], outcome["baseline"]
    assert best["options"] == baseline["options"]
    assert best["memory"] == baseline["memory"]
    assert best["memory"]["total_bytes"] == outcome["memory_bytes"]
    if cache is not None:
        assert best["options"]["table"]["block_cache"] == cache


def test_the_users_own_options_are_the_baseline_as_they_stand(ledger: Ledger) -> None:
    own = {
        "db": {"max_background_jobs": "8"},
        "cf": {"write_buffer_size": str(48 << 20)},
        "table": {"block_cache": str(512 << 20)},
    }
    engine = _engine(response=lambda configuration: 20_000 if not configuration else _response(configuration))
    outcome = _run(_spec(base_options=own), engine, ledger)
    assert outcome["baseline"]["source"] == "options_file"
    assert outcome["baseline"]["options"] == own
    assert outcome["baseline"]["configuration"]["write_buffer_size"] == 48 << 20
    assert outcome["rocksdb_defaults"]["options"] == {"db": {}, "cf": {}, "table": {}}
    assert outcome["best"]["options"]["db"]["max_background_jobs"] == "8"
    without_knobs = [
        experiment.base_options
        for (configuration, _), experiment in zip(engine.opened, engine.experiments, strict=True)
        if not configuration
    ]
    assert own in without_knobs
    assert {} in without_knobs


def test_verifying_at_another_scale_is_kept_beside_and_resumes(ledger: Ledger) -> None:
    spec = _spec()
    first = _run(spec, _engine(), ledger)
    with pytest.raises(Died):
        _verify(spec, _engine(), ledger, 4, Recorder(dies_after=7))
    engine, observer = _engine(), Recorder()
    second = _verify(spec, engine, ledger, 4, observer)
    assert len(observer.finished) == 17
    assert {experiment.scale for experiment in engine.experiments} == {4}
    assert {result.trial.until_s for result in observer.finished} == {30.0}
    assert second["verified_at_scale"] == "1/4"
    assert set(second["verifications"]) == {"1/64", "1/4"}
    assert second["verifications"]["1/64"]["ratio_to_baseline"] == first["ratio_to_baseline"]
    assert second["seconds"]["verify 1/4"] == pytest.approx(24 * 30)
    assert second["seconds"]["search"] == first["seconds"]["search"]
    smaller = _verify(spec, _engine(), ledger, 128)
    assert smaller["verified_at_scale"] == "1/4"
    replicates = [record.trial.replicate for record in ledger.trials(ledger.study("study"))]
    assert len({replicate for replicate in replicates if replicate >= 300}) == 3 * 8


def test_settings_of_verification_are_checked() -> None:
    with pytest.raises(ValueError, match="greater than or equal to 6"):
        VerificationSettings(proof_pairs=5)


EXPLAINING = '''
from dataclasses import replace

from rocktune.tuners.random import RandomSearch


class Explaining(RandomSearch):
    """Random search that says why."""

    name = "explaining"

    def search(self, problem, rng):
        search = super().search(problem, rng)
        results, number = None, 0
        while True:
            try:
                batch = search.send(results)
            except StopIteration:
                return
            number += 1
            learned = {"length_scales": {"block_size": number}, "tasks": ["throughput_ops_s"]}
            results = yield replace(batch, explanation={"models": [learned]})
'''


def test_what_a_tuners_models_learned_is_in_the_outcome_and_of_no_effect(
    ledger: Ledger, tmp_path: Path
) -> None:
    tuner = tmp_path / "explaining.py"
    tuner.write_text(EXPLAINING)
    budget_s = 1.875 * 10
    plain = _run(_spec(budget_s), _engine(), ledger)
    assert plain["models"] == []
    with open_ledger(str(tmp_path / "other.sqlite")) as other:
        explained = _run(_spec(budget_s, tuner=str(tuner)), _engine(), other)
        assert [model["length_scales"] for model in explained["models"]] == [{"block_size": 2}]
        assert [record.trial for record in other.trials(other.study("study"))] == [
            record.trial for record in ledger.trials(ledger.study("study"))
        ]
