"""Studies that are killed or interrupted by Ctrl-C, and resumed."""

from pathlib import Path
from typing import Any

import pytest
from tests.study.small_studies import Recorder, engine_of, recorded_keys, response, run, spec_of, timeless

from rocktune.ledger import Ledger, open_ledger
from rocktune.study import (
    StudyInterrupted,
    run_study,
)
from rocktune.study.executors import executor_of
from rocktune.study.phases import Phases
from rocktune.testing.dying import Died
from rocktune.testing.synthetic_engine import SyntheticEngine
from rocktune.trial import Configuration, Result, Status


@pytest.mark.parametrize(("tuner", "stride"), [("random", 6), ("dremel", 31)])
def test_dying_after_a_trial_changes_nothing(tmp_path: Path, tuner: str, stride: int) -> None:
    settings: dict[str, Any] = {"tuner": tuner} | ({"budget_s": 1200 / 64} if tuner == "dremel" else {})
    with open_ledger(str(tmp_path / "whole")) as ledger:
        whole = timeless(run(spec_of(**settings), engine_of(), ledger))
        expected = recorded_keys(ledger)
    assert len(expected) > 20
    for trial in range(1, len(expected) + 1, stride):
        with open_ledger(str(tmp_path / f"died after {trial}")) as ledger:
            dying = Recorder(dies_after=trial)
            with pytest.raises(Died):
                run(spec_of(**settings), engine_of(), ledger, dying)
            resumed = Recorder()
            outcome = run(spec_of(**settings), engine_of(), ledger, resumed)
            assert timeless(outcome) == whole
            assert recorded_keys(ledger) == expected
            assert len(dying.finished) + len(resumed.finished) == len(expected)
            assert resumed.notes == []


def test_dying_in_a_proof_of_several_looks_changes_nothing(tmp_path: Path) -> None:
    spec = spec_of(verification={"ablation_pairs": 0, "pick_runs": 1})

    def noisy() -> SyntheticEngine:
        return SyntheticEngine(response, own_noise=0.05)

    with open_ledger(str(tmp_path / "whole")) as ledger:
        whole = timeless(run(spec, noisy(), ledger))
        expected = recorded_keys(ledger)
        proof = [record for record in ledger.trials(ledger.study("study")) if record.phase == "prove"]
    assert len({record.batch for record in proof}) >= 3
    for trial in range(len(expected) - len(proof), len(expected)):
        with open_ledger(str(tmp_path / f"died after {trial}")) as ledger:
            with pytest.raises(Died):
                run(spec, noisy(), ledger, Recorder(dies_after=trial))
            resumed = Recorder()
            assert timeless(run(spec, noisy(), ledger, resumed)) == whole
            assert recorded_keys(ledger) == expected
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
        run(spec_of(), engine_of(dies_once), ledger)
    recorded = len(recorded_keys(ledger))
    observer = Recorder()
    run(spec_of(), engine_of(), ledger, observer)
    assert recorded == 4
    assert len(recorded_keys(ledger)) == recorded + len(observer.finished)


def test_ctrl_c_says_what_is_known_and_how_to_go_on(ledger: Ledger) -> None:
    class Pressed(Recorder):
        def trial_finished(self, result: Result) -> None:
            super().trial_finished(result)
            if len(self.finished) == 7:  # four ages of the baseline, three of the search
                study._interrupt._handle(2, None)

    observer = Pressed()
    record = ledger.create_study("study", spec_of().model_dump(mode="json"))
    study = Phases(spec_of(), executor_of(engine_of()), ledger, record, observer)
    with pytest.raises(StudyInterrupted) as interrupted:
        study.run()
    assert interrupted.value.resume == f"rocktune resume study --ledger {ledger.url}"
    assert interrupted.value.best is not None
    assert interrupted.value.ratio is not None
    assert len(recorded_keys(ledger)) == 7
    assert ledger.study("study").state == "interrupted"
    run(spec_of(), engine_of(), ledger, Recorder())
    assert ledger.study("study").state == "finished"


def test_ctrl_c_while_verifying_says_how_to_go_on_verifying(ledger: Ledger) -> None:
    spec = spec_of()
    outcome = run_study(spec, engine_of(), ledger)
    best = outcome.best
    assert best is not None
    spec = spec.model_copy(update={"verification": spec.verification.with_pairs(7)})
    study = Phases(spec, executor_of(engine_of()), ledger, ledger.study("study"), None, 4)
    study._interrupt.requested = True
    with pytest.raises(StudyInterrupted) as interrupted:
        study.verify(outcome, best)
    assert interrupted.value.resume.startswith("rocktune verify study --scale 1/4 --pairs 7")
    assert dict(interrupted.value.best or {}) == best.configuration
    assert ledger.study("study").state == "finished"
