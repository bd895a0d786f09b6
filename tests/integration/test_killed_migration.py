"""kill -9 of a migration at random moments: the next one goes on, and the copy has all entries.

`benchmarks/rocktune/killed_migrations.py` does the same with 1 GB, more kills and more changes of options.
"""

import random
import shutil
from pathlib import Path

import pytest
from benchmarks.common.stores import files_of, made_store
from benchmarks.rocktune.killed_migrations import MARKER, Migration

from rocktune.engine.worker import WORKER_VARIABLE


@pytest.mark.timeout(600)
def test_a_copy_killed_often_is_whole(
    tmp_path: Path, real_worker: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    if shutil.which("ldb") is None:
        pytest.skip("ldb is not installed")
    monkeypatch.setenv(WORKER_VARIABLE, real_worker[0])
    store = made_store(tmp_path / "db", entries=3000, value_bytes=1000)
    before = files_of(store)
    migration = Migration(store, tmp_path, "blob files")
    content = migration.killed_often(2, random.Random(20261126), longest_s=0.5).content()
    # The worker has compared the copy with the source, entry by entry.
    assert [entries for _, entries, _ in content] == [3000] * 3
    assert files_of(store) == before
    assert not (migration.target / MARKER).exists()
