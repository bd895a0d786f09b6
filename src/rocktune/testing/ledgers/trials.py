"""Conformance tests of what a ledger does with batches, trials and windows."""

import math

import pytest

from rocktune.ledger import AlreadyRecordedError, Ledger, StudyRecord
from rocktune.testing.ledgers.common import AWKWARD, FIRST, SECOND, LedgerFixtures, record_measured
from rocktune.testing.synthetic import synthetic_window
from rocktune.trial import Batch, Status, Trial


class TrialTests(LedgerFixtures):
    """Tests of batches, trials, windows and their costs."""

    def test_a_planned_batch_comes_back_as_it_was(self, ledger: Ledger, study: StudyRecord) -> None:
        """A planned batch is read back with its trials in order, their exact ages, and its released runs."""
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
        """A batch cannot be planned twice; the first plan stays."""
        ledger.plan_batch(study, "search", 0, [Trial(FIRST, 1.0)])
        with pytest.raises(AlreadyRecordedError, match="batch 0"):
            ledger.plan_batch(study, "search", 0, [Trial(SECOND, 1.0)])
        assert ledger.planned_batch(study, 0) == Batch((Trial(FIRST, 1.0),))

    def test_figures_come_back_to_the_bit(self, ledger: Ledger, study: StudyRecord) -> None:
        """All numbers of a window are read back with the same bits and types."""
        window = synthetic_window(0.0, 1 / 3, 12345.678, 98.7654321)
        window.raw["tickers"] |= AWKWARD
        window.raw["memory_bytes"] |= AWKWARD
        window.raw["series"]["stalled_s"] = list(AWKWARD.values())
        trial = Trial(FIRST, 1 / 3)
        record_measured(ledger, study, 0, trial, window)
        result = ledger.result(study, 0, 0)
        assert result is not None
        assert result.measurement is not None
        assert result.trial == trial
        assert result.measurement.raw == window.raw
        assert {name: type(value) for name, value in result.measurement.raw["tickers"].items()} == {
            name: type(value) for name, value in window.raw["tickers"].items()
        }

    def test_a_result_is_cumulative(self, ledger: Ledger, study: StudyRecord) -> None:
        """A result adds up the windows up to the trial's own age, separately for each replicate."""
        first, second = synthetic_window(0.0, 1.0, 1000.0), synthetic_window(1.0, 3.0, 4000.0)
        record_measured(ledger, study, 0, Trial(FIRST, 1.0), first)
        record_measured(ledger, study, 1, Trial(FIRST, 1.0, 1), synthetic_window(0.0, 1.0, 7.0))
        record_measured(ledger, study, 2, Trial(FIRST, 3.0), second)
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
        """Records have cost, overhead, options and message. Failed trials have no figures."""
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
        """The cost of a phase includes its failed trials, but not other phases."""
        trials = [Trial(FIRST, 2.0), Trial(SECOND, 2.0)]
        ledger.plan_batch(study, "search", 0, trials)
        ledger.record(study, 0, 0, trials[0], synthetic_window(0.0, 2.0), Status.OK, seconds=2.0)
        ledger.record(study, 0, 1, trials[1], None, Status.CRASHED, "signal 11", seconds=0.5)
        assert (ledger.spent_s(study, "search"), ledger.spent_s(study, "prove")) == (2.5, 0.0)

    def test_nothing_is_recorded_twice(self, ledger: Ledger, study: StudyRecord) -> None:
        """Neither a trial nor a run's window can be recorded twice; the first record stays."""
        trial, window = Trial(FIRST, 1.0), synthetic_window(0.0, 1.0)
        record_measured(ledger, study, 0, trial, window)
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
        """A trial at an age at which a recorded window ends needs no window and costs nothing."""
        record_measured(ledger, study, 0, Trial(FIRST, 1.0), synthetic_window(0.0, 1.0))
        record_measured(ledger, study, 1, Trial(FIRST, 1.0), None)
        ledger.plan_batch(study, "search", 2, [Trial(FIRST, 0.5)])
        with pytest.raises(ValueError, match="no recorded window"):
            ledger.record(study, 2, 0, Trial(FIRST, 0.5), None, Status.OK)
        first, second = (ledger.result(study, batch, 0) for batch in (0, 1))
        assert first == second
        assert ledger.result(study, 2, 0) is None

    @pytest.mark.parametrize("number", [math.nan, math.inf])
    def test_what_is_no_number_is_refused(self, ledger: Ledger, study: StudyRecord, number: float) -> None:
        """A window with NaN or infinity cannot be recorded as `ok`."""
        window = synthetic_window(0.0, 1.0)
        window.raw["cpu_s"] = number
        ledger.plan_batch(study, "search", 0, [Trial(FIRST, 1.0)])
        with pytest.raises(ValueError, match="not JSON compliant"):
            ledger.record(study, 0, 0, Trial(FIRST, 1.0), window, Status.OK)
        assert ledger.result(study, 0, 0) is None

    def test_only_what_was_planned_is_recorded(self, ledger: Ledger, study: StudyRecord) -> None:
        """A trial that differs from the planned one, or figures of a failed trial, raise ValueError."""
        ledger.plan_batch(study, "search", 0, [Trial(FIRST, 1.0)])
        window = synthetic_window(0.0, 1.0)
        for index, trial in ((0, Trial(SECOND, 1.0)), (0, Trial(FIRST, 2.0)), (1, Trial(FIRST, 1.0))):
            with pytest.raises(ValueError, match="was not planned"):
                ledger.record(study, 0, index, trial, window, Status.OK)
        with pytest.raises(ValueError, match="has no figures"):
            ledger.record(study, 0, 0, Trial(FIRST, 1.0), window, Status.CRASHED)
