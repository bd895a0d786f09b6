from pathlib import Path

import pytest

from rocktune.engine.worker import WORKER_VARIABLE


@pytest.fixture
def own_directories(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, real_worker: tuple[str, ...]) -> None:
    """Runs a test in a directory of its own, with the real worker and a ledger and data of its own."""
    monkeypatch.setenv(WORKER_VARIABLE, real_worker[0])
    monkeypatch.setenv("ROCKTUNE_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "ledger"))
    monkeypatch.chdir(tmp_path)
