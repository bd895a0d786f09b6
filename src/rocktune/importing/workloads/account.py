"""Workloads made from descriptions of other programs, with the account of each setting."""

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum

from rocktune.workload import WorkloadSpec


class Use(StrEnum):
    """The fate of a setting. Each setting of a description has exactly one."""

    USED = "used"
    """The workload has it."""
    TRANSLATED = "translated"
    """The workload has the nearest thing; the entry's reason says how the two differ."""
    WITHOUT_EFFECT = "without effect"
    """It does not change the load in its own program either."""
    LEFT_OUT = "left out"
    """The workload does not have it."""


@dataclass(frozen=True)
class WorkloadEntry:
    """The use of one setting.

    Attributes:
        name: as the description spells it.
        given: its value.
        use: its fate.
        becomes: field of the workload with its value, such as "keys = 1000"; empty if there is no such field.
        why: the reason; empty if the use explains itself.
    """

    name: str
    given: str
    use: Use
    becomes: str = ""
    why: str = ""


@dataclass(frozen=True)
class ImportedWorkload:
    """A workload that was made from the description of another program.

    Attributes:
        source: the description, such as "YCSB's core.properties".
        workload: the workload.
        entries: the use of each setting, in the description's order.
        assumed: what the description does not say and rocktune assumes, a sentence each.
        warnings: sentences on what may not be as its author meant.
    """

    source: str
    workload: WorkloadSpec
    entries: tuple[WorkloadEntry, ...]
    assumed: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def summary(self) -> str:
        """The account in one line: `14 used, 3 translated, 2 left out`."""
        counted = Counter(entry.use for entry in self.entries)
        return ", ".join(f"{counted[use]} {use}" for use in Use if counted[use]) or "no settings"
