"""Questions about options, answered by the linked RocksDB without opening a store."""

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
    """What an OPTIONS file says.

    Attributes:
        rocksdb_version: of the RocksDB that wrote it.
        column_families: by name; section "db" is the same in each. No block cache, of which such files
            say nothing.
        ignored: options of another version that the linked RocksDB does not know or no longer heeds, and
            what was left out of it.
    """

    rocksdb_version: str
    column_families: dict[str, OptionMaps]
    ignored: tuple[str, ...]


class OptionsChecker:
    """One worker that answers question after question. Thread-safe.

    Attributes:
        command: what starts a worker.
        rocksdb_version: the linked RocksDB's ("7.8.3").
        assertions: whether it was built with assertions, which cost speed.
        compressions: the compression types that it can use, by RocksDB's names.
    """

    def __init__(self, command: Sequence[str] | None = None) -> None:
        """Starts the worker.

        Args:
            command: program and arguments; by default the worker that `find_worker` finds.

        Raises:
            UserError: there is no worker, or it does not start.
        """
        self.command = tuple(command or find_worker())
        self._lock = threading.Lock()
        self._worker: WorkerProcess | None = start_worker(self.command)
        hello = self._worker.hello
        self.rocksdb_version: str = hello["rocksdb_version"]
        self.assertions: bool = hello["assertions"]
        self.compressions: tuple[str, ...] = tuple(hello["compressions"])

    def effective(self, options: OptionMaps) -> OptionMaps:
        """Returns every option of the linked RocksDB, with the given ones in force.

        Raises:
            RunFailed: RocksDB refuses them (status `invalid`).
        """
        effective: OptionMaps = self._ask("check_options", {"options": options})["options"]
        return effective

    def read_options_file(self, path: Path, leave_out_foreign: bool = False) -> OptionsFile:
        """Reads an OPTIONS file of any RocksDB version.

        Args:
            path: the file.
            leave_out_foreign: leave out a comparator or merge operator that only its own application has,
                rather than refuse it: that application is what will be measured.

        Raises:
            UserError: it cannot be read, is none, is incomplete, or needs what this RocksDB does not have.
        """
        try:
            fields: dict[str, Any] = {"path": str(path.absolute())}
            if leave_out_foreign:
                fields["leave_out_foreign"] = True
            reply = self._ask("read_options_file", fields)
        except RunFailed as failure:
            named = failure.status is Status.INVALID
            raise UserError(failure.message if named else f"options file {path}: {failure.message}") from None
        families = {family["name"]: family["options"] for family in reply["column_families"]}
        return OptionsFile(reply["rocksdb_version"], families, tuple(reply["ignored"]))

    def close(self) -> None:
        """Ends the worker; the next question starts another. Idempotent; never raises."""
        with self._lock:
            worker, self._worker = self._worker, None
            if worker is not None:
                worker.close()

    def _ask(self, command: str, fields: dict[str, Any]) -> dict[str, Any]:
        with self._lock:
            # A refusal ends the worker, so it is kept only while it answers.
            worker, self._worker = self._worker or start_worker(self.command), None
            reply = worker.request(command, _TIMEOUT_S, fields)
            self._worker = worker
            return reply
