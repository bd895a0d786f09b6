"""Shared code of the experiments with controllers: their names, and the comparison of results."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np

from benchmarks.common.claims import Settings
from benchmarks.common.flags import check_flags
from benchmarks.common.tables import append_rows, read_rows
from rocktune.errors import UserError
from rocktune.online import DrivenMission

POLICIES = tuple(f"static:{policy}" for policy in (1, 2, 3, 5, 7, 10))
"""All levels alike, as the paper's baselines; the best of them is what is to be found."""
LEARNED = "lerp"
DRIVES = "drives.csv.gz"


@dataclass(frozen=True)
class Served:
    """The record of one mission.

    Attributes:
        session: index of its session, from 0.
        seconds: length of the mission.
        latency_us: mean latency of an operation in microseconds.
        policies: K of each level after it.
        phase: the controller's phase.
        converged: whether the controller had settled.
        learner_ms: milliseconds that the decision took.
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
        """Returns the record of a driven mission."""
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
        """Returns the record that `row` has written."""
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
        """Returns the record as a row of a table."""
        return {
            "session": self.session,
            "seconds": f"{self.seconds:.5g}",
            "latency_us": f"{self.latency_us:.5g}",
            "policies": " ".join(map(str, self.policies)),
            "phase": self.phase,
            "converged": "yes" if self.converged else "no",
            "learner_ms": f"{self.learner_ms:.3g}",
        }


Turn = dict[str, list[Served]]
"""The missions of each drive, by its name."""
Drives = dict[str, list[list[Served]]]
"""By controller, one drive for each turn."""


def driven_turns(
    settings: Settings, repeats: int, names: Sequence[str], drive: Callable[[str, int], list[DrivenMission]]
) -> list[Turn]:
    """Returns `repeats` whole turns with seeds from the settings' on, and whole turns of other seeds.

    Each drive is appended to `drives.csv.gz` in `--out`, and is not made again if it is there. So an
    interrupted run continues, and runs with different seeds can share the directory.

    Args:
        settings: settings of the benchmark.
        repeats: number of turns.
        names: names of the drives of a turn.
        drive: makes one drive from its name and seed.

    Raises:
        UserError: no turn is whole, or those in the directory were made with other flags.
    """
    out = settings.out
    check_flags(settings)
    turns = {} if out is None else _read_turns(out / DRIVES)
    for seed in range(settings.seed, settings.seed + repeats):
        turn = turns.setdefault(seed, {})
        for name in names:
            if name in turn:
                continue
            turn[name] = [Served.of(mission) for mission in drive(name, seed)]
            settings.say(f"seed {seed}, {name}: {sum(each.seconds for each in turn[name]):.0f} s")
            if out is not None:
                _add_drive(out / DRIVES, seed, name, turn[name])
    whole = [turn for _, turn in sorted(turns.items()) if set(names) <= set(turn)]
    if not whole:
        raise UserError(f"--repeats 0: no turn in {out} has all drives; give --out, or 1 or more")
    return whole


def _add_drive(path: Path, seed: int, name: str, missions: Sequence[Served]) -> None:
    append_rows(
        path,
        (
            {"seed": seed, "drive": name, "mission": number, **mission.row}
            for number, mission in enumerate(missions, 1)
        ),
    )


def _read_turns(path: Path) -> dict[int, Turn]:
    turns: dict[int, Turn] = {}
    for seed, drive, mission in read_rows(path, _mission):
        turns.setdefault(seed, {}).setdefault(drive, []).append(mission)
    return turns


def _mission(row: Mapping[str, str]) -> tuple[int, str, Served]:
    return int(row["seed"]), row["drive"], Served.from_row(row)


def latency_us(missions: Iterable[Served]) -> float:
    """Returns the mean latency of an operation over missions of about equal size."""
    return float(np.mean([mission.latency_us for mission in missions]))


def settled(missions: Sequence[Served]) -> Sequence[Served]:
    """Returns the missions of a session after the controller has settled; if never, its last tenth."""
    last_open = max(
        (number for number, mission in enumerate(missions, 1) if not mission.converged), default=0
    )
    return missions[min(last_open, len(missions) * 9 // 10) :]


def by_session(missions: Sequence[Served]) -> list[list[Served]]:
    """Returns the missions of each session."""
    count = missions[-1].session + 1
    return [[mission for mission in missions if mission.session == session] for session in range(count)]


def best_of(latencies: Mapping[str, Sequence[float]], controllers: Iterable[str]) -> str:
    """Returns the controller with the lowest mean latency."""
    return min(controllers, key=lambda controller: float(np.mean(latencies[controller])))
