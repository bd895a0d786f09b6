"""What a lane is asked to measure, and what it answers."""

from collections.abc import Callable
from dataclasses import dataclass

from rocktune.trial import Configuration, Experiment, Measurement, OptionMaps, RunKey


@dataclass(frozen=True)
class Job:
    """A stretch of a run that is to be measured, with all that it takes to open the run if it is not there.

    Attributes:
        key: which run.
        experiment: what it is opened with.
        configuration: likewise, which need not be the key's.
        seed: likewise.
        from_s: the age up to which the run has been measured before; the window begins there.
        until_s: above `from_s`.
        keep: park the run afterwards, rather than end it.
        score: how promising a run is by its latest window; larger is better. Goes to other machines with
            the job, so it holds nothing that cannot.
    """

    key: RunKey
    experiment: Experiment
    configuration: Configuration
    seed: int
    from_s: float
    until_s: float
    keep: bool
    score: Callable[[Measurement], float]


@dataclass(frozen=True)
class Window:
    """A new stretch of a run.

    Attributes:
        measurement: of the window alone.
        options: what the store really uses.
        repeated_s: seconds of load that were run again to get to the window's start, because the run that
            had been there was discarded or lost.
    """

    measurement: Measurement
    options: OptionMaps
    repeated_s: float
