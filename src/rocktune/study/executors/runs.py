"""Jobs, which a study sends to a lane, and windows, which the lane returns."""

from collections.abc import Callable
from dataclasses import dataclass

from rocktune.trial import Configuration, Experiment, Measurement, OptionMaps, RunKey


@dataclass(frozen=True)
class Job:
    """A window of a run to be measured, with everything that opening the run takes.

    Attributes:
        key: the run.
        experiment: the experiment to open the run with.
        configuration: the configuration to open the run with; it may differ from the key's.
        seed: the seed to open the run with.
        from_s: age up to which the run was measured before, seconds; the window begins there.
        until_s: age at which the window ends, seconds; above `from_s`.
        keep: park the run afterwards instead of ending it.
        score: returns from a run's latest window how promising the run is; larger is better. It is pickled
            for other machines.
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
    """A measured window of a run.

    Attributes:
        measurement: the figures of the window alone.
        options: the options in effect in the store.
        repeated_s: seconds of load that were repeated to reach the window's start, because the parked run
            had been discarded or lost.
    """

    measurement: Measurement
    options: OptionMaps
    repeated_s: float
