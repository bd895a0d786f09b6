"""The ledger: a database of studies, trials and measurements, SQLite by default."""

from rocktune.ledger.checking import Check, Problem
from rocktune.ledger.ledger import Ledger, open_ledger
from rocktune.ledger.opening import default_ledger_url
from rocktune.ledger.records import EventRecord, StudyRecord, TrialRecord
from rocktune.ledger.rows import AlreadyRecordedError, RowProgress

__all__ = [
    "AlreadyRecordedError",
    "Check",
    "EventRecord",
    "Ledger",
    "Problem",
    "RowProgress",
    "StudyRecord",
    "TrialRecord",
    "default_ledger_url",
    "open_ledger",
]
