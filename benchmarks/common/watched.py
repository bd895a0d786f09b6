"""A store under load with an OptionsWatcher, and the process of `rocktune watch` that looks after it."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.common.claims import ROOT
from benchmarks.common.programs import find_program
from rocktune.deploy import WATCHED_FILE
from rocktune.deploy.watch import Row, rows_of
from rocktune.errors import UserError

PROGRAM = "served_store_bench"
_POLL_S = 0.5
_END_TIMEOUT_S = 600


class ServedStore:
    """A store that a program serves at a fixed rate.

    Attributes:
        directory: the database's directory.
    """

    def __init__(self, folder: Path, settings: Mapping[str, Any], operations_s: float, reads: float) -> None:
        """Makes a store and begins to serve it.

        Args:
            folder: a new directory for the database and the program's files.
            settings: the program's settings.
            operations_s: operations per second.
            reads: share of lookups.
        """
        folder.mkdir()
        self.directory = folder / "db"
        self._mix = folder / "mix"
        self.turn(reads)
        self.process = subprocess.Popen(
            [find_program(PROGRAM, ROOT), self.directory, self._mix, str(operations_s), json.dumps(settings)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    @property
    def log(self) -> Path:
        """The store's LOG."""
        return self.directory / "LOG"

    @property
    def watched_file(self) -> Path:
        """The file that the program watches."""
        return self.directory / WATCHED_FILE

    def turn(self, reads: float) -> None:
        """Changes the share of lookups."""
        new = self._mix.with_suffix(".new")
        new.write_text(f"{reads}\n")
        new.replace(self._mix)

    def wait_for_dumps(self, count: int) -> None:
        """Waits until the LOG has so many dumps of statistics."""
        while not self.log.exists() or self.log.read_text(errors="replace").count("STATISTICS:") < count:
            self._check()
            time.sleep(_POLL_S)

    def end(self) -> tuple[int, int]:
        """Ends the load, and returns the number of operations and of those that failed."""
        self._check()
        printed, errors = self.process.communicate("", timeout=_END_TIMEOUT_S)
        if self.process.returncode != 0:
            raise UserError(f"{PROGRAM} ended with {self.process.returncode}: {errors.strip()}")
        done, failed = map(int, printed.split())
        return done, failed

    def _check(self) -> None:
        if self.process.poll() is not None:
            _, errors = self.process.communicate()
            raise UserError(f"{PROGRAM} ended with {self.process.returncode}: {errors.strip()}")


@contextmanager
def served(
    folder: Path, settings: Mapping[str, Any], operations_s: float, reads: float
) -> Iterator[ServedStore]:
    """Yields a store under load; ends its program at the end of the context. See `ServedStore`."""
    store = ServedStore(folder, settings, operations_s, reads)
    try:
        yield store
    finally:
        if store.process.poll() is None:
            store.process.kill()
            store.process.communicate()


class Watch:
    """A process of `rocktune watch`."""

    def __init__(self, store: ServedStore, study: str, arguments: Sequence[str], folder: Path) -> None:
        """Begins to watch a store, and to apply what is found.

        Args:
            store: the store.
            study: the study whose settings the watch repeats.
            arguments: further arguments of the command.
            folder: directory of the watch's data, as `environment` has it.
        """
        self._journal = journal_of(folder, study)
        self._output = (folder / "watch.out").open("w+")
        self.process = subprocess.Popen(
            [
                *command("watch", "--log", str(store.log), "--study", study),
                *("--apply", str(store.watched_file), *arguments),
            ],
            stdout=self._output, stderr=subprocess.STDOUT, env=environment(folder),
        )  # fmt: skip

    def rows(self) -> list[Row]:
        """Returns the journal's rows."""
        return list(rows_of(self._journal)) if (self._journal / "journal.jsonl").exists() else []

    def wait(self, is_over: Callable[[Sequence[Row]], bool], after: int, limit_s: float) -> list[Row]:
        """Returns the rows behind the first `after` ones, once they are complete.

        Args:
            is_over: returns whether they are complete.
            after: number of rows before them.
            limit_s: seconds after which they are returned as they are.
        """
        end = time.monotonic() + limit_s
        while not is_over(self.rows()[after:]) and time.monotonic() < end:
            if self.process.poll() is not None:
                self._output.seek(0)
                raise UserError(f"rocktune watch ended: {self._output.read().strip()[-500:]}")
            time.sleep(_POLL_S)
        return self.rows()[after:]

    def end(self) -> None:
        """Ends the process."""
        self.process.kill()
        self.process.wait()
        self._output.close()


@contextmanager
def watching(store: ServedStore, study: str, arguments: Sequence[str], folder: Path) -> Iterator[Watch]:
    """Yields a process that watches a store; ends it at the end of the context. See `Watch`."""
    watch = Watch(store, study, arguments, folder)
    try:
        yield watch
    finally:
        watch.end()


def command(*arguments: str) -> list[str]:
    """Returns the command line of `rocktune` with some arguments."""
    return [sys.executable, "-m", "rocktune.cli.main", *arguments]


def environment(folder: Path) -> dict[str, str]:
    """Returns the environment of a `rocktune` that has all of its data in a folder."""
    return os.environ | {"XDG_DATA_HOME": str(folder / "user"), "ROCKTUNE_DATA": str(folder / "runs")}


def journal_of(folder: Path, study: str) -> Path:
    """Returns the directory of a watch's journal in a folder that `environment` was given."""
    return folder / "user" / "rocktune" / "watch" / study


def succeed(folder: Path, *arguments: str) -> None:
    """Runs `rocktune` with its data in a folder.

    Raises:
        UserError: it failed.
    """
    done = subprocess.run(
        command(*arguments), cwd=folder, env=environment(folder), capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise UserError(f"rocktune {arguments[0]}: {done.stderr.strip()[-500:]}")
