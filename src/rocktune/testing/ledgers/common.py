"""Inputs and helpers that the conformance tests of ledgers share."""

from collections.abc import Iterator

import pytest

from rocktune.ledger import Ledger, StudyRecord, open_ledger
from rocktune.trial import Configuration, Measurement, Status, Trial

SPEC = {"workload": {"name": "w", "keys": 10}, "device": {"name": "d"}, "scale": 64, "budget_s": 0.1 + 0.2}
FIRST, SECOND = Configuration({"a": 1, "b": 0.1}), Configuration({"a": 2, "c": True, "d": "x"})
# Doubles that short decimal forms do not represent, and an integer that a double does not represent.
AWKWARD = {"third": 1 / 3, "sum": 0.1 + 0.2, "tiny": 5e-324, "huge": 1.7976931348623157e308, "big": 2**53 + 1}


def record_measured(
    ledger: Ledger, study: StudyRecord, batch: int, trial: Trial, window: Measurement | None
) -> None:
    """Plans and records a batch of one trial with status `ok`; `window` is None if it needs no measuring."""
    ledger.plan_batch(study, "search", batch, [trial])
    seconds = 0.0 if window is None else window.seconds
    ledger.record(study, batch, 0, trial, window, Status.OK, seconds=seconds)


class LedgerFixtures:
    """Fixtures of the conformance tests. Subclasses have a fixture `ledger_url`."""

    @pytest.fixture
    def ledger(self, ledger_url: str) -> Iterator[Ledger]:
        """Returns an open ledger in an empty database."""
        with open_ledger(ledger_url) as ledger:
            yield ledger

    @pytest.fixture
    def study(self, ledger: Ledger) -> StudyRecord:
        """Returns a study without trials."""
        return ledger.create_study("study", SPEC, "RocksDB 7.8.3")
