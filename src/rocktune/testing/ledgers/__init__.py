"""Conformance suite that each database under a ledger must pass.

A test file for a new database needs only a fixture:

    class TestMyDatabase(LedgerConformance):
        @pytest.fixture
        def ledger_url(self) -> str: return "mydatabase://..."      # an empty database for each test
"""

from rocktune.testing.ledgers.common import AWKWARD, FIRST, SECOND, SPEC
from rocktune.testing.ledgers.processes import ProcessTests, lock_when_freed
from rocktune.testing.ledgers.studies import StudyTests
from rocktune.testing.ledgers.trials import TrialTests

__all__ = ["AWKWARD", "FIRST", "SECOND", "SPEC", "LedgerConformance", "lock_when_freed"]


class LedgerConformance(StudyTests, TrialTests, ProcessTests):
    """All conformance tests. Subclasses have a fixture `ledger_url`, the URL of an empty database."""
