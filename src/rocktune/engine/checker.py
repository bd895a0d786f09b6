"""Questions about options, answered by the linked RocksDB without opening a store."""

import threading
from collections.abc import Sequence
from typing import Any

from rocktune.engine.worker import WorkerProcess, find_worker, start_worker
from rocktune.importing import Examined, LinkedRocksDb
from rocktune.trial import OptionMaps

_TIMEOUT_S = 60.0


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

    def linked(self) -> LinkedRocksDb:
        """Returns the linked RocksDB for reading OPTIONS files: its options, and what answers about them.

        Raises:
            RunFailed: the worker died.
        """
        return LinkedRocksDb(self.rocksdb_version, self.effective({}), self.examined)

    def examined(self, options: OptionMaps) -> Examined:
        """Returns what RocksDB makes of each of the options, and of a store opened with them.

        Raises:
            RunFailed: RocksDB crashed or had no memory with them.
        """
        reply = self._ask("examine_options", {"options": options})
        fields = ("refused", "misread", "ignored", "parsed", "opened", "open_error")
        return Examined(**{name: reply[name] for name in fields})

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
