"""The interface of executors: several lanes, each of which measures one run at a time."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from rocktune.engine.base import Conditions, Progress
from rocktune.study.executors.runs import Job, Window
from rocktune.trial import RunKey


class LaneLost(Exception):  # noqa: N818 -- a result, not an error
    """A lane and its parked runs are lost, for a reason outside of the run.

    The trial must be measured again.
    """


class Lane(ABC):
    """One engine with its parked runs. It is not thread-safe: one caller at a time, from any thread.

    Attributes:
        machine: name of the lane for people, unique in its executor, such as "host-1".
    """

    machine: str

    def prepare(self, conditions: Sequence[Conditions], progress: Progress) -> None:  # noqa: B027 -- optional
        """Makes what runs will begin with ahead of them, where that saves time; see `PreparingEngine`."""

    @abstractmethod
    def measure(self, job: Job, progress: Progress) -> Window:
        """Measures a window of a run, which it opens first if it is not parked here.

        Args:
            job: the run and its window.
            progress: is called with the run's progress, if the lane knows it.

        Returns:
            The window.

        Raises:
            RunFailed: the run could not be opened or failed; it has been closed.
            LaneLost: the lane is lost; it must not be used again.
            UserError: the machine lacks something that the user can mend.
        """

    @abstractmethod
    def release(self, key: RunKey) -> None:
        """Ends a parked run, if this lane has it. Never raises."""

    @abstractmethod
    def release_all(self) -> None:
        """Ends all parked runs. Never raises."""

    @abstractmethod
    def abandon(self) -> None:
        """Makes a `measure` that runs in another thread end soon. It may then raise anything."""


class Executor(ABC):
    """A set of lanes that measure at the same time.

    Results must not depend on the lane that measures them. Implementations must pass the conformance suite in
    `rocktune.testing.executors`.

    Attributes:
        can_park: see `rocktune.engine.Engine`; equal for all lanes.
        version: see `rocktune.engine.Engine`; equal for all lanes.
        file_system: see `rocktune.engine.Engine`; equal for all lanes.
        host: name of the machine that has all lanes; "" if they are on several.
        is_parallel: True if several lanes may measure at once, now or later. They can disturb each other, so
            the ledger records which lane measured which trial.
        arguments: command line arguments that choose this executor, such as "--executor local:2"; "" for the
            default.
    """

    can_park: bool
    version: str
    file_system: str
    host: str = ""
    is_parallel: bool
    arguments: str = ""

    @abstractmethod
    def lanes(self) -> Sequence[Lane]:
        """Returns the present lanes, without lost ones. Lanes may join later.

        Raises:
            UserError: there is no lane, and none is expected to join.
        """

    @property
    @abstractmethod
    def opening_s(self) -> float:
        """Wall seconds spent on opening and closing runs, summed over all lanes, lost ones too."""

    @property
    @abstractmethod
    def loading_s(self) -> float:
        """Wall seconds spent on making preloaded bases, summed over all lanes, lost ones too."""
