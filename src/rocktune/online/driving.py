"""Drives a store through sessions, mission by mission, with a controller that decides after each."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Self

from rocktune.device import DeviceSpec
from rocktune.engine import EmbeddedEngine, EmbeddedRun
from rocktune.online.control import Controller, Decision, Levelwise, Mission, busy_seconds, mission_of
from rocktune.online.flsm.layout import LEVELWISE_LEVEL0_RUNS, SAMPLE_EVERY
from rocktune.online.flsm.shape import flsm_shape_of
from rocktune.online.flsm.statistics import FlsmStatistics, flsm_statistics_of
from rocktune.online.plain import plain_experiment
from rocktune.space import merged_options
from rocktune.trial import Configuration, Experiment, Measurement, OptionMaps
from rocktune.workload import WorkloadSpec


@dataclass(frozen=True)
class DriveRequest:
    """The sessions of a drive and the store that serves them, at full size.

    Attributes:
        sessions: workload and number of missions of each session; all use the same keys.
        device: bandwidth and latency that the store's I/O may use; never scaled.
        scale: S, the divisor of bytes, keys and operations of a mission.
        operations: operations of one mission, at least S.
        options: RocksDB options by section. The section "flsm" makes the store an FLSM store. There,
            `sample_every` defaults to its usual value divided by S, at least 1, and with a `Levelwise`
            controller `level0_runs` to `rocktune.online.flsm.layout.LEVELWISE_LEVEL0_RUNS`.
        seed: seed of keys and values.
    """

    sessions: Sequence[tuple[WorkloadSpec, int]]
    device: DeviceSpec
    scale: int
    operations: int = 50_000
    options: OptionMaps = field(default_factory=dict)
    seed: int = 1

    @property
    def missions(self) -> int:
        """Number of missions in all sessions."""
        return sum(missions for _, missions in self.sessions)


@dataclass(frozen=True)
class CountedWork:
    """The work of one mission, which barely depends on what else the machine does.

    Attributes:
        operations: number of operations. A mission may have some more than were asked for.
        device_bytes: bytes read and written, by cause.
        device_operations: device operations, by cause.
        cpu_s: CPU seconds of the store's process, the load's threads included.
        memory_bytes: bytes of memtables, block cache and table readers at the mission's end.
    """

    operations: int
    device_bytes: Mapping[str, int]
    device_operations: Mapping[str, int]
    cpu_s: float
    memory_bytes: int

    @classmethod
    def of(cls, window: Measurement) -> Self:
        """Returns the work of a measured window."""
        held = ("memtables", "block_cache", "table_readers")
        return cls(
            operations=sum(each["count"] for each in window.raw["operations"].values()),
            device_bytes=window.raw["device_bytes"],
            device_operations=window.raw["device_operations"],
            cpu_s=float(window.raw["cpu_s"]),
            memory_bytes=int(sum(window.amount("memory_bytes", kind) for kind in held)),
        )


@dataclass(frozen=True)
class DrivenMission:
    """The measurement of one mission and the decision that followed it.

    Attributes:
        session: index of its session, from 0.
        seconds: length of the mission in seconds of the model; smaller is better.
        latency_us: mean latency of an operation in microseconds; smaller is better.
        read_share: share of operations that read, from 0 to 1.
        policies: K of each level in use at the mission's end; empty unless the store is an FLSM store.
        decision: decision of the controller.
        learner_ms: milliseconds that the decision took.
        statistics: statistics given to the controller; None unless the store is an FLSM store.
        work: counted work; None for a modelled store.
    """

    session: int
    seconds: float
    latency_us: float
    read_share: float
    policies: tuple[int, ...]
    decision: Decision
    learner_ms: float
    statistics: Mission | None = None
    work: CountedWork | None = None


Watcher = Callable[[DrivenMission, int], None]
"""Called after each mission with the mission and the number of missions done."""


def run_drive(
    engine: EmbeddedEngine,
    request: DriveRequest,
    controller: Controller | None,
    watcher: Watcher | None = None,
) -> list[DrivenMission]:
    """Drives a store through all sessions and returns its missions in order.

    The store is closed and reopened between sessions; its data and its policies stay. It is paused between
    missions, so the controller's time belongs to no mission.

    Args:
        engine: engine that opens the store.
        request: sessions, store and device.
        controller: controller of an FLSM store; None leaves the store as it is.
        watcher: called after each mission.

    Raises:
        RunFailed: the store failed, or RocksDB refuses an option.
    """
    done: list[DrivenMission] = []
    for number, run, missions in _sessions(engine, request, controller):
        steered = _Steered(run, controller)
        for _ in range(missions):
            done.append(steered.mission(number, max(1, request.operations // request.scale)))
            if watcher is not None:
                watcher(done[-1], len(done))
    return done


def _sessions(
    engine: EmbeddedEngine, request: DriveRequest, controller: Controller | None
) -> Iterator[tuple[int, EmbeddedRun, int]]:
    """Yields the number of each session, the run that is open for it, and its number of missions."""
    nothing = Configuration({})
    first, *later = (_experiment(request, workload, controller) for workload, _ in request.sessions)
    with closing(engine.open(first, nothing, request.seed)) as run:
        for number, (_, missions) in enumerate(request.sessions):
            if number > 0:
                # The same seed would repeat the keys of the session before.
                engine.reopen(run, later[number - 1], nothing, request.seed + number)
            yield number, run, missions


def _experiment(request: DriveRequest, workload: WorkloadSpec, controller: Controller | None) -> Experiment:
    """Returns the experiment of one session, with the defaults of a controlled FLSM store."""
    options = request.options
    if "flsm" in options:
        # A mission of the model has 1/S of the operations but needs as many sampled lookups as at full size.
        sample_every = max(1, SAMPLE_EVERY // request.scale)
        defaults = {"sample_every": str(sample_every)}
        if isinstance(controller, Levelwise):
            defaults |= {"level0_runs": str(LEVELWISE_LEVEL0_RUNS)}
        options = merged_options({"flsm": defaults}, options)
    return plain_experiment(workload, request.device, request.scale, options, request.seed)


class _Steered:
    """A run of one session that a controller decides about after each mission."""

    def __init__(self, run: EmbeddedRun, controller: Controller | None) -> None:
        self._run = run
        self._controller = controller
        self._before: FlsmStatistics | None = None

    def mission(self, session: int, operations: int) -> DrivenMission:
        """Runs one mission, asks the controller, and applies its policies."""
        window = self._run.advance_operations(operations)
        busy_s = busy_seconds(window.raw["operations"])
        counts = {kind: each["count"] for kind, each in window.raw["operations"].items()}
        total = max(1, sum(counts.values()))
        mission = None if "flsm" not in window.raw else self._mission_of(window, busy_s)
        # Wall time: this is our own computing, and the run's clock stands still meanwhile.
        begun = time.perf_counter()
        decision = Decision(phase="RocksDB's own")
        if mission is not None and self._controller is not None:
            decision = self._controller.decide(mission)
        took_ms = (time.perf_counter() - begun) * 1e3
        for level, policy in decision.policies.items():
            # A flexible change moves no data at once, so a mission never pays for a decision (RusKey, section
            # 4.2).
            self._run.set_policy(level, policy, "flexible")
        return DrivenMission(
            session=session,
            seconds=window.until_s - window.from_s,
            latency_us=busy_s / total * 1e6,
            read_share=sum(counts.get(kind, 0) for kind in ("get", "get_absent", "scan")) / total,
            policies=() if mission is None else tuple(level.policy for level in mission.levels),
            decision=decision,
            learner_ms=took_ms,
            statistics=mission,
            work=CountedWork.of(window),
        )

    def _mission_of(self, window: Measurement, busy_s: float) -> Mission:
        """Returns the statistics of one mission: the store's counters minus those of the mission before."""
        shaped = window.raw["flsm"]
        statistics = flsm_statistics_of(shaped["statistics"])
        # The store's counters start at 0 when it is opened, which is once for each session.
        since = statistics if self._before is None else statistics.since(self._before)
        self._before = statistics
        return mission_of(since, flsm_shape_of(shaped), busy_s)
