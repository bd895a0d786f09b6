"""What works on a machine of a cluster: an engine of its own, asked from afar. Needs no Ray itself.

Everything that comes back is data: what an engine raises is told, not raised, for exceptions travel badly.
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
    """Returns the version of rocktune that is installed here."""
    return metadata.version("rocktune")


@dataclass(frozen=True)
class Hello:
    """What a machine says of itself when it has its engine.

    Attributes:
        refused: what the user has to mend first, one line; "" when all is well.
        version: see `rocktune.engine.Engine`.
        can_park: likewise.
    """

    refused: str = ""
    version: str = ""
    can_park: bool = False


@dataclass(frozen=True)
class Reply:
    """What came of a job.

    Attributes:
        opening_s: see `rocktune.engine.Engine`: until now.
        loading_s: likewise.
        window: what was measured; None if nothing was.
        failure: status, message and output of a run that failed.
        refused: what the user has to mend, one line.
    """

    opening_s: float
    loading_s: float
    window: Window | None = None
    failure: tuple[Status, str, str] | None = None
    refused: str = ""


class Machine:
    """An engine on this machine. One call at a time."""

    def rocktune(self) -> str:
        """Returns the version of rocktune, before anything else is exchanged."""
        return rocktune_version()

    def begin(self, make_engine: Callable[[], Engine], lanes_here: int) -> Hello:
        """Opens the engine.

        Args:
            make_engine: opens it, with what this machine has.
            lanes_here: how many others, itself included, share this machine's memory.
        """
        try:
            self._engine = make_engine()
        except UserError as refused:
            return Hello(refused=str(refused))
        self._lane = EngineLane(self._engine, "", parked_limit_bytes() // lanes_here)
        return Hello("", self._engine.version, self._engine.can_park)

    def measure(self, job: Job) -> Reply:
        """Measures; see `rocktune.study.executors.Lane.measure`."""
        window, failure, refused = None, None, ""
        try:
            window = self._lane.measure(job, lambda *_: None)
        except RunFailed as failed:
            failure = failed.status, failed.message, failed.output
        except UserError as error:
            refused = str(error)
        return Reply(self._engine.opening_s, self._engine.loading_s, window, failure, refused)

    def release(self, key: RunKey) -> None:
        """Ends a parked run, if it is here."""
        self._lane.release(key)

    def release_all(self) -> None:
        """Ends all parked runs."""
        self._lane.release_all()

    def close(self) -> None:
        """Ends the engine and removes its runs."""
        self._lane.release_all()
        self._engine.close()
