"""Steps of a watch: the results of its decisions."""

from dataclasses import dataclass

from rocktune.deploy.watch.interval import Interval
from rocktune.deploy.watch.state import Live, WatchState


@dataclass(frozen=True)
class Note:
    """A step that the journal shows.

    Attributes:
        event: one or two words, such as "changed".
        text: a sentence with what it rests on.
    """

    event: str
    text: str


@dataclass(frozen=True)
class Step:
    """The result of a decision.

    Attributes:
        state: the next state.
        notes: the steps that it took.
        intervals: the intervals that it has read; filled by `observed_all` alone.
    """

    state: WatchState
    notes: tuple[Note, ...] = ()
    intervals: tuple[Interval, ...] = ()


@dataclass(frozen=True)
class StudyResult:
    """What a study found for a workload.

    Attributes:
        live: the options that are better, by section of a watched file; None if the present ones are best.
        proof: the proof in words.
        is_undecided: True if other programs disturbed the proof, which then says nothing of the options.
    """

    live: Live | None
    proof: str
    is_undecided: bool = False


def with_workload(state: WatchState, **changed: object) -> WatchState:
    """Returns the state with other fields of the present workload."""
    return state.model_copy(update={"current": state.current.model_copy(update=changed)})
