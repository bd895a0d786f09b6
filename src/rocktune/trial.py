"""The types that tuners, engines, the ledger and the study share: trials, batches, results, experiments.

A trial asks for configuration c to be measured until age t, in seconds of load since the run began. A run
is identified by its configuration and its replicate. A trial with a larger age continues that run, and the
engine then measures the window between the two ages. A tuner sees the sum of all windows from age 0.
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
    """How a trial ended. Only an `ok` trial has figures; a failed trial never gets a substitute value."""

    OK = "ok"
    INVALID = "invalid"
    CRASHED = "crashed"
    TIMED_OUT = "timed_out"
    OUT_OF_MEMORY = "out_of_memory"
    OUT_OF_DISK = "out_of_disk"


@dataclass(frozen=True)
class Trial:
    """A request to measure a run until an age.

    Attributes:
        configuration: the configuration to run.
        until_s: the age to reach in seconds of load since the run began, above 0.
        replicate: number of the run of this configuration, from 0. Runs of different configurations with
            equal replicates get the same random numbers of the workload. A search uses 0, and 2 to 9 to run a
            configuration again.
    """

    configuration: Configuration
    until_s: float
    replicate: int = 0

    @property
    def run(self) -> RunKey:
        """The run that the trial starts or continues."""
        return self.configuration, self.replicate


@dataclass(frozen=True)
class Batch:
    """Trials that may be measured in any order or at once, and runs that are no longer needed.

    Attributes:
        trials: the trials to measure; results are returned in this order.
        release: runs that no later trial continues. They are closed before the trials begin.
        explanation: a JSON object that says why the tuner chose these trials. It is recorded for the report
            and has no other effect.
    """

    trials: tuple[Trial, ...]
    release: tuple[RunKey, ...] = ()
    # Not compared: a replayed batch equals the recorded one if it asks for the same trials.
    explanation: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)


@dataclass(frozen=True)
class Result:
    """The result of a trial.

    Attributes:
        trial: the trial.
        status: how it ended.
        measurement: the run's measurement from age 0 to the trial's age; None unless the status is `ok`.
        message: the last output of the process if the trial failed, in one line; otherwise empty.
        disturbed: whether other programs took the processors during the run and all its repeats (see
            `rocktune.study.measuring.disturbance`).
    """

    trial: Trial
    status: Status
    measurement: Measurement | None = None
    message: str = ""
    disturbed: bool = False

    def figure(self, name: str) -> float:
        """Returns one of `Measurement.figures` by its name; NaN if the trial failed."""
        return math.nan if self.measurement is None else self.measurement.figures[name]

    def metric(self, name: str) -> float:
        """Returns the metric as `Measurement.metric` defines it; NaN if the trial failed."""
        return math.nan if self.measurement is None else self.measurement.metric(name)


@dataclass(frozen=True)
class Experiment:
    """The conditions of a run apart from its configuration and seed. Figures compare if these are equal.

    Attributes:
        workload: the workload at full size.
        device: limits of the store's I/O. They are never scaled.
        scale: S, at least 1. The engine divides byte sizes and keys by it when it opens a run. The caller
            divides the ages.
        space: the space that turns a configuration into options. Its memory budget is at full size. The
            engine sets the limit up to which a run may exceed it.
        base_options: the user's own OPTIONS file at full size; empty without one. A configuration's options
            replace those of the file. A configuration without knobs means the file itself, or RocksDB's
            bare defaults if it is empty.
        family: the column family to which the options of sections "cf" and "table" belong; None for the
            default one, or if each family of the workload has sections of its own.
        base_seed: seed of the preloaded store that a run begins on. Runs whose stores are loaded in the same
            way share one store for each seed.
        neighbours: further workloads on which each run is measured too, with equal seeds.
        aged: whether a run begins on a store in steady state: after loading, the workload ran on it in a
            closed loop, with the run's own options and device (docs/design/steady-state.md).
    """

    workload: WorkloadSpec
    device: DeviceSpec
    scale: int
    space: Space
    base_options: OptionMaps = field(default_factory=dict)
    family: str | None = None
    base_seed: int = 0
    aged: bool = False
    neighbours: tuple[WorkloadSpec, ...] = ()

    def loaded_by(self, configuration: Configuration) -> "Experiment":
        """Returns this experiment with the configuration's changes to the workload, such as its threads."""
        # A space may have knobs of the workload, such as Jia and Chen's number of threads.
        changes = self.space.workload_changes(configuration)
        if not changes:
            return self
        workload, *neighbours = (
            each.model_copy(update=changes) for each in (self.workload, *self.neighbours)
        )
        return replace(self, workload=workload, neighbours=tuple(neighbours))
