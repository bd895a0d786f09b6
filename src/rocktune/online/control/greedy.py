"""Baselines: policies that never change, and thresholds on what a level is asked for."""

from dataclasses import dataclass

from rocktune.errors import UserError
from rocktune.online.control.base import Decision
from rocktune.online.control.mission import Mission


class Static:
    """Leaves policies as they are. See `Controller`."""

    def decide(self, mission: Mission) -> Decision:  # noqa: ARG002 - the interface's
        """See `Controller.decide`."""
        return Decision(phase="static")


@dataclass(frozen=True)
class Greedy:
    """Goes one step at a time to where reads or writes are cheaper (RusKey, section 7, figure 12).

    Attributes:
        low: a level whose share of lookups is below it gets one run more.
        high: one whose share is above it gets one run less.

    Raises:
        UserError: the thresholds are no shares, or the wrong way round.
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        """Refuses what makes no sense."""
        if not 0 <= self.low <= self.high <= 1:
            raise UserError(f"greedy: {self.low:g},{self.high:g} are not two shares from 0 to 1, in order")

    def decide(self, mission: Mission) -> Decision:
        """See `Controller.decide`.

        What a level is asked for is what the store is asked for: every lookup that is not answered above
        goes through it, and every entry comes to it in the end.
        """
        share = mission.read_share
        step = 1 if share < self.low else -1 if share > self.high else 0
        policies = {}
        for number, level in enumerate(mission.levels, 1):
            policy = min(mission.size_ratio, max(1, level.policy + step))
            if policy != level.policy:
                policies[number] = policy
        why = f"{share:.0%} of operations read" if policies else ""
        return Decision(policies, why, "greedy", converged=not policies)
