"""Learning level by level: the workload, the level that learns, and propagation (RusKey, section 5.2)."""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rocktune.lsm.propagation import propagated_policies
from rocktune.online.control.base import Decision, changed
from rocktune.online.control.mission import Mission
from rocktune.online.flsm.layout import Filters

_MAX_LEFT = 20
"""Number of unsettled workloads whose search is kept, to be continued when they come back."""
_SHIFT = 0.1
"""Change in the share of reads or of scans that makes another workload."""
_ALIKE = 0.05
"""Largest difference between shares of workloads that count as the same."""


class LearningDivergedError(ArithmeticError):
    """Raised when weights have become infinite or NaN; the learner has begun again."""

    def __init__(self, level: int) -> None:
        super().__init__(f"learning of level {level} has diverged")


class LevelLearner(Protocol):
    """A learner that finds the policy of one level for the present workload.

    Attributes:
        level: its level, from 1.
        pursuit: state of its search, which `restart` can continue.
    """

    level: int
    pursuit: Any

    def learn(self, mission: Mission) -> int:
        """Learns from a mission and returns the K for the next one.

        Raises:
            LearningDivergedError: what was learned is useless.
        """
        ...

    def settled(self) -> int | None:
        """Returns the K that the level has settled on, None before that."""
        ...

    def restart(self, pursuit: Any = None) -> None:
        """Starts the search for another workload, or continues one."""
        ...

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Returns what is worth keeping in a file, by name."""
        ...

    def restore(self, arrays: Mapping[str, NDArray[np.generic]]) -> None:
        """Restores what `arrays` returned.

        Raises:
            ValueError: the arrays are not those of such a learner; it is unchanged.
        """
        ...


@dataclass(frozen=True)
class Learned:
    """The best policies found for a workload.

    Attributes:
        read_share: share of operations that read, scans included.
        scan_share: share of operations that scan.
        policies: K of the levels that learned, from level 1.
    """

    read_share: float
    scan_share: float
    policies: tuple[int, ...]


@dataclass
class _Workload:
    """The present workload and what was found for it.

    Attributes:
        read_share: mean share of reads of its missions.
        scan_share: mean share of scans of its missions.
        missions: number of its missions.
        odd: number of consecutive last missions that looked like another workload.
        found: K of the levels that have settled, from level 1.
        settled: K of all learned levels once they have settled; else None.
        pursuits: state of each learner's search when another workload began.
    """

    read_share: float
    scan_share: float
    missions: int = 0
    odd: int = 0
    found: list[int] = field(default_factory=list)
    settled: tuple[int, ...] | None = None
    pursuits: list[Any] = field(default_factory=list)

    def add(self, read_share: float, scan_share: float) -> None:
        """Adds a mission's shares to the means; the weight of the last twenty missions is the largest."""
        self.missions += 1
        weight = 1 / min(20, self.missions)
        self.read_share += weight * (read_share - self.read_share)
        self.scan_share += weight * (scan_share - self.scan_share)

    def distance(self, read_share: float, scan_share: float) -> float:
        """Returns the larger difference between the given shares and its own."""
        return max(abs(self.read_share - read_share), abs(self.scan_share - scan_share))


class Levelwise:
    """A controller that learns the first levels' policies and propagates them to the other levels.

    It starts again with each new workload. For a known workload it restores the settled policies at once. A
    workload that was left unsettled continues where it was.
    """

    def __init__(self, name: str, learners: Sequence[LevelLearner]) -> None:
        """Creates a controller that has learned nothing.

        Args:
            name: the name that users give.
            learners: one for each level that learns, from level 1.
        """
        self.name = name
        self.learners = learners
        self.known: list[Learned] = []
        self._workload: _Workload | None = None
        self._left: deque[_Workload] = deque(maxlen=_MAX_LEFT)

    def decide(self, mission: Mission) -> Decision:
        """Returns the policy changes after a mission; see `Controller.decide`."""
        shares = mission.read_share, mission.scans / mission.operations
        shifted = self._workload is not None and self._has_shifted(self._workload, *shares)
        if self._workload is None or shifted:
            self._workload = self._begun(*shares)
            if self._workload.settled is not None:
                policies = self._propagated(mission, self._workload.settled)
                why = f"known workload: {_text(policies)}"
                return Decision(changed(mission, policies), why, "converged")
        workload = self._workload
        if workload.odd:
            # Perhaps the first mission of another workload, which must not be learned from.
            return Decision(phase=self._phase(workload), converged=workload.settled is not None)
        workload.add(*shares)
        if workload.settled is not None:
            # The tree may have grown since; new levels get their propagated K now.
            return Decision(changed(mission, self._propagated(mission, workload.settled)), "", "converged")
        return self._learned(mission, workload, "new workload; " if shifted else "")

    def _begun(self, read_share: float, scan_share: float) -> _Workload:
        """Returns the workload that begins, with its policies if it is known, and restarts the learners."""
        if self._workload is not None and self._workload.settled is None:
            self._workload.pursuits = [learner.pursuit for learner in self.learners]
            self._left.append(self._workload)
        begun = self._taken_up(read_share, scan_share)
        for learner, pursuit in zip_longest(self.learners, begun.pursuits):
            learner.restart(pursuit)
        # Newest first: the same workload may have settled before the store grew.
        for known in reversed(self.known):
            if begun.distance(known.read_share, known.scan_share) <= _ALIKE:
                begun.settled = known.policies
                break
        return begun

    def _taken_up(self, read_share: float, scan_share: float) -> _Workload:
        """Returns a workload of these shares that was left unsettled, or a new one."""
        for left in self._left:
            if left.distance(read_share, scan_share) <= _ALIKE:
                self._left.remove(left)
                left.odd = 0
                return left
        return _Workload(read_share, scan_share)

    def _has_shifted(self, workload: _Workload, read_share: float, scan_share: float) -> bool:
        """Returns whether two missions in a row differ from the workload.

        One is not enough: the mission in which the workload changes has shares between both, and would be
        taken for a third workload.
        """
        differs = workload.distance(read_share, scan_share) > _SHIFT
        workload.odd = workload.odd + 1 if differs else 0
        return workload.odd >= 2

    def _learned(self, mission: Mission, workload: _Workload, why: str) -> Decision:
        """Returns the decision of the level that learns; once it settles, the next level learns."""
        # Levels learn one after the other: a change of policy above would disturb the costs below (section
        # 5.2).
        learner, phase = self.learners[len(workload.found)], self._phase(workload)
        # The tree is still too shallow to have the level.
        if learner.level > len(mission.levels):
            return Decision({}, "", f"waiting for {phase}", converged=False)
        try:
            policy = learner.learn(mission)
        except LearningDivergedError as diverged:
            return Decision({}, f"{diverged}; it starts again", phase, converged=False)
        settled = learner.settled()
        if settled is None:
            # After another workload the store may have other policies at the levels above, which this one has
            # settled.
            found = dict(enumerate(workload.found, 1))
            wanted = changed(mission, found | {learner.level: policy})
            return Decision(wanted, f"{why}learning {phase}" if wanted else "", phase, converged=False)
        workload.found.append(settled)
        if len(workload.found) < len(self.learners):
            wanted = changed(mission, {learner.level: settled})
            return Decision(wanted, f"{phase} has settled on {settled}", phase, converged=False)
        workload.settled = tuple(workload.found)
        self.known.append(Learned(workload.read_share, workload.scan_share, workload.settled))
        policies = self._propagated(mission, workload.settled)
        return Decision(changed(mission, policies), f"converged: {_text(policies)}", "converged")

    def _phase(self, workload: _Workload) -> str:
        """Returns the phase for the decision log: "converged", or the level that is learning."""
        return "converged" if workload.settled else f"level {self.learners[len(workload.found)].level}"

    def _propagated(self, mission: Mission, learned: Sequence[int]) -> dict[int, int]:
        """Returns K by level, propagated from the learned levels to all levels in use (lemma 5.1)."""
        policies = propagated_policies(learned, len(mission.levels), mission.size_ratio)
        return dict(enumerate(policies, 1))


def learned_levels(filters: Filters) -> int:
    """Returns how many levels must learn for propagation (section 5.2): 1 with uniform filters, else 2."""
    return 2 if filters == "monkey" else 1


def _text(policies: Mapping[int, int]) -> str:
    """Returns policies as text: "K = 5, 3, 1"."""
    return "K = " + ", ".join(map(str, policies.values()))
