"""What the experiments with controllers share: which there are, and how results are compared."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from rocktune.online import DrivenMission

POLICIES = tuple(f"static:{policy}" for policy in (1, 2, 3, 5, 7, 10))
"""All levels alike, as the paper's baselines; the best of them is what is to be found."""
LEARNED = "lerp"


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
