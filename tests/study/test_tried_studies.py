"""Studies that begin with configurations of the user's."""

from typing import Any

import numpy as np
import pytest
from tests.study.small_studies import Recorder, engine_of, run, spec_of, timeless

from rocktune.errors import UserError
from rocktune.ledger import Ledger
from rocktune.study import StudySpec, make_request, space_of
from rocktune.study.specs.problem import own_notes
from rocktune.study.specs.resolving import resolve
from rocktune.study.specs.tried import Tried
from rocktune.testing.dying import Died
from rocktune.testing.own_options import imported_options
from rocktune.trial import Configuration

MINE = Configuration(space_of(spec_of()).sample(1, np.random.default_rng(99))[0])


def tried_spec(**given: Any) -> StudySpec:
    return spec_of(**given).model_copy(update={"tried": (Tried(file="OPTIONS", configuration=dict(MINE)),)})


def response(configuration: Configuration) -> float:
    return 40_000 if all(configuration.get(name) == value for name, value in MINE.items()) else 20_000


@pytest.mark.parametrize("tuner", ["random", "auto"])
def test_what_the_user_tries_can_win(tuner: str, ledger: Ledger) -> None:
    spec = tried_spec(tuner=tuner, budget_s=1.875 * 6)
    outcome = run(spec, engine_of(response=response), ledger)
    searched = [record.trial for record in ledger.trials(ledger.study("study")) if record.phase == "search"]
    assert searched[0].configuration == MINE
    # They are at the cost of the budget.
    assert sum(each.until_s for each in searched) == pytest.approx(spec.budget_s)
    assert outcome["ratio_to_baseline"]["value"] == pytest.approx(2.0, rel=0.1)
    assert outcome["recommended"] == "best"


def test_two_files_of_one_configuration_are_measured_once(ledger: Ledger) -> None:
    """Files may differ in options alone that the space does not tune."""
    tried = tuple(Tried(file=name, configuration=dict(MINE)) for name in ("A", "B"))
    spec = spec_of(budget_s=1.875 * 6).model_copy(update={"tried": tried})
    run(spec, engine_of(response=response), ledger)
    searched = [each.trial for each in ledger.trials(ledger.study("study")) if each.phase == "search"]
    assert [each.configuration for each in searched].count(MINE) == 1
    assert len(searched) == 6
    assert len([each for each in own_notes(spec) if each.startswith("Tried: ")]) == 2


def test_files_of_one_name_are_told_apart() -> None:
    request = make_request(
        {"workload": "dremel-write-heavy", "scale": "1/64", "tried": ["a/OPTIONS", "b/OPTIONS", "b/MINE"]}
    )
    files = [imported_options({"cf": {"write_buffer_size": str(size << 20)}}) for size in (32, 48, 64)]
    readers = [lambda _loaded, file=file: file for file in files]
    spec = resolve(request, "study", lambda _loaded: None, readers)
    assert [each.file for each in spec.tried] == ["a/OPTIONS", "b/OPTIONS", "MINE"]


@pytest.mark.parametrize("dies_after", [3, 6, 9])
def test_a_killed_study_resumes(dies_after: int, ledger: Ledger) -> None:
    with pytest.raises(Died):
        run(tried_spec(), engine_of(response=response), ledger, Recorder(dies_after))
    resumed = timeless(run(tried_spec(), engine_of(response=response), ledger))
    whole = tried_spec().model_copy(update={"name": "whole"})
    expected = timeless(run(whole, engine_of(response=response), ledger))
    assert {**resumed, "study": ""} == {**expected, "study": ""}


def test_a_request_names_the_files() -> None:
    request = make_request(
        {"workload": "dremel-write-heavy", "device": "ssd-100mb", "scale": "1/64", "tried": ["a/OPTIONS-1"]}
    )
    file = imported_options({"cf": {"write_buffer_size": str(48 << 20)}})
    spec = resolve(request, "study", lambda _loaded: None, [lambda _loaded: file])
    (found,) = spec.tried
    assert found.configuration["write_buffer_size"] == 48 << 20
    assert any(each.startswith("Tried: OPTIONS-1") for each in own_notes(spec))
    assert StudySpec.model_validate(spec.model_dump(mode="json")) == spec


def test_the_budget_has_to_suffice_for_both() -> None:
    request = make_request(
        {
            "workload": "dremel-write-heavy",
            "device": "ssd-100mb",
            "scale": "1/64",
            "tuner": "random",
            "budget": 1.9,
            "tried": ["OPTIONS"],
        }
    )
    file = imported_options({"cf": {"write_buffer_size": str(48 << 20)}})
    with pytest.raises(UserError, match=r"budget: 1\.9 s is too small for tuner 'random'"):
        resolve(request, "study", lambda _loaded: None, [lambda _loaded: file])
