"""Counted work of sessions on a store, and its price in seconds of a device and of a processor."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.optimize import nnls

from benchmarks.ruskey.shared import Served, by_session, settled
from rocktune.device import DeviceSpec
from rocktune.online import DrivenMission
from rocktune.online.modelled import StoreCosts

CAUSES = ("wal", "flush", "compaction_read", "compaction_write", "user_read", "other")
"""Causes of I/O, in the order of the counts."""
MERGES = ("compaction_read", "compaction_write")


@dataclass(frozen=True)
class SessionWork:
    """The counted work of one session of a drive.

    Attributes:
        seed: seed of the turn.
        drive: name of the drive.
        session: index of the session, from 0.
        operations: number of operations.
        lookups: number of lookups; 0 but for an FLSM store, as all up to `moved_bytes`.
        writes: number of entries written.
        passed: runs that lookups read.
        moved_bytes: bytes that merges read and wrote.
        device_bytes: bytes that the device read and wrote, by `CAUSES`.
        device_operations: operations of the device, by `CAUSES`.
        cpu_s: CPU seconds of the store's process, the load's thread included.
        memory_bytes: mean of memtables, block cache and table readers at the ends of missions.
        settled_after: missions until the controller had settled.
        policies: K of each level at the end.
    """

    seed: int
    drive: str
    session: int
    operations: int
    lookups: int
    writes: int
    passed: int
    moved_bytes: int
    device_bytes: tuple[int, ...]
    device_operations: tuple[int, ...]
    cpu_s: float
    memory_bytes: int
    settled_after: int
    policies: tuple[int, ...]

    @classmethod
    def of(cls, seed: int, drive: str, session: int, missions: Sequence[DrivenMission]) -> Self:
        """Returns the work of the missions of a session on a store."""
        work = [mission.work for mission in missions if mission.work is not None]
        seen = [mission.statistics for mission in missions if mission.statistics is not None]
        levels = [level for each in seen for level in each.levels]
        served = [Served.of(mission) for mission in missions]
        return cls(
            seed=seed,
            drive=drive,
            session=session,
            operations=sum(each.operations for each in work),
            lookups=sum(each.lookups for each in seen),
            writes=sum(each.writes for each in seen),
            passed=round(sum(level.passed for level in levels)),
            moved_bytes=round(sum(level.compaction_bytes for level in levels)),
            device_bytes=tuple(sum(each.device_bytes[cause] for each in work) for cause in CAUSES),
            device_operations=tuple(sum(each.device_operations[cause] for each in work) for cause in CAUSES),
            cpu_s=round(sum(each.cpu_s for each in work), 4),
            memory_bytes=round(sum(each.memory_bytes for each in work) / len(work)),
            settled_after=len(served) - len(settled(served)),
            policies=served[-1].policies,
        )

    def device_s(self, device: DeviceSpec) -> float:
        """Returns the seconds for which the session's I/O occupies a device, one I/O after the other."""
        return sum(self._device_s(device, cause) for cause in CAUSES)

    def cost_s(self, device: DeviceSpec) -> float:
        """Returns the seconds of the device plus those of a processor, for a million operations.

        A mission may have more operations than were asked for, and has so on a busy machine.
        """
        return self.device_cost_s(device) + self.cpu_s / self.operations * 1e6

    def device_cost_s(self, device: DeviceSpec) -> float:
        """Returns the seconds of the device for a million operations."""
        return self.device_s(device) / self.operations * 1e6

    def merging_s(self, device: DeviceSpec) -> float:
        """Returns the part of `device_s` that merges take."""
        return sum(self._device_s(device, cause) for cause in MERGES)

    def reading_s(self, device: DeviceSpec) -> float:
        """Returns the part of `device_s` that lookups take."""
        return self._device_s(device, "user_read")

    def _device_s(self, device: DeviceSpec, cause: str) -> float:
        place = CAUSES.index(cause)
        by_bytes, by_operations = device.bandwidth_bytes_s, device.iops
        return max(
            self.device_bytes[place] / by_bytes if by_bytes else 0.0,
            self.device_operations[place] / by_operations if by_operations else 0.0,
        )


def sessions_of(seed: int, drive: str, missions: Sequence[DrivenMission]) -> list[SessionWork]:
    """Returns the work of each session of a drive."""
    parts = by_session([Served.of(mission) for mission in missions])
    ends = np.cumsum([len(part) for part in parts])
    return [
        SessionWork.of(seed, drive, number, missions[end - len(part) : end])
        for number, (part, end) in enumerate(zip(parts, ends, strict=True))
    ]


def prices_of(sessions: Sequence[SessionWork], device: DeviceSpec) -> StoreCosts:
    """Returns the prices of work on FLSM stores: of a device's seconds, counted, and of CPU time, fitted.

    CPU time is fitted to operations, runs that lookups read, and moved bytes, by least squares of relative
    errors. No price is below 0.
    """
    counts = np.array(
        [[each.lookups + each.writes, each.passed, each.moved_bytes] for each in sessions], float
    )
    cpu_s = np.array([each.cpu_s for each in sessions])
    operation_s, passed_s, byte_s = nnls(counts / cpu_s[:, None], np.ones(len(cpu_s)))[0]
    _, passed, moved = np.maximum(1.0, counts.sum(axis=0))
    return StoreCosts(
        lookup_s=float(operation_s),
        probe_s=0.0,
        read_s=float(passed_s + sum(each.reading_s(device) for each in sessions) / passed),
        write_s=float(operation_s),
        compaction_s_per_byte=float(byte_s + sum(each.merging_s(device) for each in sessions) / moved),
        noise=0.0,
    )
