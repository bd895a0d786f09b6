"""Tables of the recorded runs of studies."""

import pytest
from tests.study.small_studies import engine_of, run, spec_of, verify

from rocktune.ledger import Ledger
from rocktune.study import table_of


def test_its_table_has_the_runs_of_the_search(ledger: Ledger) -> None:
    """Runs on aged stores and at an offered rate are longer, and other stores."""
    run(spec_of(protocol="steady", proof_pairs=6), engine_of(), ledger)
    study = ledger.study("study")
    records = [each for each in ledger.trials(study) if each.phase in ("search", "pick")]
    table = table_of(ledger, study)
    assert table.conditions.measured_s == pytest.approx(120 / 64)
    assert {row.configuration for row in table.rows} >= {each.trial.configuration for each in records}


def test_its_table_has_no_runs_at_another_scale(ledger: Ledger) -> None:
    spec = spec_of()
    run(spec, engine_of(), ledger)
    before = table_of(ledger, ledger.study("study"))
    verify(spec, engine_of(), ledger, 8)
    after = table_of(ledger, ledger.study("study"))
    assert (after.conditions, len(after.rows)) == (before.conditions, len(before.rows))
