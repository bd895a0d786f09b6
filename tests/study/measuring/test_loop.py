from collections.abc import Callable, Sequence

import pytest

from rocktune.errors import UserError
from rocktune.ledger import Ledger, StudyRecord
from rocktune.study.executors import executor_of
from rocktune.study.measuring.interrupt import Interrupt
from rocktune.study.measuring.loop import DIFFERED, Loop, StopRequested
from rocktune.study.measuring.observer import Observer
from rocktune.study.measuring.repeats import Phase
from rocktune.testing.synthetic_engine import Fault, SyntheticEngine, no_fault
from rocktune.trial import Batch, Configuration, Measurement, Result, Status, Trial

A, B, C = (Configuration({"speed": speed}) for speed in (1, 2, 3))
SPEC = {"workload": {"name": "w"}, "device": {"name": "d"}, "scale": 64}


class Recorder(Observer):
    def __init__(self) -> None:
        self.notes: list[str] = []
        self.finished: list[Trial] = []

    def trial_finished(self, result: Result) -> None:
        self.finished.append(result.trial)

    def note(self, text: str) -> None:
        self.notes.append(text)


def _engine(fault: Fault = no_fault, **settings: object) -> SyntheticEngine:
    return SyntheticEngine(
        lambda configuration: 1000.0 * float(configuration["speed"]), fault, **settings  # type: ignore[arg-type]
    )  # fmt: skip


def _loop(
    ledger: Ledger, engine: SyntheticEngine, observer: Observer | None = None, limit_bytes: int = 1 << 40
) -> tuple[Loop, StudyRecord]:
    study = ledger.create_study("study", SPEC)

    def opening(configuration: Configuration, replicate: int) -> tuple[None, Configuration, int]:
        return None, configuration, replicate

    def score(window: Measurement) -> float:
        return window.figures["throughput_ops_s"]

    interrupt = Interrupt(lambda: None)
    executor = executor_of(engine, limit_bytes)
    loop = Loop(executor, opening, score, ledger, study, observer or Recorder(), interrupt)  # type: ignore[arg-type]
    return loop, study


def _batches(*batches: Batch | Callable[[], Batch]) -> Phase[list[Sequence[Result]]]:
    results: list[Sequence[Result]] = []
    for batch in batches:
        answer = yield batch
        results.append(answer)
    return results


def _throughputs(results: Sequence[Sequence[Result]]) -> list[list[float]]:
    return [[result.figure("throughput_ops_s") for result in batch] for batch in results]


HALVING = (
    Batch((Trial(A, 2.0), Trial(B, 2.0), Trial(C, 2.0))),
    Batch((Trial(B, 3.0), Trial(C, 3.0)), ((A, 0),)),
)


def _with_a_twin_of_a(ledger: Ledger) -> StudyRecord:
    """Records B's trial as earlier versions did: with A's measurement, without cost, and with an event."""
    loop, study = _loop(ledger, _engine())
    loop.run("search", _batches(Batch((Trial(A, 2.0),))), True)
    first, trial = ledger.result(study, 0, 0), Trial(B, 2.0)
    assert first is not None
    ledger.plan_batch(study, "search", 1, (trial,), ())
    ledger.record(study, 1, 0, trial, first.measurement, Status.OK, "", 0.0, {"cf": {"speed": "1"}}, 0.0)
    ledger.add_event(study, "twin", {"batch": 1, "index": 0, "of_batch": 0, "of_index": 0})
    return study


def test_a_search_with_twins_of_an_earlier_version_goes_on(ledger: Ledger) -> None:
    study = _with_a_twin_of_a(ledger)
    engine = _engine(shared_noise=0, own_noise=0)
    loop, _ = _loop(ledger, engine)
    batches = Batch((Trial(A, 2.0),)), Batch((Trial(B, 2.0),)), Batch((Trial(B, 3.0),))
    (first,), (twin,), (older,) = loop.run("search", _batches(*batches), True)
    assert twin.measurement == first.measurement
    assert older.measurement is not None
    assert (older.measurement.from_s, older.measurement.until_s) == (0, 3)
    # A cost 2 s, its twin nothing; B's run is repeated up to 2 s and costs 1 s more.
    assert (engine.advanced_s, ledger.spent_s(study, "search")) == (3, 3)


def test_results_come_in_order_and_are_cumulative(ledger: Ledger) -> None:
    engine = _engine(shared_noise=0, own_noise=0)
    loop, study = _loop(ledger, engine)
    results = loop.run("search", _batches(*HALVING), True)
    assert _throughputs(results) == [[1000, 2000, 3000], [2000, 3000]]
    assert results[1][0].measurement is not None
    assert (results[1][0].measurement.from_s, results[1][0].measurement.until_s) == (0, 3)
    # 3 runs of 2 s, and two of them 1 s longer: 8 s.
    assert (engine.advanced_s, ledger.spent_s(study, "search")) == (8, 8)
    assert not engine.open_runs


def test_a_second_run_of_the_same_phases_measures_nothing(ledger: Ledger) -> None:
    loop, _ = _loop(ledger, _engine())
    first = loop.run("search", _batches(*HALVING), True)
    engine, observer = _engine(), Recorder()
    again, _ = _loop(ledger, engine, observer)
    assert again.run("search", _batches(*HALVING), True) == first
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
    whole, study = _loop(ledger, _engine())
    expected = whole.run("search", _batches(*batches), True)
    records = [(record.trial, record.measured_s) for record in ledger.trials(study)]
    ledger.delete_study("study")
    engine = _engine()
    dying, study = _loop(ledger, engine, Dying())
    with pytest.raises(Died):
        dying.run("search", _batches(*batches), True)
    assert not engine.open_runs
    observer = Recorder()
    resumed, _ = _loop(ledger, _engine(), observer)
    assert resumed.run("search", _batches(*batches), True) == expected
    assert [(record.trial, record.measured_s) for record in ledger.trials(study)] == records
    assert len(observer.finished) == 5 - trials


def test_a_deferred_batch_is_not_made_again(ledger: Ledger) -> None:
    made = []

    def make() -> Batch:
        made.append(1)
        return HALVING[0]

    for _ in range(2):
        loop, _ = _loop(ledger, _engine())
        loop.run("search", _batches(make), True)
    assert len(made) == 1


def test_a_run_lost_in_between_is_repeated_and_only_its_new_window_recorded(ledger: Ledger) -> None:
    loop, _ = _loop(ledger, _engine())
    loop.run("search", _batches(HALVING[0]), True)
    engine = _engine()
    resumed, study = _loop(ledger, engine)
    resumed.run("search", _batches(*HALVING), True)
    records = [record for record in ledger.trials(study) if record.batch == 1]
    assert [(record.measured_s, record.repeated_s) for record in records] == [(1, 2), (1, 2)]
    assert engine.advanced_s == 6
    assert ledger.spent_s(study, "search") == 8


@pytest.mark.parametrize("limit_bytes", [0, 1 << 20])
def test_discarded_parked_runs_change_no_result(ledger: Ledger, limit_bytes: int) -> None:
    generous, study = _loop(ledger, _engine())
    expected = generous.run("search", _batches(*HALVING), True)
    ledger.delete_study("study")
    engine = _engine()
    tight, study = _loop(ledger, engine, limit_bytes=limit_bytes)
    assert _throughputs(tight.run("search", _batches(*HALVING), True)) == _throughputs(expected)
    repeated_s = sum(record.repeated_s for record in ledger.trials(study))
    # With room for one run of 1 MiB the best, C, stays; B is run again to 2 s. Without room both are.
    assert repeated_s == (2 if limit_bytes else 4)
    assert engine.advanced_s == 8 + repeated_s


def test_an_engine_that_cannot_park_starts_over(ledger: Ledger) -> None:
    engine = _engine(can_park=False)
    loop, study = _loop(ledger, engine)
    results = loop.run("search", _batches(*HALVING), True)
    # A, B and C take 2 s each and two of them 3 s more, all from 0.
    assert (
        engine.advanced_s
        == ledger.spent_s(study, "search")
        == sum(trial.until_s for batch in HALVING for trial in batch.trials)
    )
    assert all(each.measurement and each.measurement.from_s == 0 for batch in results for each in batch)
    assert sum(record.repeated_s for record in ledger.trials(study)) == 0


def test_a_failure_is_a_result_and_is_charged(ledger: Ledger) -> None:
    engine = _engine(lambda configuration, _seed, until_s: Status.TIMED_OUT if configuration == B else None)
    loop, study = _loop(ledger, engine)
    results = loop.run("search", _batches(*HALVING), True)
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
    engine = _engine()
    loop, study = _loop(ledger, engine)
    batch = Batch((Trial(A, 2.0),))
    first, second = loop.run("search", _batches(batch, batch), True)
    assert first == second
    assert (engine.advanced_s, ledger.spent_s(study, "search")) == (2, 2)


def test_an_age_between_recorded_ones_cannot_be_had(ledger: Ledger) -> None:
    loop, _ = _loop(ledger, _engine())
    with pytest.raises(UserError, match="asks for a run at 1 s"):
        loop.run("search", _batches(Batch((Trial(A, 2.0),)), Batch((Trial(A, 1.0),))), True)


def test_differing_replay_is_told_and_starts_warm(ledger: Ledger) -> None:
    loop, study = _loop(ledger, _engine())
    loop.run("search", _batches(*HALVING, HALVING[1]), True)
    changed = (HALVING[0], Batch((Trial(A, 3.0), Trial(B, 3.0))), Batch((Trial(C, 3.0),)))
    engine, observer = _engine(), Recorder()
    resumed, _ = _loop(ledger, engine, observer)
    results = resumed.run("search", _batches(*changed), True)
    assert [trial.configuration for trial in observer.finished] == [A, B, C]
    # B and C had been measured to 3 s; only A goes on from 2 s.
    assert [configuration for configuration, _ in engine.opened] == [A]
    assert len(observer.notes) == 1
    assert "batch 1" in observer.notes[0]
    assert [event.payload["continues_at"] for event in ledger.events(study, DIFFERED)] == [3]
    last, observer = _engine(), Recorder()
    third, _ = _loop(ledger, last, observer)
    assert third.run("search", _batches(*changed), True) == results
    assert (last.opened, observer.notes) == ([], [])


def test_a_request_to_stop_ends_after_the_present_trial(ledger: Ledger) -> None:
    engine, observer = _engine(), Recorder()
    loop, study = _loop(ledger, engine, observer)
    loop._shared.interrupt.requested = True
    with pytest.raises(StopRequested):
        loop.run("search", _batches(*HALVING), True)
    assert [record.trial for record in ledger.trials(study)] == [Trial(A, 2.0)]
    assert not engine.open_runs


def test_whatever_breaks_leaves_no_run_open(ledger: Ledger) -> None:
    engine = _engine()
    loop, _ = _loop(ledger, engine)

    def broken() -> Phase[None]:
        yield HALVING[0]
        raise RuntimeError("a tuner's own bug")

    with pytest.raises(RuntimeError):
        loop.run("search", broken(), True)
    assert not engine.open_runs
