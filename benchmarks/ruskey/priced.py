"""Missions of a store whose counted work is priced, so that nothing else on the machine changes them.

A store counts the runs that lookups and scans read and the bytes that its merges move. These counts barely
depend on how busy the machine is; seconds do. The prices are those of modelled stores.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rocktune.online import DrivenMission
from rocktune.online.control import Controller, Decision, LevelMission, Mission, Served
from rocktune.online.modelled import StoreCosts


def priced(mission: Mission, costs: StoreCosts, absent: bool) -> Mission:
    """Returns a mission with the counts of a store, and with seconds from `costs`.

    A run that a scan passes through costs one read, since filters do not help scans.

    Args:
        mission: statistics of a mission on a store.
        costs: price of each kind of work; its noise is ignored.
        absent: whether lookups ask for keys that the store does not have.
    """
    following = [level.reached for level in mission.levels[1:]] + [0.0]
    levels = tuple(
        _priced_level(level, 0.0 if absent else level.reached - below, costs)
        for level, below in zip(mission.levels, following, strict=True)
    )
    passed, read_s, scanned, waited_s = (
        sum(column)
        for column in zip(
            *((each.passed, each.read_s, each.scanned, each.compaction_s) for each in levels), strict=True
        )
    )
    fixed_s = (mission.lookups + mission.scans) * costs.lookup_s + mission.writes * costs.write_s
    quiet_s = fixed_s + read_s + scanned * costs.read_s
    return replace(
        mission,
        busy_s=quiet_s + waited_s,
        # As in the model, the time that merges take belongs to no operation, so that it is charged to bytes.
        quiet=Served(mission.operations, quiet_s, passed, read_s, scanned),
        merging=Served(0.0, waited_s, 0.0, 0.0, 0.0),
        levels=levels,
    )


def _priced_level(level: LevelMission, found: float, costs: StoreCosts) -> LevelMission:
    """Returns a level with priced work, of which `found` lookups had their key in it."""
    probes_s = level.reached * level.runs * costs.probe_s
    false_positives = max(0.0, level.passed - found)
    return replace(
        level,
        read_s=probes_s + level.passed * costs.read_s,
        false_positive_read_s=probes_s + false_positives * costs.read_s,
        compaction_s=level.compaction_bytes * costs.compaction_s_per_byte,
    )


@dataclass(frozen=True)
class Priced:
    """A controller that sees priced missions instead of measured ones.

    Attributes:
        controller: controller that decides.
        costs: price of each kind of work.
        absent: whether lookups ask for keys that the store does not have.
    """

    controller: Controller
    costs: StoreCosts
    absent: bool

    def decide(self, mission: Mission) -> Decision:
        """See `Controller.decide`."""
        return self.controller.decide(priced(mission, self.costs, self.absent))

    def missions(self, driven: Sequence[DrivenMission]) -> list[DrivenMission]:
        """Returns the missions of a drive as the controller saw them, each as long as its work costs."""
        found = []
        for each in driven:
            assert each.statistics is not None
            own = priced(each.statistics, self.costs, self.absent)
            found.append(replace(each, seconds=own.busy_s, latency_us=own.latency_s * 1e6, statistics=own))
        return found
