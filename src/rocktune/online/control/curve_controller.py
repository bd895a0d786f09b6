"""A controller that takes the minimum of each learned level's cost curve, without an agent."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rocktune.online.control.curve import Tried, cheapest_policy
from rocktune.online.control.levelwise import Levelwise, learned_levels
from rocktune.online.control.mission import Mission
from rocktune.online.control.passes import Passes
from rocktune.online.control.prices import Prices
from rocktune.online.flsm.layout import Filters


@dataclass
class CurvePursuit:
    """The state of the search for the policy of one workload.

    Attributes:
        passes: passes over all K.
        seen: missions so far.
    """

    passes: Passes
    seen: list[Mission] = field(default_factory=list)


class LevelCurve:
    """The cost curve of one level; a `LevelLearner`."""

    def __init__(self, level: int, passes: int) -> None:
        """Creates a learner that has seen nothing.

        Args:
            level: level to learn, from 1.
            passes: number of passes over all K before the minimum is taken, at least 1.
        """
        self.level = level
        self._passes = passes
        self.restart()

    def restart(self, pursuit: CurvePursuit | None = None) -> None:
        """Starts the search for another workload, or continues one.

        Args:
            pursuit: state of the search to continue; None starts a new one.
        """
        self.pursuit = pursuit or CurvePursuit(Passes.begun(self._passes))

    def learn(self, mission: Mission) -> int:
        """Notes the costs of a mission and returns the K for the next one."""
        at = self.pursuit
        at.seen.append(mission)
        policy = mission.levels[self.level - 1].policy
        return policy + (at.passes.step(policy, mission.size_ratio) or 0)

    def settled(self) -> int | None:
        """Returns the K at the minimum of the cost curve, None before the passes are done.

        Without a curve, because the store refused every other policy, it is the present K.
        """
        at = self.pursuit
        if not at.passes.done:
            return None
        prices, last = Prices.of(at.seen), at.seen[-1]
        best = cheapest_policy([self._tried(seen, prices) for seen in at.seen], last.size_ratio)
        return best or last.levels[self.level - 1].policy

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Returns nothing: a search lasts few missions and begins again when the store is opened."""
        return {}

    def restore(self, arrays: Mapping[str, NDArray[np.generic]]) -> None:
        """Restores nothing."""

    def _tried(self, seen: Mission, prices: Prices) -> Tried:
        """Returns the level's cost in a mission."""
        level = seen.levels[self.level - 1]
        return Tried(
            level.policy, level.runs, prices.false_positive_read_s(seen, level), prices.merges_s(seen, level)
        )


class Curve(Levelwise):
    """A controller that settles where equation 5, fitted to the store's own costs, has its minimum."""

    def __init__(self, filters: Filters, passes: int = 1) -> None:
        """Creates a controller that has learned nothing.

        Args:
            filters: filter scheme of the store, which decides how policies propagate (section 5.2).
            passes: number of passes over all K before the minimum is taken, at least 1.
        """
        levels = range(1, learned_levels(filters) + 1)
        super().__init__("curve", [LevelCurve(level, passes) for level in levels])
