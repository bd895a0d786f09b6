"""The decisions around the study of a workload."""

from dataclasses import replace

from rocktune.deploy.watch.state import Phase, Verdict, WatchState
from rocktune.deploy.watch.step import Note, Step, StudyResult, with_workload

MAX_ATTEMPTS = 5
"""Attempts at the study of a workload before the workload stays as it is."""


def tuning_began(state: WatchState, study: str) -> Step:
    """Returns the state once a study is named for the present workload."""
    text = f"Study '{study}' searches options for workload {state.current.number}."
    return Step(with_workload(state, study=study), (Note("tuning", text),))


def tuned(state: WatchState, number: int, result: StudyResult) -> Step:
    """Returns the state after a study.

    Args:
        state: the state; the workload may have changed while the study ran.
        number: the workload that the study was made for.
        result: what it found.
    """
    found = {
        "verdict": Verdict.KEPT if result.live is None else Verdict.PROVEN,
        "live": state.in_force if result.live is None else result.live,
        "proof": result.proof,
        "attempts": 0,
        "retry_at": "",
    }
    if number != state.current.number:
        others = tuple(
            each.model_copy(update=found) if each.number == number else each for each in state.others
        )
        note = Note("tuned", f"Workload {number} is not the present one any more. {result.proof}")
        return Step(state.model_copy(update={"others": others}), (note,))
    phase = Phase.OBSERVING if result.live is None else Phase.PROPOSED
    event = "kept" if result.live is None else "proposed"
    return Step(
        with_workload(state, **found).model_copy(update={"phase": phase}), (Note(event, result.proof),)
    )


def refused(state: WatchState, why: str) -> Step:
    """Returns the state after a study that could not be made; the workload is not tuned again."""
    state = with_workload(state, verdict=Verdict.KEPT, live=state.in_force)
    return Step(state.model_copy(update={"phase": Phase.OBSERVING}), (Note("not tuned", why),))


def postponed(state: WatchState, why: str, retry_at: str) -> Step:
    """Returns the state after a study that failed for a reason that may pass, such as a lack of memory.

    The study is tried again, at most `MAX_ATTEMPTS` times in all.

    Args:
        state: the state.
        why: the reason.
        retry_at: when it is tried again, as in `Workload.retry_at`.
    """
    attempts = state.current.attempts + 1
    count = f"attempt {attempts} of {MAX_ATTEMPTS}"
    if attempts >= MAX_ATTEMPTS:
        return refused(state, f"{why} ({count})")
    note = Note("postponed", f"{why}. It is tried again from {retry_at} on ({count}).")
    return Step(with_workload(state, attempts=attempts, retry_at=retry_at), (note,))


def disturbed(step: Step, unread: int) -> Step:
    """Returns a step behind a study: the intervals in which it ran on the store's machine predict nothing.

    Args:
        step: the step.
        unread: as in `written`.
    """
    return replace(step, state=step.state.model_copy(update={"settling": unread + 1}))
