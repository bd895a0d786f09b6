"""A queue in a real store."""

from pathlib import Path

import pytest

from rocktune import api
from rocktune.engine.worker import WORKER_VARIABLE


def test_scans_of_a_queue_skip_what_was_deleted(
    real_worker: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(WORKER_VARIABLE, real_worker[0])
    monkeypatch.setenv("ROCKTUNE_DATA", str(tmp_path / "data"))
    (run,) = api.run(workload="queue", scale="1/512", seconds=1)["runs"]
    assert run["status"] == "ok"
    assert run["figures"]["skipped_keys_per_scan"] > 100
