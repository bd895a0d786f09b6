"""kill -9 of a migration at random moments: the next one goes on, and the copy has all entries."""

import os
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.stores import files_of, made_store

from rocktune.engine.worker import WORKER_VARIABLE

CHANGES = {
    "universal": "[CFOptions]compaction_style=kCompactionStyleUniversal",
    "fewer levels": "[CFOptions]num_levels=2",
    "blob files": "[CFOptions]enable_blob_files=true\nmin_blob_size=64",
    "small tables": "[CFOptions]target_file_size_base=1M",
    "large blocks": "[TableOptions/BlockBasedTable]block_size=65536",
    "reverse order": "[CFOptions]comparator=rocksdb.ReverseBytewiseComparator",
}
"""Options of each family, by the change's name; the title of a section precedes them."""


def options_of(change: str) -> str:
    """Returns the file with the new options of the three families."""
    section, options = CHANGES[change].split("]", 1)
    return "".join(f'{section} "{family}"]\n{options}\n' for family in ("default", "second", "third"))


class Migration:
    """Migrations of one store by one change, in processes that may be killed."""

    def __init__(self, store: Path, directory: Path, change: str) -> None:
        self.target = directory / "copy"
        new = directory / "NEW"
        new.write_text(options_of(change))
        self._command = [
            sys.executable, "-m", "rocktune.cli.main", "apply", str(store), "--options-file", str(new),
            "--migrate", str(self.target), "--json",
        ]  # fmt: skip

    def ended(self, within_s: float | None) -> bool:
        """Migrates for some time, or until the end. Says whether the end was reached."""
        with subprocess.Popen(
            self._command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        ) as process:
            try:
                output, errors = process.communicate(timeout=within_s)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)  # the worker ends with its parent
                return False
        assert process.returncode == 0, errors
        assert '"in_place": false' in output
        return True

    def killed_often(self, kills: int, moments: random.Random, longest_s: float) -> None:
        """Kills migrations at random moments, and lets the last one end."""
        for _ in range(kills):
            if self.ended(moments.uniform(0.3, longest_s)):
                return
        assert self.ended(None)


@pytest.mark.timeout(3600)
@pytest.mark.parametrize(
    ("change", "entries", "kills", "longest_s"),
    [
        ("blob files", 3000, 2, 2.0),
        # 1 GB in three families.
        *(pytest.param(change, 330_000, 10, 8.0, marks=pytest.mark.slow) for change in CHANGES),
    ],
)
def test_a_copy_killed_often_is_whole(
    change: str, entries: int, kills: int, longest_s: float, tmp_path: Path, real_worker: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    if shutil.which("ldb") is None:
        pytest.skip("ldb is not installed")
    monkeypatch.setenv(WORKER_VARIABLE, real_worker[0])
    store = made_store(tmp_path / "db", entries, value_bytes=1000)
    before = files_of(store)
    migration = Migration(store, tmp_path, change)
    migration.killed_often(kills, random.Random(20261126), longest_s)
    # The worker has compared the copy with the source, entry by entry; the source is left to be compared.
    assert files_of(store) == before
    assert not (migration.target / "ROCKTUNE_MIGRATION").exists()
