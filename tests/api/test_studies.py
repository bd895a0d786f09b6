"""What the ledger knows."""

from pathlib import Path

import pytest
from tests.api.engines import Tune

from rocktune import api
from rocktune.errors import UserError
from rocktune.ledger import open_ledger


def test_studies_are_listed_shown_and_deleted(tune: Tune, ledger: str) -> None:
    outcome = tune()
    (listed,) = api.studies(ledger=ledger)
    assert (listed["study"], listed["state"], listed["scale"]) == ("mine", "finished", "1/64")
    assert listed["ratio_to_baseline"] == outcome["ratio_to_baseline"]["value"]
    shown = api.show("mine", ledger=ledger)
    assert shown["trials"] == outcome["trials"]
    assert shown["is_running"] is False
    with open_ledger(ledger) as opened, opened.lock(opened.study("mine")):
        assert api.show("mine", ledger=ledger)["is_running"] is True
    api.delete("mine", ledger=ledger)
    assert api.studies(ledger=ledger) == []


def test_an_outcome_of_a_newer_version_hides_no_other_study(tune: Tune, ledger: str) -> None:
    tune()
    newer = tune(study="newer")
    with open_ledger(ledger) as opened:
        opened.set_outcome(opened.study("newer"), newer | {"version": 99})
    listed = {study["study"]: study["ratio_to_baseline"] for study in api.studies(ledger=ledger)}
    assert listed["mine"] is not None
    assert listed["newer"] is None
    with pytest.raises(UserError, match="version 99 is unknown"):
        api.show("newer", ledger=ledger)


def test_exporting_and_reporting(tune: Tune, ledger: str) -> None:
    outcome = tune()
    assert api.export("mine", "options-file", ledger=ledger) == Path(outcome["options_file"]).read_text()
    with pytest.raises(UserError, match="did you mean 'options-file'"):
        api.export("mine", "option-file", ledger=ledger)
    report = Path(outcome["report"])
    report.unlink()
    assert api.report("mine", ledger=ledger) == report
    assert report.is_file()
