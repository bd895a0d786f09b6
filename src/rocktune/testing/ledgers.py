"""What every database under a ledger must do.

A test file for a new database needs one fixture beside the class:

    class TestMyDatabase(LedgerConformance):
        @pytest.fixture
        def ledger_url(self) -> str: return "mydatabase://..."      # an empty database for each test
"""

import math
import multiprocessing
import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection

import pytest

from rocktune.errors import UserError
from rocktune.ledger import AlreadyRecordedError, Ledger, StudyRecord, open_ledger
from rocktune.testing.synthetic import synthetic_window
from rocktune.trial import Batch, Configuration, Measurement, Status, Trial

SPEC = {"workload": {"name": "w", "keys": 10}, "device": {"name": "d"}, "scale": 64, "budget_s": 0.1 + 0.2}
FIRST, SECOND = Configuration({"a": 1, "b": 0.1}), Configuration({"a": 2, "c": True, "d": "x"})
# Doubles whose decimal forms are easily cut short, and integers that a double does not hold.
AWKWARD = {"third": 1 / 3, "sum": 0.1 + 0.2, "tiny": 5e-324, "huge": 1.7976931348623157e308, "big": 2**53 + 1}


def _measured(
    ledger: Ledger, study: StudyRecord, batch: int, trial: Trial, window: Measurement | None
) -> None:
    """Plans and records a batch of one trial that went well."""
    ledger.plan_batch(study, "search", batch, [trial])
    seconds = 0.0 if window is None else window.seconds
    ledger.record(study, batch, 0, trial, window, Status.OK, seconds=seconds)


def _hold_lock(url: str, name: str, ready: Connection) -> None:
    """Runs in a process of its own: takes the study's lock and keeps it until killed."""
    with open_ledger(url) as ledger, ledger.lock(ledger.study(name)):
        ready.send(os.getpid())
        signal.pause()


def _record_until_killed(url: str, name: str, ready: Connection) -> None:
    """Runs in a process of its own: records one trial after the other until killed."""
    with open_ledger(url) as ledger:
        study = ledger.study(name)
        for batch in range(10_000):
            _measured(ledger, study, batch, Trial(FIRST, batch + 1.0), synthetic_window(batch, batch + 1.0))
            if batch == 5:
                ready.send(os.getpid())


class LedgerConformance:
    """Subclass it with a fixture `ledger_url`: the URL of a database that is empty in each test."""

    @pytest.fixture
    def ledger(self, ledger_url: str) -> Iterator[Ledger]:
        """An open ledger in an empty database."""
        with open_ledger(ledger_url) as ledger:
            yield ledger

    @pytest.fixture
    def study(self, ledger: Ledger) -> StudyRecord:
        """A study without trials."""
        return ledger.create_study("study", SPEC, "RocksDB 7.8.3")

    def test_a_study_is_the_same_when_the_ledger_is_opened_again(
        self, study: StudyRecord, ledger_url: str
    ) -> None:
        """Name, specification, engine and time are kept; equal settings return the same study."""
        assert study.spec == SPEC
        assert (study.state, study.engine_version) == ("created", "RocksDB 7.8.3")
        with open_ledger(ledger_url) as again:
            assert again.study("study") == study
            assert again.studies() == [study]
            assert again.create_study("study", dict(reversed(SPEC.items()))) == study

    def test_a_name_taken_with_other_settings_is_refused(self, ledger: Ledger, study: StudyRecord) -> None:
        """The error says which setting differs; the study is untouched."""
        with pytest.raises(UserError, match=r"study 'study': .*scale was 64, now 32"):
            ledger.create_study("study", {**SPEC, "scale": 32})
        assert ledger.studies() == [study]

    def test_names_are_told_apart_to_the_last_character(self, ledger: Ledger) -> None:
        """By case, accent and trailing space, and from all of Unicode, up to the longest."""
        names = ["name", "Name", "name ", " name", "namé", "straße", "strasse", "𝒩" * 199 + "a", "𝒩" * 200]
        for number, name in enumerate(names):
            ledger.create_study(name, {"number": number})
        assert [(record.name, record.spec["number"]) for record in ledger.studies()] == [
            (name, number) for number, name in enumerate(names)
        ]
        for number, name in enumerate(names):
            assert ledger.study(name).spec == {"number": number}

    def test_long_and_strange_texts_are_kept(self, ledger: Ledger, study: StudyRecord) -> None:
        """Messages and payloads of megabytes; of characters only NUL is given up, in messages."""
        long = "𝒩'\"\\%\n\t\r`" * 100_000
        trials = [Trial(FIRST, 1.0), Trial(SECOND, 1.0)]
        ledger.plan_batch(study, "search", 0, trials)
        ledger.record(study, 0, 0, trials[0], None, Status.CRASHED, long)
        ledger.record(study, 0, 1, trials[1], None, Status.CRASHED, "a\0b")
        ledger.add_event(study, "output", {"output": long + "\0"})
        assert [record.message for record in ledger.trials(study)] == [long, "a\ufffdb"]
        assert ledger.events(study)[0].payload == {"output": long + "\0"}

    @pytest.mark.usefixtures("study")
    def test_an_unknown_study_suggests_the_nearest(self, ledger: Ledger) -> None:
        """As every other name does."""
        with pytest.raises(UserError, match="unknown study 'studdy': did you mean 'study'"):
            ledger.study("studdy")

    def test_an_empty_ledger_says_so(self, ledger: Ledger) -> None:
        """There is no name to suggest."""
        with pytest.raises(UserError, match="has no study yet"):
            ledger.study("study")

    def test_deleting_takes_everything_of_that_study_alone(self, ledger: Ledger, study: StudyRecord) -> None:
        """A new study of the same name starts empty; another one keeps its trials."""
        other = ledger.create_study("other", SPEC, "RocksDB 7.8.3")
        for each in (study, other):
            _measured(ledger, each, 0, Trial(FIRST, 1.0), synthetic_window(0.0, 1.0))
            ledger.add_event(each, "note", {})
        ledger.delete_study("study")
        again = ledger.create_study("study", SPEC)
        assert again.id not in (study.id, other.id)
        assert ledger.trials(again) == []
        assert ledger.events(again) == []
        assert len(ledger.trials(other)) == 1

    def test_state_and_outcome(self, ledger: Ledger, study: StudyRecord) -> None:
        """The last one given counts."""
        assert ledger.outcome(study) is None
        for ratio in (1.5, 0.1 + 0.2):
            ledger.set_outcome(study, {"ratio": ratio})
        ledger.set_state(study, "finished")
        assert ledger.outcome(study) == {"ratio": 0.1 + 0.2}
        assert ledger.study("study").state == "finished"

    def test_events_in_order_and_by_kind(self, ledger: Ledger, study: StudyRecord) -> None:
        """Payloads come back as they were."""
        for kind, value in (("a", 1), ("b", 2), ("a", 3)):
            ledger.add_event(study, kind, {"value": value})
        assert [event.payload["value"] for event in ledger.events(study)] == [1, 2, 3]
        assert [event.payload["value"] for event in ledger.events(study, "a")] == [1, 3]

    def test_a_planned_batch_comes_back_as_it_was(self, ledger: Ledger, study: StudyRecord) -> None:
        """Trials in order, equal ones too, ages to the bit, and the released runs."""
        batch = Batch(
            (Trial(SECOND, 1 / 3), Trial(FIRST, 0.1 + 0.2, 7), Trial(SECOND, 2.0)), ((FIRST, 0), (SECOND, 3))
        )
        ledger.plan_batch(study, "search", 0, batch.trials, batch.release)
        ledger.plan_batch(study, "prove", 1, [])
        assert ledger.planned_batch(study, 0) == batch
        assert ledger.planned_batch(study, 1) == Batch(())
        assert ledger.planned_batch(study, 2) is None
        assert ledger.result(study, 0, 0) is None
        assert ledger.trials(study) == []

    def test_a_batch_is_planned_once(self, ledger: Ledger, study: StudyRecord) -> None:
        """The first plan stands."""
        ledger.plan_batch(study, "search", 0, [Trial(FIRST, 1.0)])
        with pytest.raises(AlreadyRecordedError, match="batch 0"):
            ledger.plan_batch(study, "search", 0, [Trial(SECOND, 1.0)])
        assert ledger.planned_batch(study, 0) == Batch((Trial(FIRST, 1.0),))

    def test_figures_come_back_to_the_bit(self, ledger: Ledger, study: StudyRecord) -> None:
        """Every number of a window, whatever its digits and wherever it stands."""
        window = synthetic_window(0.0, 1 / 3, 12345.678, 98.7654321)
        window.raw["tickers"] |= AWKWARD
        window.raw["memory_bytes"] |= AWKWARD
        window.raw["series"]["stalled_s"] = list(AWKWARD.values())
        trial = Trial(FIRST, 1 / 3)
        _measured(ledger, study, 0, trial, window)
        result = ledger.result(study, 0, 0)
        assert result is not None
        assert result.measurement is not None
        assert result.trial == trial
        assert result.measurement.raw == window.raw
        assert {name: type(value) for name, value in result.measurement.raw["tickers"].items()} == {
            name: type(value) for name, value in window.raw["tickers"].items()
        }

    def test_a_result_is_cumulative(self, ledger: Ledger, study: StudyRecord) -> None:
        """Windows add up to the trial's own age, not to the run's; other replicates stay apart."""
        first, second = synthetic_window(0.0, 1.0, 1000.0), synthetic_window(1.0, 3.0, 4000.0)
        _measured(ledger, study, 0, Trial(FIRST, 1.0), first)
        _measured(ledger, study, 1, Trial(FIRST, 1.0, 1), synthetic_window(0.0, 1.0, 7.0))
        _measured(ledger, study, 2, Trial(FIRST, 3.0), second)
        results = [ledger.result(study, batch, 0) for batch in range(3)]
        assert all(result is not None for result in results)
        # 1,000 operations in the first second and 8,000 in the next two: 9,000 in 3 s.
        assert [result.figure("throughput_ops_s") for result in results if result] == [1000.0, 7.0, 3000.0]
        assert results[2] is not None
        assert results[2].measurement == first.merged(second)
        assert [record.result for record in ledger.trials(study)] == results
        ages = [ledger.run_age(study, *run) for run in ((FIRST, 0), (FIRST, 1), (SECOND, 0))]
        assert ages == [3.0, 1.0, 0.0]

    def test_what_a_trial_record_says(self, ledger: Ledger, study: StudyRecord) -> None:
        """Cost, overhead, options, message; failed trials have no figures; planned ones are not there yet."""
        trials = [Trial(FIRST, 2.0), Trial(SECOND, 2.0), Trial(SECOND, 4.0)]
        ledger.plan_batch(study, "search", 0, trials)
        options = {"db": {"max_open_files": "-1"}, "cf": {}, "table": {"block_size": "4096"}}
        ledger.record(study, 0, 1, trials[1], None, Status.OUT_OF_DISK, "disk full", 0.5)
        window = synthetic_window(0.0, 2.0)
        ledger.record(study, 0, 0, trials[0], window, Status.OK, "", 1.7, options, 0.3)
        good, bad = ledger.trials(study)
        assert (good.phase, good.batch, good.index, good.trial) == ("search", 0, 0, trials[0])
        assert (good.measured_s, good.repeated_s, good.options) == (1.7, 0.3, options)
        assert good.measurement == window
        assert (bad.index, bad.status, bad.message) == (1, Status.OUT_OF_DISK, "disk full")
        assert (bad.measurement, bad.options) == (None, {})
        assert bad.recorded_at <= good.recorded_at
        assert math.isnan(bad.result.figure("throughput_ops_s"))
        assert ledger.result(study, 0, 1) == bad.result
        assert ledger.run_age(study, SECOND, 0) == 0.0

    def test_what_a_phase_has_spent(self, ledger: Ledger, study: StudyRecord) -> None:
        """Failed trials count with what they cost; other phases do not."""
        trials = [Trial(FIRST, 2.0), Trial(SECOND, 2.0)]
        ledger.plan_batch(study, "search", 0, trials)
        ledger.record(study, 0, 0, trials[0], synthetic_window(0.0, 2.0), Status.OK, seconds=2.0)
        ledger.record(study, 0, 1, trials[1], None, Status.CRASHED, "signal 11", seconds=0.5)
        assert (ledger.spent_s(study, "search"), ledger.spent_s(study, "prove")) == (2.5, 0.0)

    def test_nothing_is_recorded_twice(self, ledger: Ledger, study: StudyRecord) -> None:
        """Neither a trial nor, in another trial, a run's window; the first stays."""
        trial, window = Trial(FIRST, 1.0), synthetic_window(0.0, 1.0)
        _measured(ledger, study, 0, trial, window)
        with pytest.raises(AlreadyRecordedError):
            ledger.record(study, 0, 0, trial, window, Status.OK, seconds=1.0)
        ledger.plan_batch(study, "search", 1, [trial])
        with pytest.raises(AlreadyRecordedError):
            ledger.record(study, 1, 0, trial, window, Status.OK, seconds=1.0)
        assert ledger.spent_s(study, "search") == 1.0
        assert ledger.result(study, 1, 0) is None

    def test_recorded_windows_answer_the_same_question_again(
        self, ledger: Ledger, study: StudyRecord
    ) -> None:
        """Without a window and at no cost, but only at an age at which a window ends."""
        _measured(ledger, study, 0, Trial(FIRST, 1.0), synthetic_window(0.0, 1.0))
        _measured(ledger, study, 1, Trial(FIRST, 1.0), None)
        ledger.plan_batch(study, "search", 2, [Trial(FIRST, 0.5)])
        with pytest.raises(ValueError, match="no recorded window"):
            ledger.record(study, 2, 0, Trial(FIRST, 0.5), None, Status.OK)
        first, second = (ledger.result(study, batch, 0) for batch in (0, 1))
        assert first == second
        assert ledger.result(study, 2, 0) is None

    @pytest.mark.parametrize("number", [math.nan, math.inf])
    def test_what_is_no_number_is_refused(self, ledger: Ledger, study: StudyRecord, number: float) -> None:
        """NaN is a status: a figure that has no value cannot be recorded as `ok`."""
        window = synthetic_window(0.0, 1.0)
        window.raw["cpu_s"] = number
        ledger.plan_batch(study, "search", 0, [Trial(FIRST, 1.0)])
        with pytest.raises(ValueError, match="not JSON compliant"):
            ledger.record(study, 0, 0, Trial(FIRST, 1.0), window, Status.OK)
        assert ledger.result(study, 0, 0) is None

    def test_only_what_was_planned_is_recorded(self, ledger: Ledger, study: StudyRecord) -> None:
        """Another configuration, age or place, and figures of a failed trial, are the caller's errors."""
        ledger.plan_batch(study, "search", 0, [Trial(FIRST, 1.0)])
        window = synthetic_window(0.0, 1.0)
        for index, trial in ((0, Trial(SECOND, 1.0)), (0, Trial(FIRST, 2.0)), (1, Trial(FIRST, 1.0))):
            with pytest.raises(ValueError, match="was not planned"):
                ledger.record(study, 0, index, trial, window, Status.OK)
        with pytest.raises(ValueError, match="has no figures"):
            ledger.record(study, 0, 0, Trial(FIRST, 1.0), window, Status.CRASHED)

    @pytest.mark.usefixtures("ledger")
    def test_studies_are_recorded_side_by_side(self, ledger_url: str) -> None:
        """Also while others, of the same experiment and of the same name, are created and deleted."""

        def record(name: str) -> None:
            with open_ledger(ledger_url) as ledger:
                study = ledger.create_study(name, SPEC)
                for batch in range(10):
                    trial = Trial(Configuration({"n": batch}), 1.0)
                    _measured(ledger, study, batch, trial, synthetic_window(0.0, 1.0))
                assert ledger.spent_s(study, "search") == 10.0

        def create_and_delete(name: str) -> None:
            with open_ledger(ledger_url) as ledger:
                for _ in range(10):
                    ledger.create_study(name, SPEC)
                    ledger.delete_study(name)

        jobs = [(record, "one"), (record, "two"), (create_and_delete, "three"), (create_and_delete, "four")]
        with ThreadPoolExecutor(len(jobs)) as pool:
            for future in [pool.submit(job, name) for job, name in jobs]:
                future.result()

    def test_one_writer_per_study(self, ledger: Ledger, study: StudyRecord) -> None:
        """The lock excludes the same process too, forbids to delete the study, and ends with its context."""
        other = ledger.create_study("other", SPEC)
        with ledger.lock(study), ledger.lock(other):
            with (
                pytest.raises(UserError, match="'study' is being run by another process"),
                ledger.lock(study),
            ):
                pass
            with pytest.raises(UserError, match="is being run"):
                ledger.delete_study("study")
        with ledger.lock(study):
            pass

    def test_a_killed_process_loses_its_lock(
        self, ledger: Ledger, study: StudyRecord, ledger_url: str
    ) -> None:
        """The error names the study and its holder while that one lives; kill -9 is enough to free it."""
        process, pid = _started(_hold_lock, ledger_url)
        refused = rf"'study' is being run .*{self.holder(pid)}"
        with pytest.raises(UserError, match=refused), ledger.lock(study):
            pass
        process.kill()
        process.join()
        lock_when_freed(ledger, study)

    def holder(self, pid: int) -> str:
        """Returns the pattern of what a refusal says of the process that holds a lock."""
        return rf"pid {pid}\b"

    def test_a_killed_process_leaves_whole_trials(
        self, ledger: Ledger, study: StudyRecord, ledger_url: str
    ) -> None:
        """Whatever is there reads back whole, and recording goes on where it stopped."""
        process, _ = _started(_record_until_killed, ledger_url)
        process.kill()
        process.join()
        records = ledger.trials(study)
        assert len(records) >= 6
        assert [record.batch for record in records] == list(range(len(records)))
        assert all(record.measurement is not None for record in records)
        age, following = len(records), Trial(FIRST, len(records) + 1.0)
        if ledger.planned_batch(study, age) is None:
            ledger.plan_batch(study, "search", age, [following])
        ledger.record(study, age, 0, following, synthetic_window(age, age + 1.0), Status.OK, seconds=1.0)
        assert ledger.run_age(study, FIRST, 0) == age + 1.0


def _started(target: object, url: str) -> tuple[multiprocessing.Process, int]:
    """Starts `target(url, "study", pipe)` in a fresh process and waits until it says its pid."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=target, args=(url, "study", theirs), daemon=True)  # type: ignore[arg-type]
    process.start()
    theirs.close()
    return process, ours.recv()  # type: ignore[return-value]


def lock_when_freed(ledger: Ledger, study: StudyRecord) -> None:
    """Takes the lock; a database server may need a moment to notice that its client is gone."""
    for attempt in range(100):
        try:
            with ledger.lock(study):
                return
        except UserError:
            if attempt == 99:
                raise
            signal.sigtimedwait([], 0.1)
