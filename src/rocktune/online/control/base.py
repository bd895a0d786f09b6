"""The interface of controllers, which decide about a store's policies while it serves."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from rocktune.online.control.mission import Mission


@dataclass(frozen=True)
class Decision:
    """The policy changes that a controller makes after a mission.

    Attributes:
        policies: new K by level, from 1; other levels keep theirs.
        why: reason for the decision log, in a sentence; "" if nothing changes.
        phase: the controller's phase in a word or two, such as "level 1" or "converged".
        converged: whether the controller has settled on policies for the present workload.
    """

    policies: Mapping[int, int] = field(default_factory=dict)
    why: str = ""
    phase: str = ""
    converged: bool = True


class Controller(Protocol):
    """A controller decides after each mission about the next. Not thread-safe."""

    def decide(self, mission: Mission) -> Decision:
        """Returns the policy changes after a mission; each K is from 1 to `mission.size_ratio`."""
        ...


def changed(mission: Mission, wanted: Mapping[int, int]) -> dict[int, int]:
    """Returns the wanted policies that differ from the mission's; levels that do not exist yet are kept."""
    return {
        number: policy
        for number, policy in wanted.items()
        if number > len(mission.levels) or mission.levels[number - 1].policy != policy
    }
