"""Driving a store in missions: stretches of so many operations, between which its policies may change.

RusKey's unit of time (section 3): a controller looks at what a mission gave and decides about the next one.
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
    """What a store is asked to do, all of it at full size.

    Attributes:
        workload: its operations.
        device: what the store's I/O may use; never scaled.
        scale: S, by which bytes, keys, times and a mission's operations are divided.
        missions: how many, at least 1.
        operations: of one mission, at least S.
        options: RocksDB's, and with the section "flsm" those of an FLSM store.
        seed: decides keys and values, those of the preloaded store too.
    """

    workload: WorkloadSpec
    device: DeviceSpec
    scale: int
    missions: int
    operations: int
    options: OptionMaps = field(default_factory=dict)
    seed: int = 1


Control = Callable[[EmbeddedRun, Sequence[Measurement]], None]
"""Is called before each mission with the run, which stands still, and what the missions so far gave."""


def run_missions(
    engine: EmbeddedEngine,
    load: MissionLoad,
    control: Control | None = None,
    progress: Progress | None = None,
) -> tuple[Measurement, ...]:
    """Runs missions one after the other.

    Args:
        engine: where.
        load: what to do.
        control: may change the store's policies between missions.
        progress: is told of the whole: phase "missions", how many are done and how many there are.

    Returns:
        One measurement for each mission, at the model's size.

    Raises:
        UserError: the load is wrong somewhere.
        RunFailed: the store failed.
    """
    experiment = plain_experiment(load.workload, load.device, load.scale, load.options, load.seed)
    operations = max(1, load.operations // load.scale)
    done: list[Measurement] = []
    with closing(engine.open(experiment, Configuration({}), load.seed, progress)) as run:
        while len(done) < load.missions:
            if control is not None:
                control(run, done)
            done.append(run.advance_operations(operations))
            if progress is not None:
                progress("missions", len(done), load.missions)
    return tuple(done)
