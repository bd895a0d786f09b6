"""Checks options and reads OPTIONS files with the linked RocksDB, without opening a store."""

import threading
from collections.abc import Sequence
from typing import Any

from rocktune.engine.base import RunFailed
from rocktune.engine.worker import WorkerProcess, find_worker, start_worker
from rocktune.importing import Examined, LinkedRocksDb
from rocktune.space.options import SECTIONS
from rocktune.trial import OptionMaps

_TIMEOUT_S = 60.0


class OptionsChecker:
    """Checks options in a worker process that it keeps between calls. Thread-safe.

    Attributes:
        command: program and arguments that start a worker.
        rocksdb_version: version of the linked RocksDB, such as "7.8.3".
        engine: the linked RocksDB for the record, such as "RocksDB 7.8.3, assertions on".
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
        self.engine = self._worker.engine
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

    def linked(self) -> LinkedRocksDb:
        """Returns the linked RocksDB for reading OPTIONS files: its options, and what answers about them.

        Raises:
            RunFailed: the worker died.
        """
        return LinkedRocksDb(self.rocksdb_version, self.effective({}), self.examined)

    def examined(self, options: OptionMaps) -> Examined:
        """Returns what RocksDB makes of each of the options, and of a store opened with them.

        If RocksDB crashes or has no memory with them, the result has only an `open_error`.
        """
        try:
            reply = self._ask("examine_options", {"options": options})
        except RunFailed as failure:
            return Examined({}, {}, {}, {}, {}, failure.message)
        fields = ("refused", "misread", "ignored", "parsed", "opened", "open_error")
        return Examined(**{name: reply[name] for name in fields})

    def mutable(self) -> dict[str, frozenset[str]]:
        """Returns the names of the options that an open database takes, by section.

        Raises:
            RunFailed: the worker died.
        """
        reply = self._ask("mutable_options", {})
        return {section: frozenset(reply[section]) for section in SECTIONS}

    def watched_refusal(self, present: OptionMaps, text: str) -> str:
        """Returns why a program's OptionsWatcher would refuse a watched file; empty if it would take it.

        Args:
            present: the options of its database, with each family that the file names as "cf:NAME".
            text: the file's content.

        Raises:
            RunFailed: RocksDB opens no database with `present`, or the worker died.
        """
        reason: str = self._ask("try_watched", {"present": present, "text": text})["refused"]
        return reason

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
