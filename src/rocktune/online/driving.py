"""Driving a store through sessions, mission by mission, under a controller."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field

from rocktune.device import DeviceSpec
from rocktune.engine import EmbeddedEngine, EmbeddedRun
from rocktune.online.control import Controller, Decision, Mission, busy_seconds, mission_of
from rocktune.online.flsm.layout import SAMPLE_EVERY, STEERED_LEVEL0_RUNS
from rocktune.online.flsm.shape import flsm_shape_of
from rocktune.online.flsm.statistics import FlsmStatistics, flsm_statistics_of
from rocktune.online.plain import plain_experiment
from rocktune.space import merged_options
from rocktune.trial import Configuration, Experiment, Measurement, OptionMaps
from rocktune.workload import WorkloadSpec


@dataclass(frozen=True)
class DriveRequest:
    """What a store is driven through, all of it at full size.

    Attributes:
        sessions: workload and number of missions of each; the keys are the same in all.
        device: what the store's I/O may use; never scaled.
        scale: S, by which bytes, keys and a mission's operations are divided.
        operations: of one mission, at least S.
        options: RocksDB's, and with the section "flsm" those of an FLSM store, whose `level0_runs` is
            `rocktune.online.flsm.layout.STEERED_LEVEL0_RUNS` unless it is there, and whose `sample_every` is
            divided by S, at least 1.
        seed: decides keys and values.
    """

    sessions: Sequence[tuple[WorkloadSpec, int]]
    device: DeviceSpec
    scale: int
    operations: int = 50_000
    options: OptionMaps = field(default_factory=dict)
    seed: int = 1

    @property
    def missions(self) -> int:
        """In all sessions."""
        return sum(missions for _, missions in self.sessions)


@dataclass(frozen=True)
class DrivenMission:
    """A mission that was driven.

    Attributes:
        session: its session, from 0.
        seconds: that it took, on the model; smaller is better.
        latency_us: mean latency of an operation; smaller is better.
        read_share: of operations, those that read.
        policies: K of each level that holds something, at its end; none of a store that is no FLSM store.
        decision: what the controller made of it.
        learner_ms: that deciding took.
        told: what the controller was told; None of a store that is no FLSM store.
    """

    session: int
    seconds: float
    latency_us: float
    read_share: float
    policies: tuple[int, ...]
    decision: Decision
    learner_ms: float
    told: Mission | None = None


Watcher = Callable[[DrivenMission, int], None]
"""Is told of each mission, and how many there have been."""


def run_drive(
    engine: EmbeddedEngine,
    request: DriveRequest,
    controller: Controller | None,
    watcher: Watcher | None = None,
) -> list[DrivenMission]:
    """Drives a store through all sessions.

    Between sessions it is closed and opened again; its data and its policies stay. Between missions it stands
    still, so that what the controller takes is not in any mission.

    Args:
        engine: where.
        request: what to do.
        controller: of an FLSM store; None for RocksDB's own.
        watcher: is told of each mission.

    Raises:
        RunFailed: the store failed, or RocksDB refuses an option.
    """
    done: list[DrivenMission] = []
    for number, run, missions in _sessions(engine, request):
        steered = _Steered(run, controller)
        for _ in range(missions):
            done.append(steered.mission(number, max(1, request.operations // request.scale)))
            if watcher is not None:
                watcher(done[-1], len(done))
    return done


def _sessions(engine: EmbeddedEngine, request: DriveRequest) -> Iterator[tuple[int, EmbeddedRun, int]]:
    """Yields each session with the run that is open for it."""
    nothing = Configuration({})
    first, *_ = (_experiment(request, workload) for workload, _ in request.sessions)
    with closing(engine.open(first, nothing, request.seed)) as run:
        for number, (workload, missions) in enumerate(request.sessions):
            if number > 0:
                # A session's operations are others, and so its seed.
                engine.reopen(run, _experiment(request, workload), nothing, request.seed + number)
            yield number, run, missions


def _experiment(request: DriveRequest, workload: WorkloadSpec) -> Experiment:
    options = request.options
    if "flsm" in options:
        # As many lookups of a mission are looked at closely as at full size.
        sample_every = max(1, SAMPLE_EVERY // request.scale)
        steered = {"level0_runs": str(STEERED_LEVEL0_RUNS), "sample_every": str(sample_every)}
        options = merged_options({"flsm": steered}, options)
    return plain_experiment(workload, request.device, request.scale, options, request.seed)


class _Steered:
    """A run from when it was opened."""

    def __init__(self, run: EmbeddedRun, controller: Controller | None) -> None:
        self._run = run
        self._controller = controller
        self._before: FlsmStatistics | None = None

    def mission(self, session: int, operations: int) -> DrivenMission:
        window = self._run.advance_operations(operations)
        busy_s = busy_seconds(window.raw["operations"])
        counts = {kind: each["count"] for kind, each in window.raw["operations"].items()}
        total = max(1, sum(counts.values()))
        mission = None if "flsm" not in window.raw else self._told(window, busy_s)
        begun = time.perf_counter()
        decision = Decision(phase="RocksDB's own")
        if mission is not None and self._controller is not None:
            decision = self._controller.decide(mission)
        took_ms = (time.perf_counter() - begun) * 1e3
        for level, policy in decision.policies.items():
            self._run.set_policy(level, policy, "flexible")
        return DrivenMission(
            session=session,
            seconds=window.until_s - window.from_s,
            latency_us=busy_s / total * 1e6,
            read_share=sum(counts.get(kind, 0) for kind in ("get", "get_absent", "scan")) / total,
            policies=() if mission is None else tuple(level.policy for level in mission.levels),
            decision=decision,
            learner_ms=took_ms,
            told=mission,
        )

    def _told(self, window: Measurement, busy_s: float) -> Mission:
        shaped = window.raw["flsm"]
        statistics = flsm_statistics_of(shaped["statistics"])
        # The first mission of a session begins when the store is opened.
        since = statistics if self._before is None else statistics.since(self._before)
        self._before = statistics
        return mission_of(since, flsm_shape_of(shaped), busy_s)
