"""Runs a store in missions of a fixed number of operations; its policies may change between missions.

A mission is RusKey's unit of time (section 3): the controller looks at the statistics of one mission and
decides about the next.
"""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field

from rocktune.device import DeviceSpec
from rocktune.engine import EmbeddedEngine, EmbeddedRun
from rocktune.engine.base import Progress
from rocktune.online.plain import plain_experiment
from rocktune.trial import Configuration, Measurement, OptionMaps
from rocktune.workload import WorkloadSpec


@dataclass(frozen=True)
class MissionLoad:
    """The load of a run in missions; sizes and counts are full size.

    Attributes:
        workload: operations, keys and preload.
        device: bandwidth and latency that the store's I/O may use; never scaled.
        scale: S, the divisor of bytes, keys, times and operations of a mission.
        missions: number of missions, at least 1.
        operations: operations of one mission, at least S.
        options: RocksDB options by section; the section "flsm" makes the store an FLSM store.
        seed: seed of keys and values, including those of the preloaded store.
    """

    workload: WorkloadSpec
    device: DeviceSpec
    scale: int
    missions: int
    operations: int
    options: OptionMaps = field(default_factory=dict)
    seed: int = 1


Control = Callable[[EmbeddedRun, Sequence[Measurement]], None]
"""Called before each mission with the paused run and the measurements of the missions that have ended."""


def run_missions(
    engine: EmbeddedEngine,
    load: MissionLoad,
    control: Control | None = None,
    progress: Progress | None = None,
) -> tuple[Measurement, ...]:
    """Runs missions one after the other in one open store.

    Args:
        engine: engine that opens the store.
        load: workload, device and number of missions.
        control: called before each mission; it may change the store's policies.
        progress: called after each mission with the phase "missions", the missions done and all missions.

    Returns:
        One measurement for each mission, at the model's size.

    Raises:
        UserError: the load is invalid.
        RunFailed: the store failed.
    """
    experiment = plain_experiment(load.workload, load.device, load.scale, load.options, load.seed)
    # A scale above the number of operations would give missions without any, whose figures are undefined.
    operations = max(1, load.operations // load.scale)
    done: list[Measurement] = []
    # Closing ends the worker process even if the control raises.
    with closing(engine.open(experiment, Configuration({}), load.seed, progress)) as run:
        while len(done) < load.missions:
            if control is not None:
                control(run, done)
            done.append(run.advance_operations(operations))
            if progress is not None:
                progress("missions", len(done), load.missions)
    return tuple(done)
