"""Studies from beginning to end, and what their outcomes contain."""

from pathlib import Path

import pytest
from tests.study.small_studies import SMALL, Recorder, engine_of, response, run, spec_of, verify

from rocktune.errors import UserError
from rocktune.ledger import Ledger, open_ledger
from rocktune.study import (
    StudySpec,
    VerificationSettings,
    continue_study,
)
from rocktune.testing.dying import Died
from rocktune.trial import Configuration, OptionMaps, Status


def test_a_study_from_beginning_to_end(ledger: Ledger) -> None:
    engine, observer = engine_of(), Recorder()
    outcome = run(spec_of(tuner="dremel", budget_s=2325 / 64, verification={}), engine, ledger, observer)
    assert observer.phases == ["baseline", "search", "pick", "ablate", "prune", "prove"]
    assert outcome["recommended"] == "best"
    assert outcome["ratio_to_baseline"]["low"] > 1
    assert outcome["ratio_to_rocksdb_defaults"]["value"] > outcome["ratio_to_baseline"]["value"]
    # A difference of more than half is decided at the first look.
    assert (outcome["proof_pairs"], outcome["stopped"]) == (4, "better")
    assert outcome["ratio_to_rocksdb_defaults"]["repeats"] == 2
    assert (outcome["search_scale"], outcome["verified_at_scale"]) == ("1/64", "1/64")
    largest = outcome["options_that_matter"][0]
    assert largest["matters"]
    assert "write_buffer_size" in [largest["option"], *largest["together_with"]]
    assert outcome["best"]["configuration"]["write_buffer_size"] > 64 << 20
    assert outcome["best"]["options"]["cf"]["write_buffer_size"] == str(
        outcome["best"]["configuration"]["write_buffer_size"]
    )
    assert outcome["rocksdb_defaults"]["configuration"] == {}
    # Within the budget, less what halving rounds down; the proof has its 10 runs of 120 s / 64.
    assert 0.95 * 2325 / 64 < outcome["seconds"]["search"] <= 2325 / 64
    assert outcome["seconds"]["prove"] == pytest.approx(10 * 120 / 64)
    assert ledger.outcome(ledger.study("study")) == outcome
    assert ledger.study("study").state == "finished"
    assert not engine.open_runs
    assert observer.ratios[-1] == max(ratio for ratio in observer.ratios if ratio is not None)


def test_proof_and_search_never_share_a_workload_seed(ledger: Ledger) -> None:
    engine = engine_of()
    run(spec_of(), engine, ledger)
    study = ledger.study("study")
    replicates = {phase: set[int]() for phase in ("baseline", "search", "pick", "ablate", "prune", "prove")}
    for record in ledger.trials(study):
        replicates[record.phase].add(record.trial.replicate)
    every = [replicate for phase in replicates.values() for replicate in phase]
    assert len(every) == len(set(every))
    assert len({seed for _, seed in engine.opened}) == len(set(every))


def test_every_pair_of_a_proof_has_preloaded_stores_of_its_own(ledger: Ledger) -> None:
    engine = engine_of()
    run(spec_of(proof_pairs=8), engine, ledger)
    stores: dict[int, set[int]] = {}
    for (_, seed), experiment in zip(engine.opened, engine.experiments, strict=True):
        stores.setdefault(experiment.base_seed, set()).add(seed)
    assert len(stores) == 1 + 8
    assert all(len(seeds) == 1 for base_seed, seeds in stores.items() if base_seed)


def test_finished_means_finished(ledger: Ledger) -> None:
    outcome = run(spec_of(), engine_of(), ledger)
    engine = engine_of()
    assert run(spec_of(), engine, ledger) == outcome
    assert engine.opened == []
    with pytest.raises(UserError, match=r"'study': the name is taken .*seed was 3, now 4"):
        run(spec_of(seed=4), engine, ledger)


def test_failing_configurations_never_end_a_study(ledger: Ledger) -> None:
    def fault(configuration: Configuration, _seed: int, until_s: float) -> Status | None:
        if not configuration or configuration["block_size"] == 4096:
            return None
        return Status.CRASHED if until_s > 0 else None

    outcome = run(spec_of(budget_s=1.875 * 12), engine_of(fault), ledger)
    assert outcome["trials"]["crashed"] > 0
    assert outcome["seconds"]["search"] == pytest.approx(1.875 * 12)
    assert outcome["best"]["configuration"]["block_size"] == 4096


def test_when_everything_fails_the_baseline_is_recommended(ledger: Ledger) -> None:
    outcome = run(spec_of(), engine_of(lambda *_: Status.OUT_OF_MEMORY), ledger)
    assert (outcome["best"], outcome["recommended"]) == (None, "baseline")
    assert set(outcome["trials"]) == {"out_of_memory"}
    with pytest.raises(UserError, match="no winner to verify"):
        verify(spec_of(), engine_of(), ledger, 1)


def test_nothing_better_recommends_the_baseline(ledger: Ledger) -> None:
    outcome = run(spec_of(), engine_of(response=lambda _configuration: 20_000), ledger)
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
    spec = spec_of(base_options=own, tuner=str(tmp_path / "same.py"))
    outcome = run(spec, engine_of(), ledger)
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
    engine = engine_of(
        response=lambda configuration: 20_000 if not configuration else response(configuration)
    )
    outcome = run(spec_of(base_options=own), engine, ledger)
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
    spec = spec_of(proof_pairs=8)
    first = run(spec, engine_of(), ledger)
    with pytest.raises(Died):
        verify(spec, engine_of(), ledger, 4, Recorder(dies_after=7))
    engine, observer = engine_of(), Recorder()
    second = verify(spec, engine, ledger, 4, observer)
    assert len(observer.finished) == 11
    assert {experiment.scale for experiment in engine.experiments} == {4}
    assert {result.trial.until_s for result in observer.finished} == {30.0}
    assert second["verified_at_scale"] == "1/4"
    assert set(second["verifications"]) == {"1/64", "1/4"}
    assert second["verifications"]["1/64"]["ratio_to_baseline"] == first["ratio_to_baseline"]
    assert second["seconds"]["verify 1/4"] == pytest.approx(18 * 30)
    assert second["seconds"]["search"] == first["seconds"]["search"]
    smaller = verify(spec, engine_of(), ledger, 128)
    assert smaller["verified_at_scale"] == "1/4"
    replicates = [record.trial.replicate for record in ledger.trials(ledger.study("study"))]
    assert len({replicate for replicate in replicates if replicate >= 300}) == 3 * 8


def test_a_study_of_an_older_release_keeps_its_number_of_pairs(ledger: Ledger) -> None:
    spec = spec_of().model_dump(mode="json")
    older = SMALL | {"proof_pairs": 7}
    ledger.create_study("study", spec | {"verification": older})
    study = ledger.study("study")
    outcome = continue_study(StudySpec.model_validate(dict(study.spec)), engine_of(), ledger, study)
    assert (outcome.proof_pairs, outcome.stopped) == (7, "fixed")


def test_settings_of_verification_are_checked() -> None:
    with pytest.raises(ValueError, match="greater than or equal to 6"):
        VerificationSettings(pairs=5)
    with pytest.raises(ValueError, match="greater than or equal to 6"):
        VerificationSettings(max_pairs=4)
    with pytest.raises(UserError, match=r"^verification: pairs: .*not 5"):
        VerificationSettings().with_pairs(5)


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
    plain = run(spec_of(budget_s), engine_of(), ledger)
    assert plain["models"] == []
    with open_ledger(str(tmp_path / "other.sqlite")) as other:
        explained = run(spec_of(budget_s, tuner=str(tuner)), engine_of(), other)
        assert [model["length_scales"] for model in explained["models"]] == [{"block_size": 2}]
        assert [record.trial for record in other.trials(other.study("study"))] == [
            record.trial for record in ledger.trials(ledger.study("study"))
        ]
