"""The decisions of a watch: pure functions from a state and what happened to the next state and its notes."""

from collections.abc import Sequence

from rocktune.deploy.watch.figures import WINDOW_INTERVALS, moves_more, worse_figures
from rocktune.deploy.watch.interval import Interval
from rocktune.deploy.watch.replaced import based_on
from rocktune.deploy.watch.shift import SAME_DISTANCE, Reference, compared, distance
from rocktune.deploy.watch.state import Live, Phase, Verdict, WatchState, Workload
from rocktune.deploy.watch.step import Note, Step, with_workload
from rocktune.deploy.watch.tuning import untried

KEPT_INTERVALS = 24
"""Intervals of a workload from which live figures are predicted, at most."""
PREDICTING_INTERVALS = 8
"""The same, at least. They are the last ones before the options are applied."""
MOVING_INTERVALS = 2
"""How many of them have flushes or compactions, unless `KEPT_INTERVALS` have fewer."""
OBSERVED_WINDOWS = 2
"""Windows after which options are confirmed."""
_NO_TEST: dict[str, object] = {"undo": {}, "before": (), "after": (), "windows": 0, "has_waited": False}
"""Fields of a state without options whose figures are compared with their prediction."""
_IN_TEST = (Phase.APPLYING, Phase.APPLIED, Phase.ROLLING_BACK)


def observed(state: WatchState, interval: Interval) -> Step:
    """Returns the state after one more interval of the store.

    Idle intervals are no evidence; one in which the store was stopped counts against options in observation.
    """
    is_settled = state.settling == 0
    state = state.model_copy(update={"seen": interval.end, "settling": max(0, state.settling - 1)})
    is_judged = is_settled and state.phase is Phase.APPLIED
    if interval.is_stopped and is_judged:
        return _judged(state, interval)
    if interval.is_idle:
        return Step(state)
    reference = compared(state.current.reference, interval)
    if reference.has_changed:
        return _changed(state, interval)
    was_suspicious = state.current.reference.is_suspicious
    state = with_workload(state, reference=reference)
    if is_settled and not reference.is_suspicious:
        state = with_workload(state, intervals=(*state.current.intervals, interval)[-KEPT_INTERVALS:])
    notes = []
    if reference.is_suspicious and not was_suspicious:
        notes.append(Note("suspecting", f"The interval that ended at {interval.time} deviates."))
    if state.phase is Phase.LEARNING and reference.is_complete:
        step = _learned(state)
        return Step(step.state, (*notes, *step.notes))
    if is_judged:
        step = _judged(state, interval)
        return Step(step.state, (*notes, *step.notes))
    return Step(state, tuple(notes))


def applying(state: WatchState, undo: Live, file: str) -> Step:
    """Returns the state before the watched file is replaced by the proposed options.

    Args:
        state: a state in phase `PROPOSED`.
        undo: the options that a rollback has to write.
        file: the watched file.
    """
    # What is in force may stand for options that the file does not state; from now on it has to.
    others = tuple(
        each.model_copy(update={"live": undo}) if each.live == state.in_force else each
        for each in state.others
    )
    state = state.model_copy(
        update=_NO_TEST
        | {
            "phase": Phase.APPLYING,
            "others": others,
            "undo": undo,
            "file": file,
            "before": state.current.intervals,
        }
    )
    text = f"Writes the options of workload {state.current.number}. {state.current.proof}"
    return Step(state, (Note("applying", text),))


def written(state: WatchState, unread: int) -> Step:
    """Returns the state after the watched file was replaced, in phase `APPLYING` or `ROLLING_BACK`.

    Args:
        state: the state before.
        unread: intervals that the LOG has and that were not read yet; they are of the earlier options. The
            options change within the interval behind them.
    """
    state = state.model_copy(update={"settling": max(state.settling, unread + 1)})
    if state.phase is Phase.APPLYING:
        state = with_workload(state, intervals=())
        state = state.model_copy(update={"phase": Phase.APPLIED, "in_force": state.current.live})
        return Step(state, (Note("applied", "The watched file is written."),))
    changed = _NO_TEST | {
        "phase": Phase.OBSERVING if state.current.reference.is_complete else Phase.LEARNING,
        "in_force": state.undo,
    }
    note = Note("rolled back", "The watched file has the earlier options.")
    return Step(with_workload(state, intervals=()).model_copy(update=changed), (note,))


def overtaken(state: WatchState, in_force: Live, unread: int) -> Step:
    """Returns the state after a rollback that was not made, because somebody has replaced the watched file.

    Args:
        state: a state in phase `ROLLING_BACK`.
        in_force: the options that the file states now.
        unread: see `written`.
    """
    step = written(state, unread)
    note = Note("left alone", "Somebody else has replaced the watched file, so it is not rolled back.")
    # Before the step, the file stated the watch's own options.
    based = based_on(step.state.model_copy(update={"in_force": state.in_force}), in_force)
    return Step(based, (note,))


def not_taken(state: WatchState, why: str) -> Step:
    """Returns the state after the program left options of the watched file out of force."""
    return _rolling_back(state, f"The program has not taken all options: {why}.")


def application_waits_for(state: WatchState) -> str:
    """Returns what the application of the proposed options waits for, in a sentence; "" if for nothing."""
    assert state.phase is Phase.PROPOSED
    if state.current.reference.is_suspicious:
        return "The last intervals deviate, so that the proposed options are not applied yet."
    known = state.current.intervals
    missing = PREDICTING_INTERVALS - len(known)
    if missing > 0:
        return f"Intervals before the options can be applied, to predict the live figures from: {missing}."
    missing = MOVING_INTERVALS - sum(each.moves_data for each in known)
    if missing > 0 and len(known) < KEPT_INTERVALS:
        return (
            "Intervals with flushes or compactions before the options can be applied, to predict the live "
            f"figures from: {missing}; without them, {KEPT_INTERVALS - len(known)} intervals."
        )
    return ""


def _changed(state: WatchState, interval: Interval) -> Step:
    """Begins to learn a new workload."""
    left = state.current
    calm = left.reference.model_copy(update={"evidence": 0.0})
    in_test = state.phase in _IN_TEST
    if in_test:
        # They may be good, but nothing will show it.
        left = left.model_copy(update={"verdict": Verdict.PROVEN})
    left = left.model_copy(update={"reference": calm, "intervals": ()})
    number = 1 + max(each.number for each in (state.current, *state.others))
    state = state.model_copy(
        update={
            "phase": Phase.LEARNING,
            # The store still compacts what the earlier load has written, so its figures predict nothing.
            "settling": max(state.settling, WINDOW_INTERVALS),
            "current": Workload(number=number),
            "others": (*(each for each in state.others if each.number != left.number), left),
        }
    )
    note = Note("changed", f"The load is not that of workload {left.number} any more at {interval.time}.")
    if not in_test:
        return Step(state, (note,))
    step = _rolling_back(state, "The workload changed before the new options were confirmed.", reject=False)
    return Step(step.state, (note, *step.notes))


def _learned(state: WatchState) -> Step:
    """Decides what to do with a workload whose reference is complete."""
    new = state.current
    known = min(
        (each for each in state.others if each.reference.is_complete),
        key=lambda each: distance(each.reference, new.reference),
        default=None,
    )
    if known is None and new.number == 1:
        return Step(
            with_workload(state, verdict=Verdict.KEPT, live=state.in_force).model_copy(
                update={"phase": Phase.OBSERVING}
            ),
            (Note("observing", "Workload 1 is the one that the watch began with."),),
        )
    if known is None or distance(known.reference, new.reference) > SAME_DISTANCE:
        note = Note(
            "new workload", f"Workload {new.number} is not among those before: {_described(new.reference)}."
        )
        return Step(state.model_copy(update={"phase": Phase.TUNING}), (note,))
    if known.verdict is Verdict.UNTUNED:
        known = untried(known)
    current = known.model_copy(update={"reference": new.reference, "intervals": new.intervals})
    others = tuple(each for each in state.others if each.number != known.number)
    state = state.model_copy(update={"current": current, "others": others})
    note = Note("recognised", f"This is workload {known.number} again.")
    if known.verdict is Verdict.UNKNOWN:
        return Step(state.model_copy(update={"phase": Phase.TUNING}), (note,))
    phase = Phase.OBSERVING if known.live == state.in_force else Phase.PROPOSED
    return Step(state.model_copy(update={"phase": phase}), (note,))


def _judged(state: WatchState, interval: Interval) -> Step:
    """Adds an interval, and compares the figures of each whole window since the application."""
    state = state.model_copy(update={"after": (*state.after, interval)})
    window = state.after[state.windows * WINDOW_INTERVALS :]
    if len(window) < WINDOW_INTERVALS:
        return Step(state)
    worse = worse_figures(state.before, window)
    if worse:
        why = "; ".join(each.sentence for each in worse)
        stalls = any(each.is_stall for each in worse)
        if state.windows or state.has_waited or stalls or not moves_more(state.before, window):
            return _rolling_back(state, why)
        note = Note("waiting", f"The new options still move data; the next window decides. {why}")
        return Step(state.model_copy(update={"has_waited": True, "after": ()}), (note,))
    state = state.model_copy(update={"windows": state.windows + 1})
    if state.windows < OBSERVED_WINDOWS:
        return Step(state, (Note("observed", f"Window {state.windows} is within its prediction."),))
    state = with_workload(state, verdict=Verdict.CONFIRMED).model_copy(
        update=_NO_TEST | {"phase": Phase.OBSERVING}
    )
    return Step(state, (Note("confirmed", f"No figure is worse in {OBSERVED_WINDOWS} windows."),))


def _rolling_back(state: WatchState, why: str, reject: bool = True) -> Step:
    """Begins a rollback.

    Args:
        state: the state.
        why: the reason.
        reject: never apply the options of the present workload again.
    """
    if reject:
        state = with_workload(state, verdict=Verdict.REJECTED, live=state.undo)
    return Step(state.model_copy(update={"phase": Phase.ROLLING_BACK}), (Note("rolling back", why),))


def _described(reference: Reference) -> str:
    reads, seeks = reference.means[:2]
    return f"{reads:.0%} lookups, {seeks:.0%} scans, {max(0.0, 1 - reads - seeks):.0%} writes"


def observed_all(state: WatchState, intervals: Sequence[Interval]) -> Step:
    """Returns the state after several intervals; it stops behind one that calls for an action.

    The intervals behind it are read again after the action.
    """
    notes: tuple[Note, ...] = ()
    read = []
    for interval in intervals:
        read.append(interval)
        phase, step = state.phase, observed(state, interval)
        state, notes = step.state, (*notes, *step.notes)
        if state.phase is not phase and state.phase in (Phase.TUNING, Phase.ROLLING_BACK):
            break
    return Step(state, notes, tuple(read))
