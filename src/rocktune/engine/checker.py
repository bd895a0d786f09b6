"""Checks options and reads OPTIONS files with the linked RocksDB, without opening a store."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rocktune.engine.base import RunFailed
from rocktune.engine.worker import WorkerProcess, find_worker, start_worker
from rocktune.errors import UserError
from rocktune.trial import OptionMaps, Status

_TIMEOUT_S = 60.0


@dataclass(frozen=True)
class OptionsFile:
    """The contents of an OPTIONS file.

    Attributes:
        rocksdb_version: version of the RocksDB that wrote the file, such as "7.8.3".
        column_families: options by name of the column family; section "db" is the same in each. They lack a
            block cache unless the file names one, because RocksDB does not write it.
        ignored: names of the options that are not used: the linked RocksDB does not know them or no longer
            uses them, or the caller had them left out.
    """

    rocksdb_version: str
    column_families: dict[str, OptionMaps]
    ignored: tuple[str, ...]


class OptionsChecker:
    """Checks options in a worker process that it keeps between calls. Thread-safe.

    Attributes:
        command: program and arguments that start a worker.
        rocksdb_version: version of the linked RocksDB, such as "7.8.3".
        assertions: True if the linked RocksDB was built with assertions, which make it slower.
        compressions: the compression types that the linked RocksDB supports, by RocksDB's names.
    """

    def __init__(self, command: Sequence[str] | None = None) -> None:
        """Starts the worker.

        Args:
            command: program and arguments; the result of `find_worker` by default.

        Raises:
            UserError: no worker is installed, or it does not start.
        """
        self.command = tuple(command or find_worker())
        self._lock = threading.Lock()
        self._worker: WorkerProcess | None = start_worker(self.command)
        hello = self._worker.hello
        self.rocksdb_version: str = hello["rocksdb_version"]
        self.assertions: bool = hello["assertions"]
        self.compressions: tuple[str, ...] = tuple(hello["compressions"])

    def effective(self, options: OptionMaps) -> OptionMaps:
        """Returns the values of all options of the linked RocksDB if the given ones are set.

        Args:
            options: any subset, as text by section.

        Raises:
            RunFailed: RocksDB refuses them (status `invalid`).
        """
        effective: OptionMaps = self._ask("check_options", {"options": options})["options"]
        return effective

    def read_options_file(self, path: Path, leave_out_foreign: bool = False) -> OptionsFile:
        """Reads an OPTIONS file of any RocksDB version.

        Args:
            path: the file.
            leave_out_foreign: leave out a comparator or merge operator that only the user's application has,
                instead of raising. This is right for engines that measure that application itself.

        Raises:
            UserError: the file cannot be read, is not an OPTIONS file, is incomplete, or needs a feature that
                the linked RocksDB does not have.
        """
        try:
            # The worker keeps the working directory in which it was started.
            fields: dict[str, Any] = {"path": str(path.absolute())}
            if leave_out_foreign:
                fields["leave_out_foreign"] = True
            reply = self._ask("read_options_file", fields)
        except RunFailed as failure:
            # For `invalid` the worker's message names the file already.
            named = failure.status is Status.INVALID
            raise UserError(failure.message if named else f"options file {path}: {failure.message}") from None
        families = {family["name"]: family["options"] for family in reply["column_families"]}
        return OptionsFile(reply["rocksdb_version"], families, tuple(reply["ignored"]))

    def close(self) -> None:
        """Ends the worker; the next call starts another one. Idempotent; never raises."""
        with self._lock:
            worker, self._worker = self._worker, None
            if worker is not None:
                worker.close()

    def _ask(self, command: str, fields: dict[str, Any]) -> dict[str, Any]:
        """Sends a command to the worker, which it starts if needed, and returns the reply."""
        with self._lock:
            # A worker exits after it has answered with an error, so only a successful one is kept.
            worker, self._worker = self._worker or start_worker(self.command), None
            reply = worker.request(command, _TIMEOUT_S, fields)
            self._worker = worker
            return reply
