"""Disturbed runs are measured again, and the phase does not notice it."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import pytest
from tests.study.measuring.small_loops import HALVING, A, B, C, Recorder, engine_of, loop_of, phase_of

from rocktune.ledger import Ledger, TrialRecord
from rocktune.study import seeds
from rocktune.study.executors import LocalExecutor
from rocktune.study.measuring.disturbance import MAX_REPEATS
from rocktune.study.measuring.kept import disturbed_s, kept_trials
from rocktune.study.measuring.repeats import Phase
from rocktune.study.proving.verification import interleaved
from rocktune.study.specs.spec import DISTURBED_SHARE
from rocktune.testing.dying import Died
from rocktune.testing.synthetic import synthetic_window
from rocktune.testing.synthetic_engine import SyntheticEngine
from rocktune.trial import Batch, Configuration, Result, Status, Trial

AGAIN = seeds.repeat_of(0)
"""The replicate of a search's first repeat."""


class Script(Recorder):
    """Says how much others disturb each window, by the number of trials that were recorded before it."""

    def __init__(self, *shares: float, dies_after: int = -1) -> None:
        super().__init__()
        self.delayed_s: list[float] = []
        self._shares = shares
        self._dies_after = dies_after

    def share(self) -> float:
        return self._shares[len(self.finished)] if len(self.finished) < len(self._shares) else 0.0

    def trial_finished(self, result: Result) -> None:
        super().trial_finished(result)
        if len(self.finished) == self._dies_after:
            raise Died

    def delayed(self, seconds: float) -> None:
        self.delayed_s.append(seconds)


def run(
    ledger: Ledger,
    script: Script,
    phase: Phase[list[Sequence[Result]]],
    continues_runs: bool = True,
    on_result: Callable[[Result], None] | None = None,
) -> tuple[SyntheticEngine, list[Sequence[Result]]]:
    engine = engine_of(others_share=script.share)
    loop, _ = loop_of(ledger, engine, script)
    return engine, loop.run("search", phase, continues_runs, on_result)


def measured(ledger: Ledger) -> list[list[Trial]]:
    """Returns the trials of each batch."""
    batches: dict[int, list[Trial]] = {}
    for record in ledger.trials(ledger.study("study")):
        batches.setdefault(record.batch, []).append(record.trial)
    return list(batches.values())


def kept(ledger: Ledger) -> list[TrialRecord]:
    return list(kept_trials(ledger, ledger.study("study")))


def test_a_disturbed_run_is_measured_again_from_age_0_with_equal_random_numbers(ledger: Ledger) -> None:
    script = Script(0.0, 0.3, 0.0, 0.02)
    seen: list[Result] = []
    engine, results = run(ledger, script, phase_of(*HALVING), on_result=seen.append)
    again = [Trial(B, 2.0, AGAIN)], [Trial(B, 3.0, AGAIN), Trial(C, 3.0)]
    assert measured(ledger) == [list(HALVING[0].trials), *again]
    assert [[result.trial for result in batch] for batch in results] == [list(b.trials) for b in HALVING]
    # A, B and C take 2 s, the repeat 2 s, B and C another second.
    assert engine.advanced_s == 10
    assert not any(result.disturbed for batch in results for result in batch)
    # The repeat's share, not the first run's.
    assert results[0][1].figure("others_cpu_share") == pytest.approx(0.02)
    # The result of the disturbed run follows the others of its batch.
    assert [result.trial.configuration for result in seen] == [A, C, B, B, C]
    assert sum(script.delayed_s) == 2.0
    assert script.notes == [
        "1 of 3 runs were disturbed: other programs used more than 10% of the processors. They are measured "
        "again."
    ]


def test_the_study_pays_for_repeats_and_the_budget_does_not(ledger: Ledger) -> None:
    run(ledger, Script(0.0, 0.3, 0.0), phase_of(*HALVING))
    study = ledger.study("study")
    assert [record.measured_s for record in kept(ledger)] == [2, 2, 2, 1, 1]
    assert [record.trial for record in kept(ledger)] == [trial for batch in HALVING for trial in batch.trials]
    assert disturbed_s(ledger, study) == 2
    assert ledger.spent_s(study, "search") == 10


def test_a_run_disturbed_in_a_later_window_begins_again(ledger: Ledger) -> None:
    # B's window from 2 to 3 s has 0.6, so that the run has 0.2 from age 0 on.
    later = Batch((Trial(B, 4.0),), ((C, 0),))
    engine, results = run(ledger, Script(0.0, 0.0, 0.0, 0.6), phase_of(*HALVING, later))
    assert measured(ledger)[2:] == [[Trial(B, 3.0, AGAIN)], [Trial(B, 4.0, AGAIN)]]
    assert engine.advanced_s == 2 * 3 + 1 + 1 + 3 + 1
    (last,) = results[-1]
    assert last.trial == Trial(B, 4.0)
    assert last.figure("others_cpu_share") == 0
    assert [record.measured_s for record in kept(ledger)] == [2, 2, 2, 1, 1, 1]


def test_a_short_disturbance_of_a_long_run_is_tolerated(ledger: Ledger) -> None:
    run(ledger, Script(0.0, 0.0, 0.0, 0.29), phase_of(*HALVING))
    assert len(measured(ledger)) == 2


def test_what_was_replaced_is_released_at_once(ledger: Ledger) -> None:
    open_at: list[int] = []

    class Watching(Script):
        def trial_finished(self, result: Result) -> None:
            super().trial_finished(result)
            open_at.append(len(engine.open_runs))

    script = Watching(0.0, 0.3, 0.0, 0.0)
    engine = engine_of(others_share=script.share)
    loop, study = loop_of(ledger, engine, script)
    loop.run("search", phase_of(*HALVING, Batch((Trial(C, 4.0),), ((B, 0),))), True)
    # Three runs; B's first one goes when its repeat begins, A with the second batch, B with the third.
    assert open_at == [1, 2, 3, 3, 2, 2, 1]
    releases = [ledger.planned_batch(study, number) for number in range(4)]
    assert [batch and batch.release for batch in releases] == [
        (),
        ((B, 0),),
        ((A, 0),),
        ((B, AGAIN),),
    ]


def test_after_three_repeats_the_least_disturbed_attempt_counts(ledger: Ledger) -> None:
    script = Script(0.5, 0.4, 0.2, 0.3)
    batches = Batch((Trial(A, 2.0),)), Batch((Trial(A, 3.0),))
    engine, results = run(ledger, script, phase_of(*batches))
    replicates = [trials[0].replicate // AGAIN for trials in measured(ledger)]
    # The third attempt was released when the fourth began, so that its first 2 s are loaded again.
    assert (replicates, engine.advanced_s) == ([0, 1, 2, 3, 2], 4 * 2 + 3)
    assert results[0][0].figure("others_cpu_share") == pytest.approx(0.2)
    assert (results[0][0].disturbed, results[1][0].disturbed) == (True, True)
    assert [record.result for record in kept(ledger)] == [result for batch in results for result in batch]
    # The fourth attempt stays parked until the next batch.
    last = ledger.planned_batch(ledger.study("study"), 4)
    assert last is not None
    assert last.release == ((A, 3 * AGAIN),)
    assert "1 of 1 runs stayed disturbed" in script.notes[3]


def test_a_run_is_repeated_three_times_over_its_whole_life(ledger: Ledger) -> None:
    batches = [Batch((Trial(A, age_s),)) for age_s in (1.0, 2.0, 3.0)]
    engine, _ = run(ledger, Script(*[0.5] * 20), phase_of(*batches))
    assert max(trial.replicate for trials in measured(ledger) for trial in trials) == 3 * AGAIN
    assert len(engine.opened) == 1 + MAX_REPEATS + 1


def test_a_repeat_that_fails_counts(ledger: Ledger) -> None:
    script = Script(0.3)
    engine = engine_of(
        lambda _configuration, seed, _until_s: Status.CRASHED if seed else None, others_share=script.share
    )
    loop, _ = loop_of(ledger, engine, script)
    ((result,),) = loop.run("search", phase_of(Batch((Trial(A, 2.0),))), True)
    assert (result.status, result.trial) == (Status.CRASHED, Trial(A, 2.0))
    assert [record.status for record in kept(ledger)] == [Status.CRASHED]


def test_pairs_are_repeated_whole_and_chosen_whole(ledger: Ledger) -> None:
    # Replicates 300 and 301 with A and B; the second run of 301 is disturbed. Its four attempts have 0.4, 0.3
    # (in one run each), 0.2 and 0.25.
    script = Script(0.0, 0.0, 0.0, 0.4, 0.3, 0.0, 0.0, 0.2, 0.25, 0.25)
    engine = engine_of(others_share=script.share)
    loop, study = loop_of(ledger, engine, script)
    runs = loop.run("prove", interleaved((A, B), (300, 301), 2.0), continues_runs=False, paired=True)
    batches = measured(ledger)
    assert [len(batch) for batch in batches] == [4, 2, 2, 2]
    assert all({trial.replicate % AGAIN for trial in batch} == {301} for batch in batches[1:])
    found = [runs[each][1].figure("others_cpu_share") for each in (B, A)]
    # Of the third attempt, B's run first, as in the pair's original.
    assert found == pytest.approx([0.0, 0.2])
    assert [result.disturbed for result in (*runs[A], *runs[B])] == [False, True, False, False]
    assert [result.trial.replicate for result in runs[A]] == [300, 301]
    assert not any(ledger.planned_batch(study, number).release for number in range(4))  # type: ignore[union-attr]
    assert "1 of 4 runs were disturbed" in script.notes[0]
    assert script.notes[0].endswith("The 2 runs of their pairs are measured again.")


def test_engines_that_do_not_count_others_are_never_disturbed(ledger: Ledger) -> None:
    window = synthetic_window(0, 2.0, others_share=0.5)
    assert window.others_share == window.figures["others_cpu_share"] == 0.5
    # A recorded table reports the figure of the recorded run, which no repeat changes.
    recorded = replace(window, raw={"from_s": 0, "until_s": 2, "figures": window.figures})
    assert recorded.figures["others_cpu_share"] == 0.5
    assert not recorded.others_share > DISTURBED_SHARE


def test_lanes_that_disturb_each_other_repeat_nothing_and_a_single_one_may_continue(ledger: Ledger) -> None:
    def searched(script: Script, is_parallel: bool, *batches: Batch) -> list[Sequence[Result]]:
        engine = engine_of(others_share=script.share)
        executor = LocalExecutor([engine])
        executor.is_parallel = is_parallel
        loop, _ = loop_of(ledger, executor, script)
        return loop.run("search", phase_of(*batches), True)

    several = Script(0.5, 0.5, 0.5)
    searched(several, True, HALVING[0])
    assert (len(measured(ledger)), several.notes) == (1, [])
    # The single lane finds nothing to repeat in the record, and in runs that go on from there.
    alone = Script(0.5, 0.5, 0.5)
    results = searched(alone, False, *HALVING, Batch((Trial(Configuration({"speed": 4}), 1.0),)))
    assert [len(batch) for batch in measured(ledger)] == [3, 2, 1, 1]
    assert len(alone.notes) == 1
    # Several lanes replay the single one's repeat.
    again = Script()
    more = (*HALVING, Batch((Trial(Configuration({"speed": 4}), 1.0),)))
    assert searched(again, True, *more) == results
    assert (again.finished, again.notes) == ([], [])


@pytest.mark.parametrize("deferred", [False, True])
@pytest.mark.parametrize("trials", range(1, 12))
def test_dying_after_any_trial_changes_nothing(ledger: Ledger, trials: int, deferred: bool) -> None:
    # B is repeated three times at 2 s; C once there, and twice at 3 s, where it stays disturbed.
    shares = (0.0, 0.3, 0.2, 0.2, 0.0, 0.15, 0.0, 0.0, 0.9, 0.2, 0.12)
    made: list[Batch] = []

    def batches() -> list[Batch | Callable[[], Batch]]:
        def make(batch: Batch) -> Batch:
            made.append(batch)
            return batch

        return [partial(make, batch) for batch in HALVING] if deferred else [*HALVING]

    script = Script(*shares)
    _, expected = run(ledger, script, phase_of(*batches()))
    records = [(each.trial, each.measured_s) for each in ledger.trials(ledger.study("study"))]
    assert len(records) == 11
    ledger.delete_study("study")
    made.clear()
    dying = Script(*shares, dies_after=trials)
    with pytest.raises(Died):
        run(ledger, dying, phase_of(*batches()))
    resumed = Script(*shares)
    resumed.finished = dying.finished.copy()
    engine, results = run(ledger, resumed, phase_of(*batches()))
    assert results == expected
    assert [(each.trial, each.measured_s) for each in ledger.trials(ledger.study("study"))] == records
    assert len(resumed.finished) == len(records)
    assert not engine.open_runs
    assert len(made) == (2 if deferred else 0)
    # Each repeat is announced once, however often the study is resumed.
    assert dying.notes + resumed.notes == script.notes
    assert len(script.notes) == 3 + 2 + 1


def test_a_repeat_recorded_in_part_does_not_count(ledger: Ledger) -> None:
    ages = Batch((Trial(A, 1.0), Trial(A, 2.0)))
    with pytest.raises(Died):
        run(ledger, Script(0.0, 0.5, 0.0, dies_after=3), phase_of(ages))
    assert [record.measured_s for record in kept(ledger)] == [1, 1]
    assert kept(ledger)[0].result.figure("others_cpu_share") == 0
    assert disturbed_s(ledger, ledger.study("study")) == 1
