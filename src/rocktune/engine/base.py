"""The protocols of a system under test: an engine opens runs; a run advances, parks and closes."""

from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

from rocktune.trial import Configuration, Experiment, Measurement, OptionMaps, Status

KEPT_OUTPUT = 16 << 10
"""Maximum number of characters kept of a user program's output; the last ones are kept."""

Progress = Callable[[str, float, float], None]
"""Is called with (phase, done, total) during long work. A run's phase is "load", "settle", "age" or
"advance"."""


class RunFailed(Exception):  # noqa: N818 -- a result, not an error
    """A failure of the system under test. It is a result of the trial, not an error of rocktune.

    Attributes:
        status: how the run failed; never `ok`.
        message: the cause in one line, usually the process' last line of output.
        output: the last `KEPT_OUTPUT` characters that a user's program printed; "" for other engines.
    """

    def __init__(self, status: Status, message: str, output: str = "") -> None:
        super().__init__(f"{status}: {message}")
        self.status = status
        self.message = message
        self.output = output[-KEPT_OUTPUT:]


class Run(Protocol):
    """One store under load. It is not thread-safe: one caller at a time, from any thread."""

    options: OptionMaps
    """The options in effect, as text by section, read back after opening where the engine can."""

    def advance(self, until_s: float, progress: Progress | None = None) -> Measurement:
        """Applies the load until the run has the age `until_s`, then pauses the load.

        Args:
            until_s: age to reach, in seconds of load since the run began.
            progress: is called with the phase "advance" and ages in seconds.

        Returns:
            The measurement of the window from the previous age to `until_s`.

        Raises:
            RunFailed: the run failed. It can only be closed; every further call raises the same failure.
            ValueError: the run's age is not below `until_s`, the run is closed, or the engine cannot park
                and the run has already advanced.
        """
        ...

    def park(self) -> int:
        """Pauses the run until the next `advance`; returns the resident bytes that it holds meanwhile."""
        ...

    def close(self) -> None:
        """Ends the run and has its data removed before the next run is loaded. Idempotent; never raises."""
        ...


Conditions = tuple[Experiment, Configuration]
"""Experiment and configuration with which a run will be opened."""


@runtime_checkable
class PreparingEngine(Protocol):
    """An engine that can make what runs begin with ahead of them, several at a time."""

    def prepare(self, conditions: Sequence[Conditions], progress: Progress) -> None:
        """Makes what runs will begin with, as far as that helps; the runs that are opened make the rest.

        Failures show when the runs are opened.

        Args:
            conditions: the runs, in the order in which they will be opened.
            progress: see `Engine.open`. If it raises, preparing ends soon, and the exception is passed on.
        """
        ...


class Engine(Protocol):
    """Opens runs. Implementations must pass the conformance suite in `rocktune.testing.engines`."""

    can_park: bool
    """True if a run can pause and continue later. Otherwise a run advances only once, from age 0."""
    version: str
    """The system under test for the record, such as "RocksDB 7.8.3, assertions on"."""
    file_system: str
    """Type of the file system that holds the runs' stores, such as "ext4"; "" if unknown or if there are no
    stores."""

    @property
    def opening_s(self) -> float:
        """Wall seconds spent on opening and closing runs since the engine was created."""
        ...

    @property
    def loading_s(self) -> float:
        """Wall seconds spent on making preloaded bases since the engine was created."""
        ...

    def check(self, experiment: Experiment, configuration: Configuration) -> OptionMaps:
        """Returns the full-size options that the configuration would run with, without opening a run.

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
        """Opens a new store of age 0 that holds the workload's preloaded data.

        Args:
            experiment: the conditions of the run.
            configuration: the values of the space's knobs; empty for the user's own options as they stand.
            seed: decides all random numbers of the workload.
            progress: is called with the phases "load" and "settle" while a base is made.

        Raises:
            RunFailed: the store cannot be opened with this configuration.
        """
        ...

    def close(self) -> None:
        """Ends every run that is still open. Idempotent; never raises."""
        ...
