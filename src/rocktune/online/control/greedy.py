"""Baseline controllers: fixed policies, and thresholds on the share of lookups."""

from dataclasses import dataclass

from rocktune.errors import UserError
from rocktune.online.control.base import Decision
from rocktune.online.control.mission import Mission


class Static:
    """A controller that never changes a policy."""

    def decide(self, mission: Mission) -> Decision:  # noqa: ARG002 - the interface's
        """Returns a decision without changes."""
        return Decision(phase="static")


@dataclass(frozen=True)
class Greedy:
    """A controller that moves each K by one towards cheaper reads or writes (RusKey, section 7, figure 12).

    Attributes:
        low: share of lookups below which each level gets one more run, from 0 to 1.
        high: share of lookups above which each level gets one run fewer, from `low` to 1.

    Raises:
        UserError: the thresholds are not shares, or not in order.
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        """Checks the thresholds."""
        if not 0 <= self.low <= self.high <= 1:
            raise UserError(
                f"greedy: {self.low:g},{self.high:g} must be shares from 0 to 1, the lower one first"
            )

    def decide(self, mission: Mission) -> Decision:
        """Returns a step of each level's K by the mission's share of reads.

        The store's share stands for every level's: each entry reaches every level in time, and so does each
        lookup that the levels above do not answer.
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
