"""The ledger: a database of studies, trials and measurements, SQLite by default."""

from rocktune.ledger.ledger import Ledger, open_ledger
from rocktune.ledger.opening import default_ledger_url
from rocktune.ledger.records import EventRecord, StudyRecord, TrialRecord
from rocktune.ledger.rows import AlreadyRecordedError

__all__ = [
    "AlreadyRecordedError",
    "EventRecord",
    "Ledger",
    "StudyRecord",
    "TrialRecord",
    "default_ledger_url",
    "open_ledger",
]
