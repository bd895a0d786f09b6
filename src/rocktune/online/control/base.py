"""The interface of whoever decides about a store's policies while it serves."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from rocktune.online.control.mission import Mission


@dataclass(frozen=True)
class Decision:
    """What is to be changed after a mission, and why.

    Attributes:
        policies: K by level, from 1; levels that are not named stay as they are.
        why: a sentence for the decision log; "" where nothing changes.
        phase: what the controller is doing, in a word or two ("level 1", "converged").
        converged: whether it has settled on policies for the present workload.
    """

    policies: Mapping[int, int] = field(default_factory=dict)
    why: str = ""
    phase: str = ""
    converged: bool = True


class Controller(Protocol):
    """Decides after each mission about the next one. Not thread-safe: one mission at a time."""

    def decide(self, mission: Mission) -> Decision:
        """Returns what to change after a mission. Policies are from 1 to `mission.size_ratio`."""
        ...


def changed(mission: Mission, wanted: Mapping[int, int]) -> dict[int, int]:
    """Returns those of the wanted policies that the mission's levels do not have yet."""
    return {
        number: policy
        for number, policy in wanted.items()
        if number > len(mission.levels) or mission.levels[number - 1].policy != policy
    }
