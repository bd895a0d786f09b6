"""The executor whose lanes are in this process, each with an engine of its own."""

import os
import platform
from collections.abc import Sequence

from rocktune.engine.base import Engine
from rocktune.study.executors.base import Executor, Lane
from rocktune.study.executors.lane import EngineLane
from rocktune.study.specs.estimate import parked_limit_bytes

BACKGROUND_THREADS = 2
"""Threads that a store's flushes and compactions keep busy at least, in addition to the workload's
threads."""


class LocalExecutor(Executor):
    """An executor with one lane for each engine; see `Executor`.

    Engines work in processes of their own, so a thread for each lane suffices to wait for them.
    """

    def __init__(self, engines: Sequence[Engine], parked_limit: int | None = None) -> None:
        """Creates an executor.

        Args:
            engines: at least one engine, all of the same kind and version. They stay open.
            parked_limit: maximum resident bytes of all parked runs together; half of this machine's memory
                by default.
        """
        limit_bytes = (parked_limit_bytes() if parked_limit is None else parked_limit) // len(engines)
        self._engines = tuple(engines)
        self._lanes = [
            EngineLane(engine, f"local-{number}", limit_bytes) for number, engine in enumerate(engines, 1)
        ]
        self.can_park = engines[0].can_park
        self.version = engines[0].version
        self.file_system = engines[0].file_system
        self.host = platform.node()
        self.is_parallel = len(engines) > 1
        self.arguments = f"--executor local:{len(engines)}" if self.is_parallel else ""

    def lanes(self) -> Sequence[Lane]:
        """See `Executor.lanes`. The lanes never change."""
        return self._lanes

    @property
    def opening_s(self) -> float:
        """See `Executor.opening_s`."""
        return sum(engine.opening_s for engine in self._engines)

    @property
    def loading_s(self) -> float:
        """See `Executor.loading_s`."""
        return sum(engine.loading_s for engine in self._engines)


def executor_of(measuring: Engine | Executor, parked_limit: int | None = None) -> Executor:
    """Returns the executor itself, or a new executor with one lane for an engine.

    Args:
        measuring: an engine or an executor.
        parked_limit: see `LocalExecutor`; ignored for an executor.
    """
    return measuring if isinstance(measuring, Executor) else LocalExecutor([measuring], parked_limit)


def crowding(lanes: int, threads: int, cores: int | None = None) -> str | None:
    """Returns a warning if the lanes of one machine have too few cores for all threads, else None.

    Args:
        lanes: number of lanes that measure at once.
        threads: number of load threads of each lane's workload.
        cores: number of cores; those that this process may use by default.
    """
    cores = cores or len(os.sched_getaffinity(0))
    needed = lanes * (threads + BACKGROUND_THREADS)
    if lanes < 2 or needed <= cores:
        return None
    return (
        f"{lanes} workers with {threads} threads of load and {BACKGROUND_THREADS} of the store need "
        f"{needed} cores, but there are {cores}. They will slow each other down, and figures are those of a "
        "busy machine."
    )
