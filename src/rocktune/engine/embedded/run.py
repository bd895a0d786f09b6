"""A run of engine `embedded`: a store in a worker process of its own."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from rocktune.engine.base import Progress
from rocktune.engine.debt import CompactionDebt
from rocktune.engine.embedded.ageing import Ageing
from rocktune.engine.embedded.full_size import full_size_memory_bytes
from rocktune.engine.embedded.machine import OtherCpuMeter
from rocktune.engine.local.run import LocalRun, RunOwner
from rocktune.engine.worker import WorkerProcess
from rocktune.trial import Measurement, OptionMaps

OPEN_TIMEOUT_S = 60.0
CLOSE_STORE_TIMEOUT_S = 600.0
_PARK_TIMEOUT_S = 60.0
# No command ends by operations alone: this bounds a mission whose arrivals stop.
_MAX_MISSION_S = 3600.0


class EmbeddedRun(LocalRun):
    """A store in a worker process of its own; see `rocktune.engine.base.Run`."""

    advances_once = False

    def __init__(
        self,
        worker: WorkerProcess,
        directory: Path,
        options: OptionMaps,
        owner: RunOwner,
        debt: CompactionDebt,
        scale: int,
    ) -> None:
        """Takes over a worker with an open store.

        Args:
            worker: the process that has opened the store.
            directory: see `LocalRun`.
            options: see `LocalRun`.
            owner: see `LocalRun`.
            debt: charges the run's windows.
            scale: S of the model that the store is.
        """
        super().__init__(directory, options, owner)
        self._worker = worker
        self._debt = debt
        self._scale = scale
        self._first_window: dict[str, Any] = {}
        self._warmed_up_s = 0.0

    def warm_up(self, seconds: float, ageing: Ageing, wall_s: float) -> None:
        """Applies load to an aged store before the run's age begins, and adds the ageing to the first window.

        Args:
            seconds: seconds of load.
            ageing: how the store was aged.
            wall_s: wall seconds that it took now; 0 if the store had been aged before.

        Raises:
            RunFailed: see `Run.advance`.
        """
        self._window(3 * seconds + 60, {"until_s": seconds}, None)
        self._warmed_up_s = seconds
        self._first_window = {"ageing": ageing.to_json() | {"wall_s": wall_s}}

    def _measured(self, until_s: float, progress: Progress | None) -> Measurement:
        # A throttled store on a busy machine falls behind its clock; three times the window is a hang.
        end = {"until_s": self._warmed_up_s + until_s}
        window = self._window(3 * (until_s - self._age_s) + 60, end, progress)
        return Measurement(window.raw | {"from_s": self._age_s, "until_s": until_s})

    def _window(self, timeout_s: float, end: dict[str, Any], progress: Progress | None) -> Measurement:
        """Sends `advance` to the worker and returns the window.

        The engine, other programs' CPU time, the memory at full size and the compaction debt are added.
        """
        others = OtherCpuMeter()
        measured = self._worker.request("advance", timeout_s, end, progress)
        added = {
            "engine": self._worker.engine,
            "others": others.counted(measured["cpu_s"] + measured.get("measuring_cpu_s", 0.0)),
            "full_size_memory_bytes": full_size_memory_bytes(measured, self._scale),
            **self._first_window,
        }
        self._first_window = {}
        raw = measured | added
        return Measurement(raw | self._debt.charged(raw))

    def advance_operations(self, operations: int, progress: Progress | None = None) -> Measurement:
        """Applies the load until a number of operations have ended, then pauses it.

        Operations that other threads have begun by then are completed and counted too.

        Args:
            operations: number of operations, at least 1.
            progress: see `Run.advance`.

        Returns:
            The measurement of the window from the run's previous age; its `until_s` is the run's new age.

        Raises:
            RunFailed: see `Run.advance`. The operations may take at most an hour.
        """
        self._require_alive()
        end = {"until_s": self._age_s + _MAX_MISSION_S, "operations": operations}
        with self._advancing():
            window = self._window(_MAX_MISSION_S, end, progress)
        self._age_s = window.until_s
        return window

    def start_trace(self, path: Path) -> None:
        """Records the store's operations with RocksDB's own tracer from now on.

        Args:
            path: the file to write; a file of this name is replaced.

        Raises:
            RunFailed: the file cannot be written.
        """
        self._worker.request("start_trace", OPEN_TIMEOUT_S, {"path": str(path)})

    def end_trace(self) -> None:
        """Ends the recording and completes the file.

        Raises:
            RunFailed: no recording was started, or its file could not be written.
        """
        self._worker.request("end_trace", OPEN_TIMEOUT_S)

    def set_policy(self, level: int, policy: int, transition: str) -> None:
        """Changes the policy of a level of an FLSM store; see `rocktune.FlsmStore.set_policy`.

        Args:
            level: logical level, from 1.
            policy: maximum number of sorted runs in the level.
            transition: "greedy", "lazy" or "flexible".

        Raises:
            RunFailed: the store is not an FLSM store or refuses the policy. The run can then only be closed.
        """
        self._require_alive()
        with self._remembered_failure():
            fields = {"level": level, "policy": policy, "transition": transition}
            self._worker.request("set_policy", OPEN_TIMEOUT_S, fields)

    def restart(self, open_store: Callable[[Path], tuple[WorkerProcess, OptionMaps, CompactionDebt]]) -> None:
        """Closes the store properly and opens it again; the run's age is then 0.

        Args:
            open_store: opens the store in a given directory; returns its worker, the options in effect, and
                the new charges.

        Raises:
            RunFailed: closing or opening failed. The run can then only be closed.
        """
        self._require_alive()
        with self._remembered_failure():
            self._worker.close_store(CLOSE_STORE_TIMEOUT_S)
            self._worker, self.options, self._debt = open_store(self.directory)
        self._age_s = 0.0

    def _resident_bytes(self) -> int:
        # The worker pauses its load threads and its device, so the store does nothing while it is parked.
        return int(self._worker.request("park", _PARK_TIMEOUT_S)["resident_bytes"])

    def _end(self) -> None:
        self._worker.close()
