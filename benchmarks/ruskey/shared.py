"""What the experiments with controllers share: which there are, and how results are compared."""

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np

from rocktune.online import DrivenMission

POLICIES = tuple(f"static:{policy}" for policy in (1, 2, 3, 5, 7, 10))
"""All levels alike, as the paper's baselines; the best of them is what is to be found."""
LEARNED = "lerp"


@dataclass(frozen=True)
class Served:
    """What is kept of a mission.

    Attributes:
        session: which it was of, from 0.
        seconds: that it took.
        latency_us: of an operation, on average.
        policies: K of each level after it.
        phase: what the controller was doing.
        converged: whether it had nothing left to learn.
        learner_ms: that it took to decide.
    """

    session: int
    seconds: float
    latency_us: float
    policies: tuple[int, ...]
    phase: str
    converged: bool
    learner_ms: float

    @classmethod
    def of(cls, mission: DrivenMission) -> Self:
        """Returns what is kept of a mission that was driven."""
        return cls(
            mission.session,
            mission.seconds,
            mission.latency_us,
            tuple(mission.policies),
            mission.decision.phase,
            mission.decision.converged,
            mission.learner_ms,
        )

    @classmethod
    def from_row(cls, row: Mapping[str, str]) -> Self:
        """Returns what `row` has written."""
        return cls(
            int(row["session"]),
            float(row["seconds"]),
            float(row["latency_us"]),
            tuple(map(int, row["policies"].split())),
            row["phase"],
            row["converged"] == "yes",
            float(row["learner_ms"]),
        )

    @property
    def row(self) -> dict[str, str | int]:
        """What is written of it in a table."""
        return {
            "session": self.session,
            "seconds": f"{self.seconds:.5g}",
            "latency_us": f"{self.latency_us:.5g}",
            "policies": " ".join(map(str, self.policies)),
            "phase": self.phase,
            "converged": "yes" if self.converged else "no",
            "learner_ms": f"{self.learner_ms:.3g}",
        }


Drives = dict[str, list[list[Served]]]
"""By controller, one drive for each turn."""


def mission_rows(drives: Drives) -> list[dict[str, str | int]]:
    """Returns what is written of drives, a row for each mission."""
    return [
        {"controller": controller, "turn": turn, "mission": number, **mission.row}
        for controller, turns in drives.items()
        for turn, missions in enumerate(turns)
        for number, mission in enumerate(missions, 1)
    ]


def read_drives(paths: Iterable[Path]) -> Drives:
    """Returns the drives that runs have written with `mission_rows`, the turns of one after another's."""
    drives: Drives = {}
    for path in paths:
        own: dict[tuple[str, str], list[Served]] = {}
        with path.open(newline="") as file:
            for row in csv.DictReader(file):
                own.setdefault((row["controller"], row["turn"]), []).append(Served.from_row(row))
        for (controller, _), missions in own.items():
            drives.setdefault(controller, []).append(missions)
    return drives


def latency_us(missions: Iterable[Served]) -> float:
    """Returns the mean latency of an operation over missions, which all have about equally many."""
    return float(np.mean([mission.latency_us for mission in missions]))


def settled(missions: Sequence[Served]) -> Sequence[Served]:
    """Returns the missions of a session after the controller has settled; its last tenth if it never does."""
    last_open = max(
        (number for number, mission in enumerate(missions, 1) if not mission.converged), default=0
    )
    return missions[min(last_open, len(missions) * 9 // 10) :]


def by_session(missions: Sequence[Served]) -> list[list[Served]]:
    """Returns the missions of each session."""
    count = missions[-1].session + 1
    return [[mission for mission in missions if mission.session == session] for session in range(count)]


def best_of(latencies: Mapping[str, Sequence[float]], controllers: Iterable[str]) -> str:
    """Returns which of some controllers has the lowest mean."""
    return min(controllers, key=lambda controller: float(np.mean(latencies[controller])))
