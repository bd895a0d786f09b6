"""Lanes in this process: threads, each with an engine of its own."""

import os
from collections.abc import Sequence

from rocktune.engine.base import Engine
from rocktune.study.executors.base import Executor, Lane
from rocktune.study.executors.lane import EngineLane
from rocktune.study.specs.estimate import parked_limit_bytes

BACKGROUND_THREADS = 2
"""What a store's flushes and compactions keep busy at least, beside the threads of the workload."""


class LocalExecutor(Executor):
    """One lane for each of some engines. See `Executor`.

    The engines do their work in processes of their own, so that threads suffice to wait for it.
    """

    def __init__(self, engines: Sequence[Engine], parked_limit: int | None = None) -> None:
        """Takes engines for its lanes.

        Args:
            engines: at least one, all of the same kind and version; they stay open.
            parked_limit: bytes of memory that all parked runs may hold together; by default half of what
                this machine has.
        """
        limit_bytes = (parked_limit_bytes() if parked_limit is None else parked_limit) // len(engines)
        self._engines = tuple(engines)
        self._lanes = [
            EngineLane(engine, f"local-{number}", limit_bytes) for number, engine in enumerate(engines, 1)
        ]
        self.can_park = engines[0].can_park
        self.version = engines[0].version
        self.is_parallel = len(engines) > 1
        self.arguments = f"--executor local:{len(engines)}" if self.is_parallel else ""

    def lanes(self) -> Sequence[Lane]:
        """See `Executor.lanes`: always the same ones."""
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
    """Returns an executor as it is, and for an engine the one that uses it for one run at a time.

    Args:
        measuring: one or the other.
        parked_limit: see `LocalExecutor`; of no effect on an executor.
    """
    return measuring if isinstance(measuring, Executor) else LocalExecutor([measuring], parked_limit)


def crowding(lanes: int, threads: int, cores: int | None = None) -> str | None:
    """Returns what to tell the user where the lanes of one machine will disturb each other; else None.

    Args:
        lanes: how many measure at once.
        threads: of the workload, which every lane has.
        cores: what they share; by default this machine's.
    """
    cores = cores or len(os.sched_getaffinity(0))
    needed = lanes * (threads + BACKGROUND_THREADS)
    if lanes < 2 or needed <= cores:
        return None
    return (
        f"{lanes} workers with {threads} threads of load and {BACKGROUND_THREADS} of the store's want "
        f"{needed} cores, and there are {cores}: they will slow each other down, and what is measured is a "
        "store on a busy machine."
    )
