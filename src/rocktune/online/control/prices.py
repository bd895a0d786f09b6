"""What clients pay for what levels do: runs that are read, bytes that are merged."""

from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass

import numpy as np
from scipy.stats import theilslopes

from rocktune.online.control.mission import LevelMission, Mission, Served


@dataclass(frozen=True)
class Prices:
    """What clients pay, in a workload and on a device.

    A compaction takes seconds of its own that no client waits for, and makes clients wait elsewhere: in their
    reads, and for memory to write to. So everything counts as what it takes while nothing is merged, and what
    it takes longer while something is, is the merging's, in proportion to its bytes.

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
        quiet, merging = (
            _together(mission.quiet for mission in missions),
            _together(mission.merging for mission in missions),
        )
        if not quiet.operations:
            # Something was merged all the time: least in the quickest mission.
            quiet = min(missions, key=lambda mission: mission.latency_s).merging
        # A few quiet reads may be slow by chance, but a merge makes none quicker.
        read_s = min((each.read_s / each.passed for each in (quiet, merging) if each.passed), default=0.0)
        scan_s = _scan_s(missions, read_s)
        undisturbed = cls(read_s, scan_s, 0.0)
        other_s = undisturbed._rest_s(quiet) / quiet.operations if quiet.operations else 0.0
        waited_s = undisturbed._rest_s(merging) - other_s * merging.operations
        merged = sum(level.compaction_bytes for mission in missions for level in mission.levels)
        return cls(read_s, scan_s, max(0.0, waited_s / merged) if merged else 0.0)

    def reads_s(self, mission: Mission, level: LevelMission) -> float:
        """Returns what a level's reads cost, an operation."""
        return self._of_lookups_and_scans(mission, level.read_s, level.scanned)

    def false_positive_read_s(self, mission: Mission, level: LevelMission) -> float:
        """Returns what of that runs cost that did not have the key, and those that scans went through."""
        return self._of_lookups_and_scans(mission, level.false_positive_read_s, level.scanned)

    def merges_s(self, mission: Mission, level: LevelMission) -> float:
        """Returns what a level's merges cost, an operation."""
        return self.byte_s * level.compaction_bytes / mission.operations

    def _of_lookups_and_scans(self, mission: Mission, lookups_s: float, scanned: float) -> float:
        passed = sum(level.passed for level in mission.levels)
        in_reads_s = sum(level.read_s for level in mission.levels)
        share = min(1.0, self.read_s * passed / in_reads_s) if passed and in_reads_s else 1.0
        return (share * lookups_s + self.scan_s * scanned) / mission.operations

    def _rest_s(self, served: Served) -> float:
        """Returns what operations took beyond the runs that they read."""
        return served.busy_s - self.read_s * served.passed - self.scan_s * served.scanned


def _together(parts: Iterable[Served]) -> Served:
    return Served(*(float(sum(column)) for column in zip(*map(astuple, parts), strict=True)))


def _scan_s(missions: Sequence[Mission], read_s: float) -> float:
    """Returns by how much an operation takes longer with each run that it scans.

    The median of the slopes between missions: a merge of deep levels makes one take many times as long.
    """
    scanned = [_an_operation(mission, [level.scanned for level in mission.levels]) for mission in missions]
    if len(set(scanned)) < 2:
        return 0.0
    rest_s = [
        mission.latency_s - read_s * _an_operation(mission, [level.passed for level in mission.levels])
        for mission in missions
    ]
    return max(0.0, float(theilslopes(np.array(rest_s), scanned).slope))


def _an_operation(mission: Mission, of_levels: Sequence[float]) -> float:
    return sum(of_levels) / mission.operations
