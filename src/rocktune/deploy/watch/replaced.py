"""The decisions about a watched file that somebody else has replaced."""

from rocktune.deploy.watch.state import Live, Phase, Verdict, WatchState, Workload
from rocktune.deploy.watch.step import Note, Step, with_workload

_FOUND = (Verdict.PROVEN, Verdict.CONFIRMED)


def noticed(state: WatchState, in_force: Live) -> Step:
    """Returns the state after somebody else has replaced the watched file.

    Args:
        state: a state in which no options of the watch are being observed.
        in_force: the options that the file states now.
    """
    note = Note("noticed", "Somebody else has replaced the watched file. Its options are kept.")
    if state.phase is Phase.PROPOSED:
        # They were measured under other options than those that a proposal replaces now.
        state = with_workload(state, intervals=())
        state = state.model_copy(update={"settling": max(state.settling, 1)})
    return Step(based_on(state, in_force), (note,))


def based_on(state: WatchState, in_force: Live) -> WatchState:
    """Returns the state with the options of each workload based on another file.

    Args:
        state: a state whose `in_force` is the file that the options are based on now.
        in_force: the options of the other file.
    """
    return state.model_copy(
        update={
            "in_force": in_force,
            "current": _based(state.current, state.in_force, in_force),
            "others": tuple(_based(each, state.in_force, in_force) for each in state.others),
        }
    )


def _based(workload: Workload, old: Live, new: Live) -> Workload:
    """Returns a workload with its options in a new file.

    Values in which they differ from the old file's are kept, unless the new file has changed them, too. Those
    that were proven for the workload are kept in any case.
    """
    live = {section: dict(options) for section, options in new.items()}
    for section, options in workload.live.items():
        for name, value in options.items():
            before = old.get(section, {}).get(name)
            is_theirs = new.get(section, {}).get(name) != before
            if value != before and (workload.verdict in _FOUND or not is_theirs):
                live.setdefault(section, {})[name] = value
    return workload.model_copy(update={"live": live})
