"""Workloads that change: sessions, each with operations of its own on the same keys."""

from pathlib import Path
from typing import Annotated

from pydantic import Field

from rocktune.errors import UserError, unknown_name
from rocktune.spec_file import Spec, is_file_name, read_toml, validated
from rocktune.workload import WorkloadSpec, load_workload

Missions = Annotated[int, Field(ge=1)]


class DrivenSession(Spec):
    """A stretch of missions with one workload.

    Attributes:
        workload: a name or a file.
        missions: how many.
    """

    workload: str
    missions: Missions


class SessionsSpec(Spec):
    """Sessions in their order.

    Attributes:
        name: what they are called.
        sessions: the first one's workload says what is loaded before.
    """

    name: str
    sessions: Annotated[tuple[DrivenSession, ...], Field(min_length=1)]

    def workloads(self) -> list[WorkloadSpec]:
        """Returns the workload of each session.

        Raises:
            UserError: one is not known, or has other keys than the first.
        """
        found = [load_workload(session.workload) for session in self.sessions]
        for number, workload in enumerate(found, 1):
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
"""RusKey's figure 7: 2,000 missions, in the paper's order."""


def load_sessions(name: str) -> SessionsSpec:
    """Returns sessions by their name, those of a TOML file, or a single one of a workload for 400 missions.

    Raises:
        UserError: there is none of that name, or the file is wrong somewhere.
    """
    if is_file_name(name):
        return validated(SessionsSpec, read_toml(Path(name)), name)
    if name in SESSIONS:
        return SESSIONS[name]
    try:
        load_workload(name)
    except UserError:
        raise unknown_name("sessions", name, SESSIONS) from None
    return SessionsSpec(name=name, sessions=(DrivenSession(workload=name, missions=400),))
