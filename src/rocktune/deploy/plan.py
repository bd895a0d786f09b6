"""The plan that brings a database from its present options to new ones."""

from enum import StrEnum

from rocktune.spec_file import Spec


class Way(StrEnum):
    """How a change of an option takes effect, the mildest way first."""

    LIVE = "live"
    """While the database is open, through a watcher."""
    REOPEN = "at reopen"
    """When the application opens the database with the new value."""
    REWRITE = "by rewriting data"
    """Once the closed database's data is in the shape that the new value needs."""
    IMPOSSIBLE = "impossible"
    """Not in this database: RocksDB would not open it, or not read its data."""


class LevelBytes(Spec):
    """The data of one level of a column family.

    Attributes:
        level: number of the level, from 0.
        files: tables.
        size_bytes: their size, as precise as the LOG states it.
    """

    level: int
    files: int
    size_bytes: int


class Rewrite(Spec):
    """What rewriting data costs.

    Attributes:
        levels: the levels whose data is rewritten; empty if they are not known.
        size_bytes: bytes to read, and about as many to write.
        space_bytes: free space that is needed meanwhile, because old tables go only at the end.
        seconds: time on the device; None if no device is given or it has no limit.
    """

    levels: tuple[int, ...]
    size_bytes: int
    space_bytes: int
    seconds: float | None = None


class PlannedChange(Spec):
    """One option that gets another value.

    Attributes:
        step: number of its step, from 1; changes of one step are made together.
        way: how it takes effect.
        section: "db", "cf" or "table".
        family: the column family; empty in section "db".
        name: name of the option.
        before: the present value; empty if the OPTIONS file does not say it.
        after: the new value.
        by: the call that makes the change, such as "SetOptions"; empty unless `way` is "live".
        note: what else it means; may be empty.
        rewrite: the cost of having it in all data; None if data is not concerned.
    """

    step: int
    way: Way
    section: str
    family: str = ""
    name: str
    before: str
    after: str
    by: str = ""
    note: str = ""
    rewrite: Rewrite | None = None

    @property
    def where(self) -> str:
        """The option's place in words: `cf default`, or `db`."""
        return f"{self.section} {self.family}".strip()


class PlanNote(Spec):
    """An option of the new file that is not part of the plan.

    Attributes:
        where: its section and column family, such as "cf default".
        name: name of the option.
        given: value in the file.
        why: the reason.
    """

    where: str
    name: str
    given: str
    why: str


class RolloutPlan(Spec):
    """The way of a database to new options.

    Attributes:
        directory: the database's directory.
        present: the OPTIONS file with the present options.
        wanted: the file with the new options.
        rocksdb_version: the RocksDB that runs the database.
        asked_version: the RocksDB that says which options can be changed; may stand for the other one.
        is_open: True if a process holds the database's LOCK.
        changes: in the order in which they are to be made.
        left_out: options of the new file that are not part of the plan.
        live: the options that the watched file states, by section ("db", "cf:FAMILY", "table:FAMILY"). Those
            that are in force already are among them, because the watcher restores what a file leaves out.
        refused: why a program's watcher would refuse the live options; empty if it would take them.
        notes: sentences.
    """

    directory: str
    present: str
    wanted: str
    rocksdb_version: str
    asked_version: str
    is_open: bool
    changes: tuple[PlannedChange, ...]
    left_out: tuple[PlanNote, ...]
    live: dict[str, dict[str, str]]
    refused: str = ""
    notes: tuple[str, ...] = ()

    def of_way(self, way: Way) -> tuple[PlannedChange, ...]:
        """Returns the changes that take effect in one way, in order."""
        return tuple(change for change in self.changes if change.way is way)
