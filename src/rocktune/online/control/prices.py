"""The prices that clients pay for a level's work: for each run read and for each byte merged."""

from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass

import numpy as np
from scipy.stats import theilslopes

from rocktune.online.control.mission import LevelMission, Mission, Served


@dataclass(frozen=True)
class Prices:
    """The prices of reads and merges in one workload on one device, in seconds of clients' time.

    Clients do not wait for compactions directly; compactions slow their reads and delay their writes. We
    measure the cost of operations while no merge runs, and charge the extra cost during merges to those
    merges, in proportion to bytes moved.

    Attributes:
        read_s: seconds of a run that a lookup reads while no merge runs.
        scan_s: seconds of a run that a scan passes through.
        byte_s: seconds that clients wait for each byte that compactions read or write.
    """

    read_s: float
    scan_s: float
    byte_s: float

    @classmethod
    def of(cls, missions: Sequence[Mission]) -> "Prices":
        """Returns the prices of a workload from its missions, at least one, in any order."""
        quiet, merging = (
            _together(mission.quiet for mission in missions),
            _together(mission.merging for mission in missions),
        )
        if not quiet.operations:
            # Merges ran all the time. The quickest mission was disturbed least.
            quiet = min(missions, key=lambda mission: mission.latency_s).merging
        # Few quiet reads may be slow by chance. A merge never makes reads quicker, so the smaller one is
        # closer.
        read_s = min((each.read_s / each.passed for each in (quiet, merging) if each.passed), default=0.0)
        scan_s = _scan_s(missions, read_s)
        undisturbed = cls(read_s, scan_s, 0.0)
        other_s = undisturbed._rest_s(quiet) / quiet.operations if quiet.operations else 0.0
        # What the same number of operations would have taken without merges is not the merges' fault.
        waited_s = undisturbed._rest_s(merging) - other_s * merging.operations
        merged = sum(level.compaction_bytes for mission in missions for level in mission.levels)
        return cls(read_s, scan_s, max(0.0, waited_s / merged) if merged else 0.0)

    def reads_s(self, mission: Mission, level: LevelMission) -> float:
        """Returns the cost of a level's reads in seconds per operation."""
        return self._of_lookups_and_scans(mission, level.read_s, level.scanned)

    def false_positive_read_s(self, mission: Mission, level: LevelMission) -> float:
        """Returns the cost of reading the level's runs without the key, in seconds per operation.

        Runs that scans pass through count fully, since a scan reads every run.
        """
        return self._of_lookups_and_scans(mission, level.false_positive_read_s, level.scanned)

    def merges_s(self, mission: Mission, level: LevelMission) -> float:
        """Returns the cost of merges into a level in seconds per operation."""
        return self.byte_s * level.compaction_bytes / mission.operations

    def _of_lookups_and_scans(self, mission: Mission, lookups_s: float, scanned: float) -> float:
        """Returns the undisturbed cost of lookups and scans in seconds per operation."""
        passed = sum(level.passed for level in mission.levels)
        in_reads_s = sum(level.read_s for level in mission.levels)
        # Reads during merges took longer; the excess is charged to the merges' bytes and must not be counted
        # twice.
        share = min(1.0, self.read_s * passed / in_reads_s) if passed and in_reads_s else 1.0
        return (share * lookups_s + self.scan_s * scanned) / mission.operations

    def _rest_s(self, served: Served) -> float:
        """Returns the seconds of operations without the runs that they read."""
        return served.busy_s - self.read_s * served.passed - self.scan_s * served.scanned


def _together(parts: Iterable[Served]) -> Served:
    """Returns the field-wise sums over the operations of several missions."""
    return Served(*(float(sum(column)) for column in zip(*map(astuple, parts), strict=True)))


def _scan_s(missions: Sequence[Mission], read_s: float) -> float:
    """Returns the additional seconds of an operation for each run that it scans.

    It is the median of the slopes between missions (Theil-Sen), because a merge of deep levels makes a few
    missions many times as long.
    """
    scanned = [_an_operation(mission, [level.scanned for level in mission.levels]) for mission in missions]
    # A slope needs two different numbers of runs.
    if len(set(scanned)) < 2:
        return 0.0
    rest_s = [
        mission.latency_s - read_s * _an_operation(mission, [level.passed for level in mission.levels])
        for mission in missions
    ]
    return max(0.0, float(theilslopes(np.array(rest_s), scanned).slope))


def _an_operation(mission: Mission, of_levels: Sequence[float]) -> float:
    """Returns the sum over levels, per operation of the mission."""
    return sum(of_levels) / mission.operations
