"""Workloads that change over time: sessions with different operations on the same keys."""

from pathlib import Path
from typing import Annotated

from pydantic import Field

from rocktune.errors import UserError, unknown_name
from rocktune.spec_file import Spec, is_file_name, read_toml, validated
from rocktune.workload import WorkloadSpec, load_workload, load_workload_of_one_family

Missions = Annotated[int, Field(ge=1)]


class DrivenSession(Spec):
    """A number of missions with one workload.

    Attributes:
        workload: name or file of a workload.
        missions: number of missions.
    """

    workload: str
    missions: Missions


class SessionsSpec(Spec):
    """A sequence of sessions.

    Attributes:
        name: name of the sequence.
        sessions: sessions in their order; the first one's workload defines the preload.
    """

    name: str
    sessions: Annotated[tuple[DrivenSession, ...], Field(min_length=1)]

    def workloads(self) -> list[WorkloadSpec]:
        """Returns the workload of each session.

        Raises:
            UserError: a workload is unknown, or its keys differ from those of the first session.
        """
        found = [load_workload_of_one_family(session.workload, "drive") for session in self.sessions]
        for number, workload in enumerate(found, 1):
            # The store is loaded once, by the first session; others must find the same keys in it.
            for field in ("keys", "key_bytes"):
                own, first = getattr(workload, field), getattr(found[0], field)
                if own != first:
                    raise UserError(
                        f"sessions: session {number} ({workload.name}) has {field} = {own}, the first one "
                        f"{first}; all sessions must use the same keys"
                    )
        return found


SESSIONS = {
    "ruskey-dynamic": SessionsSpec(
        name="ruskey-dynamic",
        sessions=tuple(
            DrivenSession(workload=f"ruskey-{name}", missions=400)
            for name in ("read-heavy", "balanced", "write-heavy", "write-inclined", "read-inclined")
        ),
    )
}
"""Presets by name. "ruskey-dynamic" is RusKey's figure 7: 2,000 missions, in the paper's order."""


def load_sessions(name: str) -> SessionsSpec:
    """Returns the sessions of a preset, of a TOML file, or of one workload.

    The name of a workload gives one session of 400 missions.

    Raises:
        UserError: no preset or workload has that name, or the file is invalid.
    """
    if is_file_name(name):
        return validated(SessionsSpec, read_toml(Path(name)), name)
    if name in SESSIONS:
        return SESSIONS[name]
    try:
        load_workload(name)
    # The message names the presets of sessions, since a file or preset was probably meant.
    except UserError:
        raise unknown_name("sessions", name, SESSIONS) from None
    return SessionsSpec(name=name, sessions=(DrivenSession(workload=name, missions=400),))
