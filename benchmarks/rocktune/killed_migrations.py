"""Migrations of a store of 1 GB that are killed, cancelled or run out of disk, and then go on.

Needs `ldb`, which makes the store, and root, to mount the small file system that becomes full.
"""

import errno
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.common.claims import Claim, Settings, decided, exactly, main, reported
from benchmarks.common.stores import FAMILIES, files_of, made_store
from benchmarks.common.tables import read_rows, typed, write_csv
from rocktune.engine import OptionsChecker, find_worker
from rocktune.errors import UserError

SOURCE = "migrations of a store with three column families"
CHANGES = {
    "universal": "[CFOptions]compaction_style=kCompactionStyleUniversal",
    "fewer levels": "[CFOptions]num_levels=2",
    "blob files": "[CFOptions]enable_blob_files=true\nmin_blob_size=64",
    "small tables": "[CFOptions]target_file_size_base=1M",
    "large blocks": "[TableOptions/BlockBasedTable]block_size=65536",
    "reverse order": "[CFOptions]comparator=rocksdb.ReverseBytewiseComparator",
}
"""Options of each family, by the change's name; the title of a section precedes them."""
MARKER = "ROCKTUNE_MIGRATION"
_CANCELLED_STATUS = 130
_POLL_S = 0.01


@dataclass(frozen=True)
class Ended:
    """How a migration's process ended.

    Attributes:
        status: its exit status; None if it was killed.
        output: what it printed.
        errors: what it printed on standard error.
        seconds: from the moment at which the copy was there until the end.
    """

    status: int | None
    output: str
    errors: str
    seconds: float

    def content(self) -> list[tuple[str, int, str]]:
        """Returns name, entries and checksum of each family, which the worker found in both databases.

        Raises:
            UserError: the migration failed.
        """
        if self.status != 0:
            raise UserError(f"a migration that nothing stopped failed: {self.errors.strip()}")
        return [
            (found["name"], found["entries"], found["checksum"])
            for found in json.loads(self.output)["families"]
        ]


class Migration:
    """Migrations of one store by one change into one directory, in processes that may be stopped.

    Attributes:
        target: the directory of the copy.
    """

    def __init__(self, store: Path, directory: Path, change: str) -> None:
        self.target = directory / "copy"
        new = directory / "NEW"
        section, options = CHANGES[change].split("]", 1)
        new.write_text("".join(f'{section} "{family}"]\n{options}\n' for family in FAMILIES))
        self._command = [
            sys.executable, "-m", "rocktune.cli.main", "apply", str(store), "--options-file", str(new),
            "--migrate", str(self.target), "--json",
        ]  # fmt: skip

    def run(self, stop: signal.Signals = signal.SIGKILL, after_s: float | None = None) -> Ended:
        """Migrates until the end, or sends a signal some time after the copy has begun to be written."""
        with self.started() as process:
            begin = self._begun(process)
            try:
                output, errors = process.communicate(timeout=after_s)
            except subprocess.TimeoutExpired:
                # The worker of a killed process ends with its parent.
                (os.killpg if stop is signal.SIGKILL else os.kill)(process.pid, stop)
                output, errors = process.communicate()
            killed = process.returncode == -signal.SIGKILL
            seconds = time.monotonic() - begin
            return Ended(None if killed else process.returncode, output, errors, seconds)

    def started(self) -> subprocess.Popen[str]:
        """Starts to migrate in a process group of its own."""
        return subprocess.Popen(
            self._command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        )

    def killed_often(self, kills: int, moments: random.Random, longest_s: float) -> Ended:
        """Kills migrations at random moments, and lets the last one end; a whole copy is begun again."""
        for _ in range(kills):
            if self.run(after_s=moments.uniform(0, longest_s)).status is not None:
                shutil.rmtree(self.target)
        return self.run()

    def _begun(self, process: subprocess.Popen[str]) -> float:
        """Waits until the copy's directory has its marker or the process has ended, and returns the time."""
        while not (self.target / MARKER).exists() and process.poll() is None:
            time.sleep(_POLL_S)
        return time.monotonic()


def killed_migrations(settings: Settings) -> list[Claim]:
    """Kills migrations to six kinds of options ten times each, fills a disk, and cancels one.

    `--entries` is the number in each of three families, with values of 1,000 bytes. Changes that `--out` has
    rows of are not measured again.
    """
    if shutil.which("ldb") is None:
        raise UserError("ldb is not installed; it comes with RocksDB's tools (Debian: rocksdb-tools)")
    quick = settings.quick
    entries = 3000 if quick else int(settings.extra["entries"])
    kills, changes = (2, list(CHANGES)[:1]) if quick else (int(settings.extra["kills"]), list(CHANGES))
    moments = random.Random(settings.seed)
    kept = None if settings.out is None else settings.out / "changes.csv"
    rows = read_rows(kept, typed(kills=int, last_s=float, is_whole=bool, source_is_untouched=bool))
    with tempfile.TemporaryDirectory(prefix="rocktune-migrations-") as folder:
        directory = Path(folder)
        store = made_store(directory / "db", entries, value_bytes=1000)
        before = files_of(store)
        whole = Migration(store, directory, "universal").run()
        longest_s = whole.seconds / 8
        expected = whole.content()
        settings.say(f"a copy that nothing stops takes {whole.seconds:.1f} s")
        for change in changes[len(rows) :]:
            shutil.rmtree(directory / "copy", ignore_errors=True)
            migration = Migration(store, directory, change)
            found = migration.killed_often(kills, moments, longest_s)
            rows.append(_row(change, kills, migration, found, expected, files_of(store) == before))
            settings.say(str(rows[-1]))
            if kept is not None:
                write_csv(kept, rows)
        shutil.rmtree(directory / "copy", ignore_errors=True)
        cancelled = _cancelled(store, directory, whole.seconds / 3, expected)
        shutil.rmtree(directory / "copy")
        filled = None if os.geteuid() else _filled(store, directory, expected)
        untouched = files_of(store) == before
    return _claims(rows, {"cancelled": cancelled, "disk_full": filled}, untouched, whole.seconds, expected)


def _row(
    change: str,
    kills: int,
    migration: Migration,
    found: Ended,
    expected: list[tuple[str, int, str]],
    is_untouched: bool,
) -> dict[str, Any]:
    content = found.content()
    # Each order has checksums of its own.
    compared = 2 if change == "reverse order" else 3
    return {
        "change": change,
        "kills": kills,
        "last_s": round(found.seconds, 1),
        "is_whole": not (migration.target / MARKER).exists()
        and [each[:compared] for each in content] == [each[:compared] for each in expected],
        "source_is_untouched": is_untouched,
    }


def _cancelled(store: Path, directory: Path, after_s: float, expected: list[tuple[str, int, str]]) -> bool:
    """Returns whether Ctrl-C says how to go on, and the copy then does."""
    # A benchmark in the background ignores Ctrl-C, and so would the processes that it starts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    migration = Migration(store, directory, "universal")
    ended = migration.run(signal.SIGINT, after_s)
    is_clear = ended.status == _CANCELLED_STATUS and "--migrate" in ended.errors
    return is_clear and (migration.target / MARKER).exists() and migration.run().content() == expected


def _filled(store: Path, directory: Path, expected: list[tuple[str, int, str]]) -> bool:
    """Returns whether a disk that somebody else fills meanwhile gives one line, and the copy then goes on."""
    size = sum(path.stat().st_size for path in store.iterdir())
    with _small_disk(directory / "disk", 2 * size + (64 << 20)) as disk:
        migration = Migration(store, disk, "universal")
        filler = disk / "filler"
        with migration.started() as process:
            while process.poll() is None and _bytes_in(migration.target) < size // 4:
                time.sleep(_POLL_S)
            _fill(filler, process)
            _, errors = process.communicate()
        lines = [line for line in errors.splitlines() if "rror" in line or "space" in line]
        is_clear = process.returncode not in (0, None) and len(lines) == 1 and "Traceback" not in errors
        filler.unlink()
        return is_clear and migration.run().content() == expected


def _fill(path: Path, process: subprocess.Popen[str]) -> None:
    """Fills a disk until a process ends, again where that gives some room."""
    with path.open("wb", buffering=0) as file:
        while process.poll() is None:
            try:
                file.write(bytes(1 << 20))
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
                time.sleep(_POLL_S)


@contextmanager
def _small_disk(path: Path, size_bytes: int) -> Iterator[Path]:
    """Yields a file system in memory with the given size."""
    path.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size_bytes}", "tmpfs", path], check=True)
    try:
        yield path
    finally:
        subprocess.run(["umount", path], check=True)


def _bytes_in(directory: Path) -> int:
    return sum(path.stat().st_size for path in directory.glob("*.sst"))


def _claims(
    rows: list[dict[str, Any]],
    stopped: dict[str, bool | None],
    is_untouched: bool,
    whole_s: float,
    expected: list[tuple[str, int, str]],
) -> list[Claim]:
    kills = sum(row["kills"] for row in rows)
    count = len(rows)
    exact = {
        "killed_copies_whole": (sum(row["is_whole"] for row in rows), count),
        "sources_untouched": (sum(row["source_is_untouched"] for row in rows) + is_untouched, count + 1),
    } | {f"{name}_and_resumed": (int(found), 1) for name, found in stopped.items() if found is not None}
    with closing(OptionsChecker(find_worker())) as checker:
        where = {"engine": f"RocksDB {checker.linked().version}", "device": "none"}
    return [
        decided(reported(name, SOURCE, "of all", exactly(found, of), **where), low=of)
        for name, (found, of) in exact.items()
    ] + [
        reported("kills", SOURCE, "kills", exactly(kills), **where),
        reported("entries", SOURCE, "entries", exactly(sum(each[1] for each in expected)), **where),
        reported("copy_and_comparison", SOURCE, "s", exactly(whole_s), **where),
    ]


if __name__ == "__main__":
    main(
        "rocktune.killed_migrations",
        killed_migrations,
        scale=1,
        quick_scale=1,
        extra={"entries": 330_000, "kills": 10},
    )
