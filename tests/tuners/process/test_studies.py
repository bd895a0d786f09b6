"""Studies whose tuner is a program: killed, failing, and resumed."""

from pathlib import Path

import pytest
from tests.study.small_studies import Recorder, engine_of, recorded_keys, run, spec_of, timeless
from tests.tuners.process.programs import SEARCHES, answering, definition

from rocktune.errors import UserError
from rocktune.ledger import open_ledger
from rocktune.testing.dying import Died


def test_dying_after_a_trial_changes_nothing(tmp_path: Path) -> None:
    spec = spec_of(tuner=str(definition(tmp_path, SEARCHES)))
    with open_ledger(str(tmp_path / "whole")) as ledger:
        whole = timeless(run(spec, engine_of(), ledger))
        expected = recorded_keys(ledger)
    for trial in (1, 4, 5, 7, len(expected)):
        with open_ledger(str(tmp_path / f"died after {trial}")) as ledger:
            with pytest.raises(Died):
                run(spec, engine_of(), ledger, Recorder(dies_after=trial))
            resumed = Recorder()
            assert timeless(run(spec, engine_of(), ledger, resumed)) == whole
            assert recorded_keys(ledger) == expected
            assert resumed.notes == []


def test_a_failed_program_leaves_its_trials_and_a_mended_one_goes_on(tmp_path: Path) -> None:
    broken = answering("asks()", "asks(num_levels=9)", end="sys.exit('I give up')")
    spec = spec_of(tuner=str(definition(tmp_path, broken)))
    with open_ledger(str(tmp_path / "ledger")) as ledger:
        with pytest.raises(UserError, match="ended with exit status 1; it last said: I give up"):
            run(spec, engine_of(), ledger)
        searched = [each for each in ledger.trials(ledger.study("study")) if each.phase == "search"]
        assert len(searched) == 2
        definition(tmp_path, SEARCHES)
        resumed = Recorder()
        run(spec, engine_of(), ledger, resumed)
        assert resumed.notes == []
        trials = [each for each in ledger.trials(ledger.study("study")) if each.phase == "search"]
    assert [each.trial for each in trials[:2]] == [each.trial for each in searched]
    assert len(trials) == 4


def test_a_program_that_ends_early_ends_the_search_also_when_resumed(tmp_path: Path) -> None:
    ending = answering("asks()", "asks(num_levels=9)", end="sys.stdin.readline()")
    spec = spec_of(tuner=str(definition(tmp_path, ending)))
    with open_ledger(str(tmp_path / "ledger")) as ledger:
        with pytest.raises(Died):
            run(spec, engine_of(), ledger, Recorder(dies_after=8))
        definition(tmp_path, "raise SystemExit(1)")  # would fail if it were started
        resumed = Recorder()
        run(spec, engine_of(), ledger, resumed)
        trials = [each for each in ledger.trials(ledger.study("study")) if each.phase == "search"]
    assert len(trials) == 2
    assert resumed.notes == []
