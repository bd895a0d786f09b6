from collections.abc import Iterable

import numpy as np
import pytest
from tests.deploy.watch.made import intervals

from rocktune.deploy.watch import (
    Interval,
    Phase,
    Step,
    StudyResult,
    Verdict,
    WatchState,
    application_waits_for,
    applying,
    not_taken,
    noticed,
    observed_all,
    postponed,
    retried,
    tuned,
    tuning_began,
    undecided,
    written,
)

OPTIONS = {"cf:default": {"write_buffer_size": "1048576"}}
OLD = {"cf:default": {"write_buffer_size": "67108864"}}
RESULT = StudyResult(OPTIONS, "Study 'w' proves 1.5 (1.4 to 1.6).")


class Store:
    """A store whose intervals a test chooses, and the state of the watch that reads them."""

    def __init__(self, seed: int = 1) -> None:
        self.state = WatchState()
        self.events: list[str] = []
        self._rng = np.random.default_rng(seed)
        self._number = 0

    def runs(self, count: int, reads: float = 0.1, latency_us: float = 20.0, moved: float = 5.0) -> None:
        made = intervals(self._rng, count, self._number, reads, latency_us, moved=moved)
        self._number += count
        self.shows(made)

    def shows(self, made: Iterable[Interval]) -> None:
        for interval in made:
            self.take(observed_all(self.state, [interval]))

    def take(self, step: Step) -> None:
        self.state = step.state
        self.events += [note.event for note in step.notes]

    def applies(self) -> None:
        """Takes the steps from a new workload to its options in force."""
        self.take(tuning_began(self.state, "w"))
        self.take(tuned(self.state, self.state.current.number, RESULT))
        self.runs(8, self.state.current.reference.means[0])
        assert not application_waits_for(self.state)
        self.take(applying(self.state, OLD, "/db/ROCKTUNE_OPTIONS"))
        self.take(written(self.state, 0))


@pytest.fixture
def shifted() -> Store:
    """A watch that has found a workload with 80% lookups after one with 10%."""
    store = Store()
    store.runs(20)
    store.runs(15, reads=0.8)
    return store


def test_a_change_of_workload_is_learned_before_it_is_tuned(shifted: Store) -> None:
    assert shifted.events == ["observing", "suspecting", "changed", "new workload"]
    assert shifted.state.phase is Phase.TUNING
    assert shifted.state.current.number == 2
    assert shifted.state.current.reference.means[0] == pytest.approx(0.8, abs=0.01)
    # Of the 12 intervals of the reference, the store still compacts in the first four.
    assert len(shifted.state.current.intervals) == 8


def test_a_stationary_workload_leads_to_nothing() -> None:
    store = Store()
    store.runs(1000, reads=0.3)
    assert set(store.events) <= {"observing", "suspecting"}
    assert store.state.phase is Phase.OBSERVING
    assert store.state.others == ()


def test_idle_intervals_are_no_evidence() -> None:
    store = Store()
    store.runs(20)
    before = store.state
    idle = [
        each.model_copy(update={"reads": 0, "writes": 10})
        for each in intervals(np.random.default_rng(1), 20, 20)
    ]
    store.shows(idle)
    assert store.state.seen == idle[-1].end
    assert store.state.model_copy(update={"seen": before.seen}) == before


def test_intervals_before_the_file_was_written_do_not_count(shifted: Store) -> None:
    shifted.take(tuning_began(shifted.state, "w"))
    shifted.take(tuned(shifted.state, 2, RESULT))
    shifted.runs(8, reads=0.8)
    shifted.take(applying(shifted.state, OLD, "/db/ROCKTUNE_OPTIONS"))
    shifted.take(written(shifted.state, unread=12))
    shifted.runs(12, reads=0.8)
    shifted.runs(4, reads=0.8, latency_us=60)
    assert shifted.state.phase is Phase.APPLIED
    assert shifted.state.windows == 0
    shifted.runs(1, reads=0.8, latency_us=60)
    assert str(shifted.state.phase) == "rolling back"


def test_options_that_stop_the_store_are_rolled_back(shifted: Store) -> None:
    shifted.applies()
    nothing = {"reads": 0, "writes": 0, "found_reads": 0, "written_bytes": 0, "waited_s": {}}
    made = list(intervals(np.random.default_rng(1), 6, 40))
    shifted.shows(each.model_copy(update=nothing) for each in made)
    assert shifted.state.phase is Phase.APPLIED
    shifted.shows(each.model_copy(update=nothing | {"stalled_share": 0.9}) for each in made[:5])
    assert str(shifted.state.phase) == "rolling back"


def test_options_that_keep_to_their_prediction_are_confirmed(shifted: Store) -> None:
    shifted.applies()
    shifted.runs(9, reads=0.8, latency_us=15.0)
    assert shifted.events[4:] == ["tuning", "proposed", "applying", "applied", "observed", "confirmed"]
    assert shifted.state.phase is Phase.OBSERVING
    assert shifted.state.current.verdict is Verdict.CONFIRMED
    assert shifted.state.in_force == OPTIONS


@pytest.mark.parametrize("good_windows", [0, 1])
def test_options_that_make_figures_worse_are_rolled_back_within_two_windows(
    shifted: Store, good_windows: int
) -> None:
    shifted.applies()
    shifted.runs(1 + 4 * good_windows, reads=0.8)
    shifted.runs(4, reads=0.8, latency_us=60.0)
    assert str(shifted.state.phase) == "rolling back"
    shifted.take(written(shifted.state, 0))
    assert shifted.state.phase is Phase.OBSERVING
    assert shifted.state.in_force == OLD
    # Never again for the same workload.
    shifted.runs(30, reads=0.8)
    assert shifted.events[-1] in ("rolled back", "suspecting")


def test_one_window_in_which_new_options_move_data_does_not_count(shifted: Store) -> None:
    shifted.applies()
    shifted.runs(5, reads=0.8, latency_us=60.0, moved=50.0)
    assert shifted.events[-1] == "waiting"
    assert shifted.state.phase is Phase.APPLIED
    shifted.runs(8, reads=0.8, latency_us=15.0)
    assert shifted.events[-2:] == ["observed", "confirmed"]
    assert not shifted.state.has_waited


def test_options_that_move_data_without_end_are_rolled_back_within_two_windows(shifted: Store) -> None:
    shifted.applies()
    shifted.runs(9, reads=0.8, latency_us=60.0, moved=50.0)
    assert shifted.events[-2:] == ["waiting", "rolling back"]


def test_a_window_that_stalls_counts_whatever_moves(shifted: Store) -> None:
    shifted.applies()
    made = intervals(np.random.default_rng(1), 5, 60, 0.8, moved=50.0)
    shifted.shows(each.model_copy(update={"stalled_share": 0.5}) for each in made)
    assert shifted.events[-1] == "rolling back"


def test_a_shift_back_is_recognised_and_needs_no_study(shifted: Store) -> None:
    shifted.applies()
    shifted.runs(9, reads=0.8)
    shifted.runs(15, reads=0.1)
    assert shifted.events[-1] == "recognised"
    assert shifted.state.phase is Phase.PROPOSED
    # The options that were in force at first were never in a file; now a file has to restore them.
    assert shifted.state.current.live == OLD
    shifted.take(applying(shifted.state, OPTIONS, "/db/ROCKTUNE_OPTIONS"))
    shifted.take(written(shifted.state, 0))
    shifted.runs(9, reads=0.1)
    assert shifted.events[-1] == "confirmed"
    shifted.runs(15, reads=0.8)
    assert (shifted.state.phase, shifted.state.current.live) == (Phase.PROPOSED, OPTIONS)


@pytest.mark.parametrize("is_changed_too", [False, True])
def test_options_of_others_become_part_of_each_workloads(shifted: Store, is_changed_too: bool) -> None:
    shifted.applies()
    shifted.runs(9, reads=0.8)
    theirs = {"db": {"max_background_jobs": "4"}} | OPTIONS
    if is_changed_too:
        theirs["cf:default"] = {"write_buffer_size": "2097152"}
    shifted.take(noticed(shifted.state, theirs))
    assert shifted.events[-1] == "noticed"
    assert shifted.state.in_force == shifted.state.current.live == theirs
    # The first workload has other options than the file that was there, but nobody has proven them.
    assert [each.live for each in shifted.state.others] == [theirs if is_changed_too else theirs | OLD]


def test_a_proposal_waits_for_compactions_to_predict_from_but_not_for_ever(shifted: Store) -> None:
    shifted.take(tuned(shifted.state, 2, RESULT))
    shifted.runs(10, reads=0.8, moved=0.0)
    assert application_waits_for(shifted.state) == (
        "Intervals with flushes or compactions before the options can be applied, to predict the live "
        "figures from: 2; without them, 14 intervals."
    )
    still = shifted.state
    shifted.runs(2, reads=0.8)
    assert not application_waits_for(shifted.state)
    shifted.state = still
    shifted.runs(14, reads=0.8, moved=0.0)
    assert not application_waits_for(shifted.state)


def test_figures_under_options_that_others_replaced_predict_nothing(shifted: Store) -> None:
    shifted.take(tuned(shifted.state, 2, RESULT))
    shifted.runs(8, reads=0.8)
    shifted.take(noticed(shifted.state, {"db": {"max_background_jobs": "4"}}))
    # The first one may have begun before the file was replaced.
    shifted.runs(8, reads=0.8)
    assert application_waits_for(shifted.state)
    shifted.runs(1, reads=0.8)
    assert not application_waits_for(shifted.state)


def test_proven_options_stay_whatever_others_bring(shifted: Store) -> None:
    shifted.take(tuned(shifted.state, 2, RESULT))
    shifted.take(noticed(shifted.state, {"cf:default": {"write_buffer_size": "2", "ttl": "9"}}))
    assert shifted.state.current.live == {"cf:default": {"write_buffer_size": "1048576", "ttl": "9"}}


def test_a_proposal_waits_while_the_workload_is_in_doubt(shifted: Store) -> None:
    shifted.take(tuned(shifted.state, 2, RESULT))
    shifted.runs(8, reads=0.8)
    shifted.runs(1, reads=0.3)
    assert application_waits_for(shifted.state).startswith("The last intervals deviate")
    shifted.runs(6, reads=0.8)
    assert not application_waits_for(shifted.state)


def test_a_proposal_is_applied_once_the_figures_behind_the_study_predict(shifted: Store) -> None:
    # Twelve intervals in which the store compacts what the earlier load has written.
    assert shifted.state.phase is Phase.TUNING
    shifted.take(tuned(shifted.state, 2, RESULT))
    shifted.runs(7, reads=0.8)
    assert application_waits_for(shifted.state) == (
        "Intervals before the options can be applied, to predict the live figures from: 1."
    )
    shifted.runs(1, reads=0.8)
    assert not application_waits_for(shifted.state)
    shifted.take(applying(shifted.state, OLD, "/db/ROCKTUNE_OPTIONS"))
    assert len(shifted.state.before) == 8


def test_a_result_for_an_earlier_workload_is_kept_and_not_applied(shifted: Store) -> None:
    shifted.runs(15, reads=0.1)
    assert shifted.events[-1] == "recognised"
    shifted.take(tuned(shifted.state, 2, RESULT))
    assert shifted.state.phase is Phase.OBSERVING
    shifted.runs(15, reads=0.8)
    assert (shifted.state.phase, shifted.state.current.live) == (Phase.PROPOSED, OPTIONS)


def test_a_change_before_the_confirmation_rolls_back_and_does_not_reject(shifted: Store) -> None:
    shifted.applies()
    shifted.runs(5, reads=0.1)
    assert str(shifted.state.phase) == "rolling back"
    shifted.take(written(shifted.state, 0))
    assert shifted.state.phase is Phase.LEARNING
    assert shifted.state.in_force == OLD
    assert {each.number: each.verdict for each in shifted.state.others}[2] is Verdict.PROVEN


def test_options_that_the_program_does_not_take_are_rolled_back(shifted: Store) -> None:
    shifted.applies()
    shifted.take(not_taken(shifted.state, "cf default write_buffer_size"))
    shifted.take(written(shifted.state, 0))
    assert shifted.state.current.verdict is Verdict.REJECTED


def test_a_workload_without_better_options_is_not_tuned_again(shifted: Store) -> None:
    shifted.take(tuned(shifted.state, 2, StudyResult(None, "Nothing is better.")))
    shifted.runs(30, reads=0.8)
    assert shifted.state.phase is Phase.OBSERVING
    assert shifted.state.current.verdict is Verdict.KEPT


def test_a_study_that_failed_for_the_moment_is_tried_again_some_times(shifted: Store) -> None:
    shifted.take(tuning_began(shifted.state, "w"))
    for attempt in range(1, 5):
        shifted.take(postponed(shifted.state, "no memory", "2026-03-05 22:00", "s1"))
        assert shifted.state.phase is Phase.TUNING
        assert (shifted.state.current.attempts, shifted.state.current.retry_at) == (
            attempt,
            "2026-03-05 22:00",
        )
        assert shifted.events[-1] == "postponed"
    step = postponed(shifted.state, "no memory", "2026-03-05 22:00", "s1")
    assert step.notes[0].event == "not tuned"
    assert step.notes[0].text == "no memory (attempt 5 of 5)"
    assert step.state.phase is Phase.OBSERVING
    assert step.state.current.verdict is Verdict.UNTUNED
    # With the same settings, it would fail as before.
    assert retried(step.state, "s1") is None
    again = retried(step.state, "s2")
    assert again is not None
    assert again.state.phase is Phase.TUNING
    assert (again.state.current.study, again.state.current.attempts) == ("", 0)
    assert retried(again.state, "s3") is None


def test_a_study_that_decides_nothing_is_followed_by_another_one(shifted: Store) -> None:
    shifted.take(tuning_began(shifted.state, "w"))
    step = undecided(shifted.state, "It was busy.", "2026-03-05 22:00", "s1")
    shifted.take(step)
    assert step.notes[0].text.startswith("It was busy. It is tried again from 2026-03-05 22:00 on (")
    assert shifted.state.phase is Phase.TUNING
    assert (shifted.state.current.study, shifted.state.current.attempts) == ("", 1)
    assert shifted.state.current.verdict is Verdict.UNKNOWN


def test_a_study_that_succeeds_forgets_its_failures(shifted: Store) -> None:
    shifted.take(tuning_began(shifted.state, "w"))
    shifted.take(postponed(shifted.state, "no memory", "2026-03-05 22:00", "s1"))
    shifted.take(tuned(shifted.state, 2, RESULT))
    assert (shifted.state.current.attempts, shifted.state.current.retry_at) == (0, "")
