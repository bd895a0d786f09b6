"""Baseline controllers: fixed policies, and thresholds on each level's share of lookups."""

from dataclasses import dataclass

from rocktune.errors import UserError
from rocktune.online.control.base import Decision
from rocktune.online.control.mission import LevelMission, Mission


class Static:
    """A controller that never changes a policy."""

    def decide(self, mission: Mission) -> Decision:  # noqa: ARG002 - the interface's
        """Returns a decision without changes."""
        return Decision(phase="static")


@dataclass(frozen=True)
class Greedy:
    """A controller that moves each K by one towards cheaper reads or writes (RusKey, section 7, figure 12).

    Attributes:
        low: share of lookups below which a level gets one more run, from 0 to 1.
        high: share of lookups above which a level gets one run fewer, from `low` to 1.

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
        """Returns a step of each level's K by the share of reads among the operations of the level."""
        policies = {}
        shares = [read_share_of(level, mission) for level in mission.levels]
        for number, (level, share) in enumerate(zip(mission.levels, shares, strict=True), 1):
            step = 1 if share < self.low else -1 if share > self.high else 0
            policy = min(mission.size_ratio, max(1, level.policy + step))
            if policy != level.policy:
                policies[number] = policy
        why = f"reads by level: {', '.join(f'{share:.0%}' for share in shares)}" if policies else ""
        return Decision(policies, why, "greedy", converged=not policies)


def read_share_of(level: LevelMission, mission: Mission) -> float:
    """Returns the share of reads among the operations of a level, from 0 to 1: the detector of figure 12.

    A lookup belongs to a level if no newer level answers it; a scan belongs to every level. A write belongs
    to every level too, because each entry reaches every level in time. It counts in its own mission: a deep
    level gets its entries in pushes, thousands of missions' writes at once, and would seem read-only between
    them.
    """
    reads = level.reached + mission.scans
    return reads / max(1.0, reads + mission.writes)
