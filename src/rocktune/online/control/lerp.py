"""Lerp, RusKey's tuning model: level-based reinforcement learning with policy propagation (section 5)."""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

from rocktune.lsm.propagation import propagated_policies
from rocktune.online.control.base import Decision, changed
from rocktune.online.control.learner import LearnerSettings, LearningDivergedError, LevelLearner, Pursuit
from rocktune.online.control.mission import Mission
from rocktune.online.flsm.layout import Filters

_MAX_LEFT = 20
"""Workloads that are remembered although they were left before anything was settled."""


@dataclass(frozen=True)
class LerpSettings:
    """Hyper-parameters.

    Attributes:
        learned_levels: how many levels learn, one after the other; by default what propagation needs, the
            first under uniform filters, the first two under Monkey's.
        shift: by how much the share of reads, or of scans, has to differ from what it was for it to be
            another workload.
        alike: within how much of each other workloads count as the same when one comes back.
        learner: of each level's learner.
    """

    learned_levels: int | None = None
    shift: float = 0.1
    alike: float = 0.05
    learner: LearnerSettings = field(default_factory=LearnerSettings)


@dataclass(frozen=True)
class Learned:
    """What was found best for a workload.

    Attributes:
        read_share: of operations, those that read.
        scan_share: those that scan.
        policies: of the levels that learned.
    """

    read_share: float
    scan_share: float
    policies: tuple[int, ...]


@dataclass
class _Workload:
    """What is known of the workload that there is.

    Attributes:
        read_share: mean of its missions.
        scan_share: likewise.
        missions: seen of it.
        odd: of the last ones, those in a row that looked like another workload.
        found: policies of the levels that have learned, from the first.
        settled: those that all levels follow from, once they are found.
        pursuits: how far each learner had come when another workload began.
    """

    read_share: float
    scan_share: float
    missions: int = 0
    odd: int = 0
    found: list[int] = field(default_factory=list)
    settled: tuple[int, ...] | None = None
    pursuits: list[Pursuit] = field(default_factory=list)

    def add(self, read_share: float, scan_share: float) -> None:
        """Takes a mission in; the last twenty count most."""
        self.missions += 1
        weight = 1 / min(20, self.missions)
        self.read_share += weight * (read_share - self.read_share)
        self.scan_share += weight * (scan_share - self.scan_share)

    def distance(self, read_share: float, scan_share: float) -> float:
        """Returns by how much shares differ from its own, the larger of both."""
        return max(abs(self.read_share - read_share), abs(self.scan_share - scan_share))


class Lerp:
    """Learns the first levels' policies, lets the others follow, and begins anew with another workload.

    See `Controller`. What it has settled on for a workload it takes up at once when that comes back; where it
    had not settled yet, it goes on.
    """

    def __init__(self, filters: Filters, settings: LerpSettings | None = None, seed: int = 1) -> None:
        """Makes one that has learned nothing.

        Args:
            filters: of the store, on which depends how policies propagate.
            settings: hyper-parameters.
            seed: decides networks and exploration.
        """
        self.settings = settings or LerpSettings()
        count = self.settings.learned_levels or (2 if filters == "monkey" else 1)
        self.learners = [
            LevelLearner(level, self.settings.learner, seed + level) for level in range(1, count + 1)
        ]
        self.known: list[Learned] = []
        self._workload: _Workload | None = None
        self._left: deque[_Workload] = deque(maxlen=_MAX_LEFT)

    def decide(self, mission: Mission) -> Decision:
        """See `Controller.decide`."""
        shares = mission.read_share, mission.scans / mission.operations
        shifted = self._workload is not None and self._has_shifted(self._workload, *shares)
        if self._workload is None or shifted:
            self._workload = self._begun(*shares)
            if self._workload.settled is not None:
                policies = self._propagated(mission, self._workload.settled)
                why = f"a workload that is known: {_text(policies)}"
                return Decision(changed(mission, policies), why, "converged")
        workload = self._workload
        if workload.odd:
            # Perhaps another's first mission, which says nothing of this one.
            return Decision(phase=self._phase(workload), converged=workload.settled is not None)
        workload.add(*shares)
        if workload.settled is not None:
            # Levels that have come since get theirs now.
            return Decision(changed(mission, self._propagated(mission, workload.settled)), "", "converged")
        return self._learned(mission, workload, "another workload; " if shifted else "")

    def _begun(self, read_share: float, scan_share: float) -> _Workload:
        """Returns a workload that begins or goes on, with its policies if it is known."""
        if self._workload is not None and self._workload.settled is None:
            self._workload.pursuits = [learner.pursuit for learner in self.learners]
            self._left.append(self._workload)
        begun = self._taken_up(read_share, scan_share)
        for learner, pursuit in zip_longest(self.learners, begun.pursuits):
            learner.restart(pursuit)
        for known in reversed(self.known):
            if begun.distance(known.read_share, known.scan_share) <= self.settings.alike:
                begun.settled = known.policies
                break
        return begun

    def _taken_up(self, read_share: float, scan_share: float) -> _Workload:
        """Returns a workload that was left before it had settled, or a new one."""
        for left in self._left:
            if left.distance(read_share, scan_share) <= self.settings.alike:
                self._left.remove(left)
                left.odd = 0
                return left
        return _Workload(read_share, scan_share)

    def _has_shifted(self, workload: _Workload, read_share: float, scan_share: float) -> bool:
        """Two missions in a row, so that the one in which the workload changes is not taken for a third."""
        differs = workload.distance(read_share, scan_share) > self.settings.shift
        workload.odd = workload.odd + 1 if differs else 0
        return workload.odd >= 2

    def _learned(self, mission: Mission, workload: _Workload, why: str) -> Decision:
        learner, phase = self.learners[len(workload.found)], self._phase(workload)
        if learner.level > len(mission.levels):
            return Decision({}, "", f"waiting for {phase}", converged=False)
        try:
            policy = learner.learn(mission)
        except LearningDivergedError as diverged:
            learner.forget()
            return Decision({}, f"{diverged}; it begins anew", phase, converged=False)
        settled = learner.settled()
        if settled is None:
            # A workload that goes on has found what levels above it need, and the store may not have it now.
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
        return "converged" if workload.settled else f"level {self.learners[len(workload.found)].level}"

    def _propagated(self, mission: Mission, learned: Sequence[int]) -> dict[int, int]:
        policies = propagated_policies(learned, len(mission.levels), mission.size_ratio)
        return dict(enumerate(policies, 1))


def _text(policies: Mapping[int, int]) -> str:
    return "K = " + ", ".join(map(str, policies.values()))
