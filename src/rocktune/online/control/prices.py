"""What clients pay for what levels do: runs that are read, bytes that are merged."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm, theilslopes

from rocktune.online.control.mission import LevelMission, Mission

_UNDISTURBED = 0.1
"""The quantile of missions that says what something takes while nothing else holds it up."""
_DEVIATIONS = float(norm.ppf(1 - _UNDISTURBED))
"""Between that and the median, of what is normally distributed."""


@dataclass(frozen=True)
class Prices:
    """What clients pay, in a workload and on a device.

    A compaction takes seconds of its own that no client waits for, and makes clients wait elsewhere: in their
    reads, and for memory to write to. So reads count as what they take undisturbed, and what clients waited
    beyond that is the merging's, in proportion to its bytes.

    Attributes:
        read_s: a run that a lookup reads, undisturbed.
        scan_s: a run that a scan goes through.
        byte_s: a byte that compactions read or write.
    """

    read_s: float
    scan_s: float
    byte_s: float

    @classmethod
    def of(cls, missions: Sequence[Mission]) -> "Prices":
        """Returns the prices of a workload, from its missions in any order, at least one."""
        passed = np.array([_passed(mission) for mission in missions])
        in_reads_s = np.array([_in_reads_s(mission) for mission in missions])
        chance_s = np.array([_chance_s(mission) for mission in missions])
        reading = passed > 0
        read_s = (
            _undisturbed(in_reads_s[reading] / passed[reading], chance_s[reading] / passed[reading])
            if reading.any()
            else 0.0
        )
        operations = np.array([mission.operations for mission in missions], float)
        busy_s = np.array([mission.busy_s for mission in missions])
        rest_s = (busy_s - np.where(reading, read_s * passed, in_reads_s)) / operations
        scan_s = _slope(missions, rest_s)
        rest_s -= scan_s * np.array([_scanned(mission) for mission in missions])
        waited_s = float((rest_s - _undisturbed(rest_s, chance_s / operations)) @ operations)
        merged = sum(level.compaction_bytes for mission in missions for level in mission.levels)
        return cls(read_s, scan_s, max(0.0, waited_s / merged) if merged else 0.0)

    def reads_s(self, mission: Mission, level: LevelMission) -> float:
        """Returns what a level's reads cost, an operation."""
        return self._of_lookups_and_scans(mission, level.read_s, level.scanned)

    def vain_s(self, mission: Mission, level: LevelMission) -> float:
        """Returns what of that runs cost that did not have the key, and those that scans went through."""
        return self._of_lookups_and_scans(mission, level.vain_s, level.scanned)

    def _of_lookups_and_scans(self, mission: Mission, lookups_s: float, scanned: float) -> float:
        passed, in_reads_s = _passed(mission), _in_reads_s(mission)
        share = min(1.0, self.read_s * passed / in_reads_s) if passed and in_reads_s else 1.0
        return (share * lookups_s + self.scan_s * scanned) / mission.operations

    def merges_s(self, mission: Mission, level: LevelMission) -> float:
        """Returns what a level's merges cost, an operation."""
        return self.byte_s * level.compaction_bytes / mission.operations


def _passed(mission: Mission) -> float:
    return sum(level.passed for level in mission.levels)


def _in_reads_s(mission: Mission) -> float:
    return sum(level.read_s for level in mission.levels)


def _chance_s(mission: Mission) -> float:
    """Returns the standard error of what a mission's lookups spent in tables, given how many runs they read.

    It is estimated from those that were looked at, as if the runs that one of them read had nothing to do
    with each other.
    """
    passed, in_reads_s = _passed(mission), _in_reads_s(mission)
    if not passed or not mission.sampled:
        return 0.0
    squares_s2 = sum(level.read_s2 for level in mission.levels)
    return math.sqrt(max(0.0, squares_s2 - in_reads_s**2 / passed) * mission.lookups / mission.sampled)


def _undisturbed(taken_s: np.ndarray, chance_s: np.ndarray) -> float:
    """Returns what something takes while nothing else holds it up: what it does in the quickest missions.

    A mission of few lookups is also quick by chance. So chance's variance is taken out of that which the
    quicker half of missions has.

    Args:
        taken_s: in each mission.
        chance_s: its standard error.
    """
    quick, middle = np.quantile(taken_s, [_UNDISTURBED, 0.5])
    deviation = (middle - quick) / _DEVIATIONS
    if deviation <= 0:
        return float(middle)
    by_chance = float(np.median(chance_s)) / deviation
    return float(middle - math.sqrt(max(0.0, 1 - by_chance**2)) * (middle - quick))


def _scanned(mission: Mission) -> float:
    return sum(level.scanned for level in mission.levels) / mission.operations


def _slope(missions: Sequence[Mission], rest_s: np.ndarray) -> float:
    """Returns by how much an operation takes longer with each run that it scans.

    The median of the slopes between missions: a merge of deep levels makes one take many times as long.
    """
    scanned = [_scanned(mission) for mission in missions]
    return max(0.0, float(theilslopes(rest_s, scanned).slope)) if len(set(scanned)) > 1 else 0.0
