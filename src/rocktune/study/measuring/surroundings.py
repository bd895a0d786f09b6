"""What a study's figures depend on besides its specification, recorded whenever a process measures it."""

from dataclasses import asdict, dataclass, fields
from typing import Self

from rocktune.ledger import Ledger, StudyRecord
from rocktune.study.executors import Executor

SURROUNDINGS = "surroundings"
"""Kind of the event with the fields of `Surroundings`, for each process that measures under other ones."""

_CHANGED = {
    "engine": "This study was measured with {} and continues with {}.",
    "file_system": "This study was measured on the file system {0} and continues on {1}, which can change "
    "figures by more than noise; set ROCKTUNE_DATA to a directory on {0} for equal terms.",
    "host": "This study was measured on the machine {} and continues on {}.",
}
"""By field: the sentence for a user whose study continues with another value."""


@dataclass(frozen=True)
class Surroundings:
    """The system, the file system and the machine that measure a study; "" for what is unknown.

    Attributes:
        engine: see `rocktune.engine.Engine.version`.
        file_system: see `rocktune.engine.Engine.file_system`.
        host: see `rocktune.study.executors.Executor.host`.
    """

    engine: str = ""
    file_system: str = ""
    host: str = ""

    @classmethod
    def of(cls, executor: Executor) -> Self:
        """Returns the surroundings of an executor."""
        return cls(executor.version, executor.file_system, executor.host)

    def changed_from(self, before: "Surroundings") -> list[str]:
        """Returns a sentence for each known value that differs from a known one before."""
        pairs = [(each.name, getattr(before, each.name), getattr(self, each.name)) for each in fields(self)]
        return [_CHANGED[name].format(old, new) for name, old, new in pairs if old and new and old != new]


def recorded_surroundings(ledger: Ledger, study: StudyRecord) -> list[Surroundings]:
    """Returns a study's surroundings in the order of recording.

    A study that was last measured by a rocktune without this record has those that its own record names.
    """
    events = ledger.events(study, SURROUNDINGS)
    # A newer release may record more.
    names = [each.name for each in fields(Surroundings)]
    return [Surroundings(*(event.payload.get(name, "") for name in names)) for event in events] or [
        Surroundings(engine=study.engine_version, host=study.host)
    ]


def record_surroundings(ledger: Ledger, study: StudyRecord, executor: Executor) -> list[str]:
    """Records the surroundings if they are not those recorded last.

    Args:
        ledger: the ledger; the caller holds the study's lock.
        study: the study.
        executor: measures the study from now on.

    Returns:
        A sentence for each one that differs from the last recorded one.
    """
    before, now = recorded_surroundings(ledger, study)[-1], Surroundings.of(executor)
    if now != before:
        ledger.add_event(study, SURROUNDINGS, asdict(now))
    return now.changed_from(before)


def file_systems_of(ledger: Ledger, study: StudyRecord) -> str:
    """Returns the file systems that held a study's runs, with commas between several; "" if unknown."""
    names = [each.file_system for each in recorded_surroundings(ledger, study)]
    return ", ".join(dict.fromkeys(name for name in names if name))
