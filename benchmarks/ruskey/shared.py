"""What the experiments with controllers share: one way to drive a store, and how results are compared."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.claims import Settings
from benchmarks.flsm.shared import RUSKEY, buffer_at
from benchmarks.measuring import processors_awake
from rocktune.device import load_device
from rocktune.engine import EmbeddedEngine
from rocktune.online import DrivenMission, DriveRequest, run_drive
from rocktune.online.control import parse_controller
from rocktune.online.flsm import Filters
from rocktune.online.flsm.tradeoff_map import STOCK, shape_options
from rocktune.online.modelled import StoreCosts
from rocktune.space import merged_options
from rocktune.workload import WorkloadSpec, load_workload

SIZE_RATIO = 10
POLICIES = tuple(f"static:{policy}" for policy in (1, 2, 3, 5, 7, 10))
"""All levels alike, as the paper's baselines; the best of them is what is to be found."""
LEARNED = "lerp"


@dataclass(frozen=True)
class Setting:
    """Where and on what controllers are compared.

    Attributes:
        device: what the store's I/O may use.
        filters: how filters share out their memory.
        bits_per_key: of filters, on average.
        operations: of a mission at full size.
    """

    device: str = "ssd-100mb"
    filters: Filters = "uniform"
    bits_per_key: float = 8.0
    operations: int = 50_000


MONKEY = Setting(filters="monkey", bits_per_key=4.0)


def drive(
    settings: Settings,
    engine: EmbeddedEngine,
    setting: Setting,
    controller: str,
    sessions: Sequence[tuple[str | WorkloadSpec, int]],
    seed: int,
) -> list[DrivenMission]:
    """Drives a store under a controller, or one of RocksDB's own styles by its name."""
    chosen = None if controller in STOCK else parse_controller(controller, SIZE_RATIO)
    shape = controller
    if chosen is not None:
        shape = chosen.policies if isinstance(chosen.policies, str) else str(chosen.policies[0])
    request = DriveRequest(
        sessions=[
            (load_workload(workload) if isinstance(workload, str) else workload, missions)
            for workload, missions in sessions
        ],
        device=load_device(setting.device),
        scale=settings.scale,
        operations=setting.operations,
        options=merged_options(
            RUSKEY,
            buffer_at(settings.scale),
            shape_options(shape, setting.filters, setting.bits_per_key, SIZE_RATIO),
        ),
        seed=seed,
    )
    made = None if chosen is None else chosen.made(setting.filters, seed)
    with processors_awake():
        return run_drive(engine, request, made)


def modelled_costs(settings: Settings) -> StoreCosts:
    """Returns what operations cost on a modelled store: as `--costs` says, or made up with `none`."""
    path = str(settings.extra["costs"])
    return StoreCosts() if path == "none" else StoreCosts(**json.loads(Path(path).read_text("utf-8")))


def latency_us(missions: Iterable[DrivenMission]) -> float:
    """Returns the mean latency of an operation over missions, which all have about equally many."""
    return float(np.mean([mission.latency_us for mission in missions]))


def settled(missions: Sequence[DrivenMission]) -> Sequence[DrivenMission]:
    """Returns the missions of a session after the controller has settled; its last tenth if it never does."""
    last_open = max(
        (number for number, mission in enumerate(missions, 1) if not mission.decision.converged), default=0
    )
    return missions[min(last_open, len(missions) * 9 // 10) :]


def mission_rows(missions: Iterable[DrivenMission]) -> list[dict[str, str | int]]:
    """Returns what is written of a drive, a row for each mission."""
    return [
        {
            "session": mission.session,
            "mission": number,
            "seconds": f"{mission.seconds:.5g}",
            "latency_us": f"{mission.latency_us:.5g}",
            "policies": " ".join(map(str, mission.policies)),
            "phase": mission.decision.phase,
            "learner_ms": f"{mission.learner_ms:.3g}",
        }
        for number, mission in enumerate(missions, 1)
    ]


def by_session(missions: Sequence[DrivenMission]) -> list[list[DrivenMission]]:
    """Returns the missions of each session."""
    count = missions[-1].session + 1
    return [[mission for mission in missions if mission.session == session] for session in range(count)]


def best_of(latencies: Mapping[str, Sequence[float]], controllers: Iterable[str]) -> str:
    """Returns which of some controllers has the lowest mean."""
    return min(controllers, key=lambda controller: float(np.mean(latencies[controller])))
