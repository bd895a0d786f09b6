"""What an executor is to a study: some lanes, each of which measures one thing at a time."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from rocktune.engine.base import Progress
from rocktune.study.executors.runs import Job, Window
from rocktune.trial import RunKey


class LaneLost(Exception):  # noqa: N818 -- a result, not an error
    """A lane is gone with its runs, through no fault of what it measured; that must be measured again."""


class Lane(ABC):
    """One engine and the runs that are parked with it. One caller at a time, from any thread.

    Attributes:
        machine: where it is, for people to read; no other lane of the executor has the same.
    """

    machine: str

    @abstractmethod
    def measure(self, job: Job, progress: Progress) -> Window:
        """Measures; returns when it is done.

        Args:
            job: what.
            progress: is told how it gets on, if that is known here.

        Raises:
            RunFailed: the run cannot be opened or fails; it has been closed.
            LaneLost: the lane is gone; it may not be used any more.
            UserError: the machine lacks something that the user can mend.
        """

    @abstractmethod
    def release(self, key: RunKey) -> None:
        """Ends a parked run that is no longer needed, if it is here. Never raises."""

    @abstractmethod
    def release_all(self) -> None:
        """Ends all parked runs. Never raises."""

    @abstractmethod
    def abandon(self) -> None:
        """Makes a `measure` that is under way, in another thread, end soon, whatever it then raises."""


class Executor(ABC):
    """Lanes that measure at once. Implementations pass `rocktune.testing.executors`.

    What the lanes measure may not depend on which of them measures it.

    Attributes:
        can_park: see `rocktune.engine.Engine`; the same on all lanes.
        version: likewise.
        is_parallel: whether several lanes may measure at once, now or later. They may disturb each other, and
            it is recorded which of them measured what.
        arguments: of the command line, which name this executor: "--executor local:2"; "" for the default.
    """

    can_park: bool
    version: str
    is_parallel: bool
    arguments: str = ""

    @abstractmethod
    def lanes(self) -> Sequence[Lane]:
        """Returns the lanes that there are now. Lost ones are not among them, and new ones may be.

        Raises:
            UserError: there is none, and none is to be expected.
        """

    @property
    @abstractmethod
    def opening_s(self) -> float:
        """Wall seconds spent in opening and closing runs so far, added up over all lanes that ever were."""

    @property
    @abstractmethod
    def loading_s(self) -> float:
        """Wall seconds spent in making preloaded bases so far, likewise."""
