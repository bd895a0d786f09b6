"""The nouns that tuners, engines, the ledger and the study share.

A trial is "measure configuration c until age t", t in seconds of load since the run began. A run is
known by its configuration and its replicate: asking for the same two with a larger age goes on from
where the run is, and the engine's answer covers the window between the two ages alone. What a tuner
sees is cumulative: the windows from age 0, added up.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from rocktune.device import DeviceSpec
from rocktune.measurement import FIGURES, Measurement
from rocktune.space import Space
from rocktune.space.configuration import Configuration, OptionMaps, Value
from rocktune.workload import WorkloadSpec

__all__ = [
    "FIGURES",
    "Batch",
    "Configuration",
    "Experiment",
    "Measurement",
    "OptionMaps",
    "Result",
    "RunKey",
    "Status",
    "Trial",
    "Value",
]


RunKey = tuple[Configuration, int]
"""Identifies a run of a study: its configuration and replicate."""


class Status(StrEnum):
    """How a trial ended. Only an `ok` trial has figures; a failed one is never a number."""

    OK = "ok"
    INVALID = "invalid"
    CRASHED = "crashed"
    TIMED_OUT = "timed_out"
    OUT_OF_MEMORY = "out_of_memory"
    OUT_OF_DISK = "out_of_disk"


@dataclass(frozen=True)
class Trial:
    """A request to measure.

    Attributes:
        configuration: what to run.
        until_s: age to reach, seconds of load since the run began, above 0.
        replicate: which run of this configuration; equal replicates of all configurations share the
            workload's random numbers, different ones do not. A search uses 0.
    """

    configuration: Configuration
    until_s: float
    replicate: int = 0

    @property
    def run(self) -> RunKey:
        """The run that the trial takes further."""
        return self.configuration, self.replicate


@dataclass(frozen=True)
class Batch:
    """Trials that may be measured in any order or at once, and runs that are no longer needed.

    Attributes:
        trials: what to measure; results come back in this order.
        release: runs that will not be asked for a larger age; they are closed before the trials begin.
        explanation: why these, as a JSON object; it is recorded for the report and of no effect.
    """

    trials: tuple[Trial, ...]
    release: tuple[RunKey, ...] = ()
    explanation: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)


@dataclass(frozen=True)
class Result:
    """A trial's answer.

    Attributes:
        trial: what was asked.
        status: how it ended.
        measurement: the run's figures from age 0 to the trial's age; None unless the status is `ok`.
        message: what the process last said, for a failed trial; one line.
    """

    trial: Trial
    status: Status
    measurement: Measurement | None = None
    message: str = ""

    def figure(self, name: str) -> float:
        """Returns one of `Measurement.figures`, NaN for a failed trial."""
        return math.nan if self.measurement is None else self.measurement.figures[name]

    def metric(self, name: str) -> float:
        """Returns what `Measurement.metric` does, NaN for a failed trial."""
        return math.nan if self.measurement is None else self.measurement.metric(name)


@dataclass(frozen=True)
class Experiment:
    """Everything about a run but its configuration and seed: the conditions under which figures compare.

    Attributes:
        workload: at full size.
        device: what the store's I/O may use; never scaled.
        scale: S; byte sizes and keys are divided by it when a run is opened, ages by whoever asks.
        space: turns a configuration into options; its memory budget is at full size, and what a run may use
            beyond it is the engine's limit.
        base_options: the user's own OPTIONS file, full size; empty where there is none. The options of a
            configuration are laid over it, and the configuration without knobs is this file as it stands
            (RocksDB's bare defaults where it is empty).
        base_seed: of the store that a run with a preload begins on. Each number is another store, loaded
            for itself; runs of equal ones share it where they are loaded alike.
    """

    workload: WorkloadSpec
    device: DeviceSpec
    scale: int
    space: Space
    base_options: OptionMaps = field(default_factory=dict)
    base_seed: int = 0

    def loaded_by(self, configuration: Configuration) -> "Experiment":
        """Returns the experiment with the workload that a configuration asks for."""
        changes = self.space.workload_changes(configuration)
        return replace(self, workload=self.workload.model_copy(update=changes)) if changes else self
