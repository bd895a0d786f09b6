import pytest
from tests.study.measuring.small_loops import (
    HALVING,
    A,
    B,
    C,
    Recorder,
    engine_of,
    loop_of,
    phase_of,
    throughputs,
)

from rocktune.errors import UserError
from rocktune.ledger import Ledger, StudyRecord
from rocktune.study.measuring.loop import DIFFERED, StopRequested
from rocktune.study.measuring.repeats import Phase
from rocktune.trial import Batch, Result, Status, Trial


def _with_a_twin_of_a(ledger: Ledger) -> StudyRecord:
    """Records B's trial as earlier versions did: with A's measurement, without cost, and with an event."""
    loop, study = loop_of(ledger, engine_of())
    loop.run("search", phase_of(Batch((Trial(A, 2.0),))), True)
    first, trial = ledger.result(study, 0, 0), Trial(B, 2.0)
    assert first is not None
    ledger.plan_batch(study, "search", 1, (trial,), ())
    ledger.record(study, 1, 0, trial, first.measurement, Status.OK, "", 0.0, {"cf": {"speed": "1"}}, 0.0)
    ledger.add_event(study, "twin", {"batch": 1, "index": 0, "of_batch": 0, "of_index": 0})
    return study


def test_a_search_with_twins_of_an_earlier_version_goes_on(ledger: Ledger) -> None:
    study = _with_a_twin_of_a(ledger)
    engine = engine_of(shared_noise=0, own_noise=0)
    loop, _ = loop_of(ledger, engine)
    batches = Batch((Trial(A, 2.0),)), Batch((Trial(B, 2.0),)), Batch((Trial(B, 3.0),))
    (first,), (twin,), (older,) = loop.run("search", phase_of(*batches), True)
    assert twin.measurement == first.measurement
    assert older.measurement is not None
    assert (older.measurement.from_s, older.measurement.until_s) == (0, 3)
    # A cost 2 s, its twin nothing; B's run is repeated up to 2 s and costs 1 s more.
    assert (engine.advanced_s, ledger.spent_s(study, "search")) == (3, 3)


def test_results_come_in_order_and_are_cumulative(ledger: Ledger) -> None:
    engine = engine_of(shared_noise=0, own_noise=0)
    loop, study = loop_of(ledger, engine)
    results = loop.run("search", phase_of(*HALVING), True)
    assert throughputs(results) == [[1000, 2000, 3000], [2000, 3000]]
    assert results[1][0].measurement is not None
    assert (results[1][0].measurement.from_s, results[1][0].measurement.until_s) == (0, 3)
    # 3 runs of 2 s, and two of them 1 s longer: 8 s.
    assert (engine.advanced_s, ledger.spent_s(study, "search")) == (8, 8)
    assert not engine.open_runs


def test_a_second_run_of_the_same_phases_measures_nothing(ledger: Ledger) -> None:
    loop, _ = loop_of(ledger, engine_of())
    first = loop.run("search", phase_of(*HALVING), True)
    engine, observer = engine_of(), Recorder()
    again, _ = loop_of(ledger, engine, observer)
    assert again.run("search", phase_of(*HALVING), True) == first
    assert (engine.opened, observer.finished, observer.notes) == ([], [], [])


@pytest.mark.parametrize("trials", range(1, 6))
@pytest.mark.parametrize("deferred", [False, True])
def test_dying_after_any_trial_changes_nothing(ledger: Ledger, trials: int, deferred: bool) -> None:
    class Died(BaseException): ...

    class Dying(Recorder):
        def trial_finished(self, result: Result) -> None:
            super().trial_finished(result)
            if len(self.finished) == trials:
                raise Died

    batches = [lambda batch=batch: batch for batch in HALVING] if deferred else HALVING
    whole, study = loop_of(ledger, engine_of())
    expected = whole.run("search", phase_of(*batches), True)
    records = [(record.trial, record.measured_s) for record in ledger.trials(study)]
    ledger.delete_study("study")
    engine = engine_of()
    dying, study = loop_of(ledger, engine, Dying())
    with pytest.raises(Died):
        dying.run("search", phase_of(*batches), True)
    assert not engine.open_runs
    observer = Recorder()
    resumed, _ = loop_of(ledger, engine_of(), observer)
    assert resumed.run("search", phase_of(*batches), True) == expected
    assert [(record.trial, record.measured_s) for record in ledger.trials(study)] == records
    assert len(observer.finished) == 5 - trials


def test_a_deferred_batch_is_not_made_again(ledger: Ledger) -> None:
    made = []

    def make() -> Batch:
        made.append(1)
        return HALVING[0]

    for _ in range(2):
        loop, _ = loop_of(ledger, engine_of())
        loop.run("search", phase_of(make), True)
    assert len(made) == 1


def test_a_run_lost_in_between_is_repeated_and_only_its_new_window_recorded(ledger: Ledger) -> None:
    loop, _ = loop_of(ledger, engine_of())
    loop.run("search", phase_of(HALVING[0]), True)
    engine = engine_of()
    resumed, study = loop_of(ledger, engine)
    resumed.run("search", phase_of(*HALVING), True)
    records = [record for record in ledger.trials(study) if record.batch == 1]
    assert [(record.measured_s, record.repeated_s) for record in records] == [(1, 2), (1, 2)]
    assert engine.advanced_s == 6
    assert ledger.spent_s(study, "search") == 8


@pytest.mark.parametrize("limit_bytes", [0, 1 << 20])
def test_discarded_parked_runs_change_no_result(ledger: Ledger, limit_bytes: int) -> None:
    generous, study = loop_of(ledger, engine_of())
    expected = generous.run("search", phase_of(*HALVING), True)
    ledger.delete_study("study")
    engine = engine_of()
    tight, study = loop_of(ledger, engine, limit_bytes=limit_bytes)
    assert throughputs(tight.run("search", phase_of(*HALVING), True)) == throughputs(expected)
    repeated_s = sum(record.repeated_s for record in ledger.trials(study))
    # With room for one run of 1 MiB the best, C, stays; B is run again to 2 s. Without room both are.
    assert repeated_s == (2 if limit_bytes else 4)
    assert engine.advanced_s == 8 + repeated_s


def test_an_engine_that_cannot_park_starts_over(ledger: Ledger) -> None:
    engine = engine_of(can_park=False)
    loop, study = loop_of(ledger, engine)
    results = loop.run("search", phase_of(*HALVING), True)
    # A, B and C take 2 s each and two of them 3 s more, all from 0.
    assert (
        engine.advanced_s
        == ledger.spent_s(study, "search")
        == sum(trial.until_s for batch in HALVING for trial in batch.trials)
    )
    assert all(each.measurement and each.measurement.from_s == 0 for batch in results for each in batch)
    assert sum(record.repeated_s for record in ledger.trials(study)) == 0


def test_a_failure_is_a_result_and_is_charged(ledger: Ledger) -> None:
    engine = engine_of(lambda configuration, _seed, until_s: Status.TIMED_OUT if configuration == B else None)
    loop, study = loop_of(ledger, engine)
    results = loop.run("search", phase_of(*HALVING), True)
    assert [result.status for batch in results for result in batch] == [
        "ok",
        "timed_out",
        "ok",
        "timed_out",
        "ok",
    ]
    assert results[1][0].message == "the run had failed before: made to fail as timed_out"
    assert len(engine.opened) == 3
    # A and C take 2 s each and C another; B costs the 2 s it was asked for once.
    assert ledger.spent_s(study, "search") == 7


def test_the_same_trial_asked_twice_is_measured_once(ledger: Ledger) -> None:
    engine = engine_of()
    loop, study = loop_of(ledger, engine)
    batch = Batch((Trial(A, 2.0),))
    first, second = loop.run("search", phase_of(batch, batch), True)
    assert first == second
    assert (engine.advanced_s, ledger.spent_s(study, "search")) == (2, 2)


def test_an_age_between_recorded_ones_cannot_be_had(ledger: Ledger) -> None:
    loop, _ = loop_of(ledger, engine_of())
    with pytest.raises(UserError, match="asks for a run at 1 s"):
        loop.run("search", phase_of(Batch((Trial(A, 2.0),)), Batch((Trial(A, 1.0),))), True)


def test_differing_replay_is_told_and_starts_warm(ledger: Ledger) -> None:
    loop, study = loop_of(ledger, engine_of())
    loop.run("search", phase_of(*HALVING, HALVING[1]), True)
    changed = (HALVING[0], Batch((Trial(A, 3.0), Trial(B, 3.0))), Batch((Trial(C, 3.0),)))
    engine, observer = engine_of(), Recorder()
    resumed, _ = loop_of(ledger, engine, observer)
    results = resumed.run("search", phase_of(*changed), True)
    assert [trial.configuration for trial in observer.finished] == [A, B, C]
    # B and C had been measured to 3 s; only A goes on from 2 s.
    assert [configuration for configuration, _ in engine.opened] == [A]
    assert len(observer.notes) == 1
    assert "batch 1" in observer.notes[0]
    assert [event.payload["continues_at"] for event in ledger.events(study, DIFFERED)] == [3]
    last, observer = engine_of(), Recorder()
    third, _ = loop_of(ledger, last, observer)
    assert third.run("search", phase_of(*changed), True) == results
    assert (last.opened, observer.notes) == ([], [])


def test_a_request_to_stop_ends_after_the_present_trial(ledger: Ledger) -> None:
    engine, observer = engine_of(), Recorder()
    loop, study = loop_of(ledger, engine, observer)
    loop._shared.interrupt.requested = True
    with pytest.raises(StopRequested):
        loop.run("search", phase_of(*HALVING), True)
    assert [record.trial for record in ledger.trials(study)] == [Trial(A, 2.0)]
    assert not engine.open_runs


def test_whatever_breaks_leaves_no_run_open(ledger: Ledger) -> None:
    engine = engine_of()
    loop, _ = loop_of(ledger, engine)

    def broken() -> Phase[None]:
        yield HALVING[0]
        raise RuntimeError("a tuner's own bug")

    with pytest.raises(RuntimeError):
        loop.run("search", broken(), True)
    assert not engine.open_runs
