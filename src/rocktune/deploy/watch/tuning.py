"""The decisions around the study of a workload."""

from dataclasses import replace

from rocktune.deploy.watch.state import Phase, Verdict, WatchState, Workload
from rocktune.deploy.watch.step import Note, Step, StudyResult, with_workload

MAX_ATTEMPTS = 5
"""Attempts at a study of a workload before the workload stays as it is."""


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
    # Those before the study are too old to predict the store's figures from.
    state = with_workload(state, **found, intervals=())
    return Step(state.model_copy(update={"phase": phase}), (Note(event, result.proof),))


def postponed(state: WatchState, why: str, retry_at: str, settings: str) -> Step:
    """Returns the state after a study that failed, or that could not be made.

    The cause may pass, such as a lack of memory, or somebody may mend it. The study is tried again, at most
    `MAX_ATTEMPTS` times in all. After that the workload stays as it is, until `retried`.

    Args:
        state: the state.
        why: the reason.
        retry_at: when it is tried again, as in `Workload.retry_at`.
        settings: digest of the watch's settings.
    """
    attempts = state.current.attempts + 1
    count = f"attempt {attempts} of {MAX_ATTEMPTS}"
    if attempts < MAX_ATTEMPTS:
        note = Note("postponed", f"{why}. It is tried again from {retry_at} on ({count}).")
        return Step(with_workload(state, attempts=attempts, retry_at=retry_at), (note,))
    state = with_workload(state, verdict=Verdict.UNTUNED, live=state.in_force, refused_with=settings)
    note = Note("not tuned", f"{why} ({count})")
    return Step(state.model_copy(update={"phase": Phase.OBSERVING}), (note,))


def undecided(state: WatchState, why: str, retry_at: str, settings: str) -> Step:
    """Returns the state after a study whose proof decided nothing, because other programs disturbed it.

    That says nothing of the options, so another study is made later; it begins with what this one has found.
    It counts as an attempt of `postponed`, which describes the arguments.
    """
    return postponed(with_workload(state, study=""), why.removesuffix("."), retry_at, settings)


def retried(state: WatchState, settings: str) -> Step | None:
    """Returns the state of a watch that has other settings than when its workload could not be tuned.

    Args:
        state: the state.
        settings: digest of the watch's settings.

    Returns:
        None if nothing is tried again.
    """
    current = state.current
    is_refused = state.phase is Phase.OBSERVING and current.verdict is Verdict.UNTUNED
    if not is_refused or current.refused_with == settings:
        return None
    note = Note("tried again", f"The watch has other settings now; workload {current.number} is tuned.")
    fresh = state.model_copy(update={"current": untried(current), "phase": Phase.TUNING})
    return Step(fresh, (note,))


def untried(workload: Workload) -> Workload:
    """Returns a workload that could not be tuned as one for which no study was made yet."""
    changed = {"verdict": Verdict.UNKNOWN, "study": "", "attempts": 0, "retry_at": "", "refused_with": ""}
    return workload.model_copy(update=changed)


def disturbed(step: Step, unread: int) -> Step:
    """Returns a step behind a study: the intervals in which it ran on the store's machine predict nothing.

    Args:
        step: the step.
        unread: as in `written`.
    """
    return replace(step, state=step.state.model_copy(update={"settling": unread + 1}))
