"""What a system under test is to rocktune: an engine opens runs; a run advances, parks and closes."""

from collections.abc import Callable
from typing import Protocol

from rocktune.trial import Configuration, Experiment, Measurement, OptionMaps, Status

KEPT_OUTPUT = 16 << 10
"""Characters kept of what a program of the user's printed: the last ones."""

Progress = Callable[[str, float, float], None]
"""Called with (phase, done, total) while something takes long: phases "load", "settle", "advance"."""


class RunFailed(Exception):  # noqa: N818 -- a result, not an error
    """The system under test failed; that is a result, not an error of rocktune.

    Attributes:
        status: never `ok`.
        message: what the process last said, one line.
        output: the last that it printed, where it is a program of the user's; "" elsewhere.
    """

    def __init__(self, status: Status, message: str, output: str = "") -> None:
        super().__init__(f"{status}: {message}")
        self.status = status
        self.message = message
        self.output = output[-KEPT_OUTPUT:]


class Run(Protocol):
    """One store under load. Not thread-safe; one caller at a time."""

    options: OptionMaps
    """What the store really uses, read back after opening."""

    def advance(self, until_s: float, progress: Progress | None = None) -> Measurement:
        """Loads until the run's age is `until_s` and then stands still.

        Returns:
            The window from the previous age.

        Raises:
            RunFailed: the run is over and may only be closed; asking again raises the same.
            ValueError: the run's age is not below `until_s`, or the run is closed, or the engine cannot park
                and the run has advanced once.
        """
        ...

    def park(self) -> int:
        """Says that the run may have to wait; returns the bytes of memory it holds meanwhile."""
        ...

    def close(self) -> None:
        """Ends the run and removes its data, before another one is loaded. Idempotent; never raises."""
        ...


class Engine(Protocol):
    """Opens runs. Implementations pass `rocktune.testing.engines`."""

    can_park: bool
    """Whether a run can stand still and go on later. Where not, a run advances once, from 0 to its age."""
    version: str
    """What is measured, for the record: "RocksDB 7.8.3, assertions on"."""
    opening_s: float
    """Wall seconds spent in opening and closing runs so far."""
    loading_s: float
    """Wall seconds spent in making preloaded bases so far."""

    def check(self, experiment: Experiment, configuration: Configuration) -> OptionMaps:
        """Returns the full-size options that the configuration would run with.

        Raises:
            RunFailed: the engine refuses them (status `invalid`).
        """
        ...

    def open(
        self,
        experiment: Experiment,
        configuration: Configuration,
        seed: int,
        progress: Progress | None = None,
    ) -> Run:
        """Opens a fresh store of age 0 with the workload's preload in it.

        Raises:
            RunFailed: the store cannot be opened with this configuration.
        """
        ...

    def close(self) -> None:
        """Ends every run that is still open. Idempotent; never raises."""
        ...
