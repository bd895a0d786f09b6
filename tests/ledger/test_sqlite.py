from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from rocktune.ledger import Ledger, StudyRecord
from rocktune.testing.ledgers import LedgerConformance


class TestSqlite(LedgerConformance):
    @pytest.fixture
    def ledger_url(self, tmp_path: Path) -> str:
        return f"sqlite:///{tmp_path / 'ledger.sqlite'}"

    def test_a_killed_process_leaves_whole_trials(
        self, ledger: Ledger, study: StudyRecord, ledger_url: str
    ) -> None:
        super().test_a_killed_process_leaves_whole_trials(ledger, study, ledger_url)
        engine = create_engine(ledger_url)
        with engine.connect() as connection:
            assert connection.scalar(text("PRAGMA integrity_check")) == "ok"
            assert connection.scalar(text("PRAGMA journal_mode")) == "wal"
            assert connection.execute(text("PRAGMA foreign_key_check")).all() == []
        engine.dispose()
