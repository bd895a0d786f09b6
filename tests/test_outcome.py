"""Outcomes of every age, as ledgers hold them."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from rich.console import Console
from tests.report import sample

from rocktune import api
from rocktune.cli.tables import print_outcome
from rocktune.errors import UserError
from rocktune.export import export_study
from rocktune.ledger import open_ledger
from rocktune.outcome import Outcome
from rocktune.report import render_report
from rocktune.report.findings import headline
from rocktune.study import recorded_outcome, run_study, verify_study
from rocktune.testing.executors import plain_engine, small_study

OLD = Path(__file__).parent / "golden" / "outcomes"
"""What the ledger had of small studies: made by the versions of rocktune that wrote them so."""
OLD_NAMES = sorted(path.stem for path in OLD.glob("*.json"))


def old(name: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((OLD / f"{name}.json").read_text())
    return document


def as_written_now(name: str) -> dict[str, Any]:
    document = old(name) | {"version": 1}
    document.pop("twins", None)
    return document


def test_there_are_old_documents() -> None:
    assert OLD_NAMES == ["first", "first-failed", "front", "missed", "twins"]


@pytest.mark.parametrize("name", OLD_NAMES)
def test_an_old_document_is_read_and_written_without_removed_fields(name: str) -> None:
    assert "version" not in old(name)
    outcome = Outcome.from_json(old(name))
    assert outcome.to_json() == as_written_now(name)
    assert Outcome.from_json(outcome.to_json()) == outcome
    assert outcome.stopped == "fixed"


@pytest.mark.parametrize("name", OLD_NAMES)
def test_an_old_outcome_is_shown_reported_and_exported(name: str) -> None:
    outcome, out = Outcome.from_json(old(name)), StringIO()
    print_outcome(Console(file=out), outcome)
    assert headline(outcome) in out.getvalue()
    assert "<html" in render_report(sample.study(), outcome, [])
    text = export_study("options-file", sample.study(), outcome)
    size = outcome.sides[outcome.recommended].options["cf"]["write_buffer_size"]
    assert f"write_buffer_size={size}" in text


def test_what_an_old_document_lacks_has_a_value() -> None:
    first = Outcome.from_json(old("first"))
    assert (first.constraints, first.front, first.models) == ((), (), ())
    assert (first.memory_bytes, first.own_options_notes, first.device_busy_share) == (None, (), None)
    assert first.best is not None
    assert (first.best.memory, first.best.keeps_constraints) == (None, True)
    assert (first.seconds.measuring, first.seconds.search > 0) == (0, True)
    assert dict(first.seconds)["verify 1/4"] > 0


def test_an_old_study_is_listed_and_verified(tmp_path: Path) -> None:
    url, spec = str(tmp_path / "ledger.sqlite"), small_study("random")
    with open_ledger(url) as ledger:
        study = ledger.create_study(spec.name, spec.model_dump(mode="json"))
        ledger.set_outcome(study, old("twins") | {"twins": 3})
    assert api.studies(ledger=url)[0]["ratio_to_baseline"] == old("twins")["ratio_to_baseline"]["value"]
    assert api.show("study", ledger=url)["outcome"] == as_written_now("twins")
    with open_ledger(url) as ledger:
        verified = verify_study(spec, plain_engine(), ledger, 2)
        assert set(verified.verifications) == {"1/64", "1/4", "1/2"}
        assert verified.verified_at_scale == "1/2"
        assert recorded_outcome(ledger, study) == verified


def test_the_ledger_has_every_field_of_a_new_outcome(tmp_path: Path) -> None:
    with open_ledger(str(tmp_path / "ledger.sqlite")) as ledger:
        outcome = run_study(small_study("random"), plain_engine(), ledger)
        study = ledger.study("study")
        assert recorded_outcome(ledger, study) == outcome
        document = ledger.outcome(study)
    assert document == outcome.to_json()
    assert document is not None
    # The files are written afterwards.
    written_later = {"options_file", "report", "command", "scale_check", "check_command", "device_notes"}
    assert set(Outcome.model_fields) - set(document) == written_later
    changed = document["options_that_matter"][0]
    assert {"from", "to"} <= set(changed)


def test_figures_stand_beside_the_other_fields_of_a_side() -> None:
    side = sample.document()["best"]
    best = sample.outcome().best
    assert best is not None
    assert best.figure("throughput_ops_s").value == side["throughput_ops_s"]["value"]
    assert best.figure("no_such_field").value is None


@pytest.mark.parametrize("version", [0, 2, "1"])
def test_another_version_is_refused(version: Any) -> None:
    with pytest.raises(
        UserError, match=f"outcome of study 'orders-write-heavy': version {version} is unknown"
    ):
        sample.outcome(version=version)


def test_what_is_no_outcome_is_refused_with_its_field() -> None:
    with pytest.raises(UserError, match=r"outcome of study 'orders-write-heavy': ratio_to_baseline\.low"):
        sample.outcome(ratio_to_baseline={"value": 1.0, "low": "x", "high": 1.0, "repeats": 2})
    with pytest.raises(UserError, match="winner: extra inputs are not permitted"):
        sample.outcome(winner={})


def test_an_outcome_cannot_be_changed() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        sample.outcome().recommended = "baseline"  # type: ignore[misc]
