"""Base class of this machine's engines: the data directory, the open runs and the time they take."""

import shutil
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from rocktune.engine.checker import OptionsChecker
from rocktune.engine.local.data_directory import DataDirectory
from rocktune.engine.local.file_systems import file_system_of
from rocktune.engine.local.run import LocalRun


@dataclass
class Opening:
    """A run that is being opened.

    Attributes:
        directory: the run's own directory, empty at first.
        loading_s: wall seconds of the opening that were spent on making a preloaded base.
    """

    directory: Path
    loading_s: float = 0.0


class LocalEngine:
    """Keeps the runs of an engine; see `rocktune.engine.base.Engine`. Thread-safe.

    Attributes:
        checker: checks options with the linked RocksDB.
        data: the directory with the directories of all runs.
        file_system: see `Engine`.
        opening_s: see `Engine`.
        loading_s: see `Engine`.
    """

    def __init__(self, checker: OptionsChecker, data_directory: Path) -> None:
        """Takes over the checker and claims the data directory.

        Raises:
            UserError: the data directory is refused, or its file system is full.
        """
        with ExitStack() as undone:
            undone.callback(checker.close)
            self.data = DataDirectory(data_directory)
            undone.callback(self.data.close)
            self.data.require_free(0)
            undone.pop_all()
        self.checker = checker
        self.file_system = file_system_of(self.data.path)
        self.opening_s = 0.0
        self.loading_s = 0.0
        self._lock = threading.Lock()
        self._runs: set[LocalRun] = set()
        # Removing a large store takes longer than opening the next one, so both happen at once.
        self._remover = ThreadPoolExecutor(1, "rocktune-remover")
        self._removals: list[Future[None]] = []

    def close(self) -> None:
        """See `Engine.close`. The data directory keeps its bases."""
        for run in list(self._runs):
            run.close()
        self._remover.shutdown()
        self.checker.close()
        self.data.close()

    @contextmanager
    def _opening(self) -> Iterator[Opening]:
        """Makes the directory of a new run and counts the time.

        Removes the directory if the opening fails.
        """
        started = time.monotonic()
        opening = Opening(self.data.new_directory())
        try:
            yield opening
        except BaseException:
            shutil.rmtree(opening.directory, ignore_errors=True)
            raise
        finally:
            with self._lock:
                self.opening_s += time.monotonic() - started - opening.loading_s
                self.loading_s += opening.loading_s

    @contextmanager
    def _scratch(self) -> Iterator[Path]:
        """Makes an empty directory and removes it after the context."""
        directory = self.data.new_directory()
        try:
            yield directory
        finally:
            shutil.rmtree(directory, ignore_errors=True)

    def _remember(self, run: LocalRun) -> None:
        """Adds a run to those that `close` ends."""
        with self._lock:
            self._runs.add(run)

    def forget(self, run: LocalRun, seconds: float) -> None:
        """See `RunOwner.forget`."""
        with self._lock:
            self._runs.discard(run)
            self.opening_s += seconds
            self._removals.append(self._remover.submit(shutil.rmtree, run.directory, ignore_errors=True))

    def wait_for_removals(self) -> None:
        """See `RunOwner.wait_for_removals`."""
        with self._lock:
            removals, self._removals = self._removals, []
        for removal in removals:
            removal.result()
