"""The remote end of a Ray lane: an engine on a machine of the cluster. This module does not import Ray.

All replies are plain data. Exceptions of an engine are returned as data, because Ray wraps raised ones.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata

from rocktune.engine.base import Engine, RunFailed
from rocktune.errors import UserError
from rocktune.study.executors.lane import EngineLane
from rocktune.study.executors.runs import Job, Window
from rocktune.study.specs.estimate import parked_limit_bytes
from rocktune.trial import RunKey, Status


def rocktune_version() -> str:
    """Returns the version of rocktune that is installed on this machine."""
    return metadata.version("rocktune")


@dataclass(frozen=True)
class Hello:
    """A machine's greeting after it has tried to open its engine.

    Attributes:
        refused: the message for the user if the engine could not be opened, one line; else "".
        version: see `rocktune.engine.Engine`.
        file_system: see `rocktune.engine.Engine`.
        can_park: see `rocktune.engine.Engine`.
    """

    refused: str = ""
    version: str = ""
    file_system: str = ""
    can_park: bool = False


@dataclass(frozen=True)
class Reply:
    """The result of a job on a machine. Exactly one of `window`, `failure` and `refused` is set.

    Attributes:
        opening_s: present value of `Engine.opening_s`, wall seconds.
        loading_s: present value of `Engine.loading_s`, wall seconds.
        window: the measured window.
        failure: status, message and output if the run failed.
        refused: the message for the user if the machine lacks something, one line.
    """

    opening_s: float
    loading_s: float
    window: Window | None = None
    failure: tuple[Status, str, str] | None = None
    refused: str = ""


class Machine:
    """An engine on this machine, used as a Ray actor. It is not thread-safe: one call at a time."""

    def rocktune(self) -> str:
        """Returns the version of rocktune. The driver asks before it sends objects that versions define."""
        return rocktune_version()

    def begin(self, make_engine: Callable[[], Engine], lanes_here: int) -> Hello:
        """Opens the engine.

        Args:
            make_engine: returns an open engine of this machine.
            lanes_here: number of lanes, including this one, that share this machine's memory.
        """
        try:
            self._engine = make_engine()
        except UserError as refused:
            return Hello(refused=str(refused))
        self._lane = EngineLane(self._engine, "", parked_limit_bytes() // lanes_here)
        return Hello("", self._engine.version, self._engine.file_system, self._engine.can_park)

    def measure(self, job: Job) -> Reply:
        """Measures a job with `Lane.measure`; returns its window, failure or message for the user as data."""
        window, failure, refused = None, None, ""
        try:
            # Ray returns only the result of a call, so progress cannot reach the driver.
            window = self._lane.measure(job, lambda *_: None)
        except RunFailed as failed:
            failure = failed.status, failed.message, failed.output
        except UserError as error:
            refused = str(error)
        return Reply(self._engine.opening_s, self._engine.loading_s, window, failure, refused)

    def release(self, key: RunKey) -> None:
        """Ends a parked run, if this machine has it."""
        self._lane.release(key)

    def release_all(self) -> None:
        """Ends all parked runs."""
        self._lane.release_all()

    def close(self) -> None:
        """Ends all runs and closes the engine."""
        self._lane.release_all()
        self._engine.close()
