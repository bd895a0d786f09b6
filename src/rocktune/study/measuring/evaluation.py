"""Measures and records the trials of one batch."""

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from itertools import chain

from rocktune.engine.base import RunFailed
from rocktune.errors import UserError
from rocktune.ledger import Ledger, StudyRecord
from rocktune.study.executors.runs import Job
from rocktune.study.measuring.dispatch import Dispatcher, JobOutcome
from rocktune.study.measuring.disturbance import PLACED, SharedRuns
from rocktune.study.measuring.interrupt import Interrupt
from rocktune.study.measuring.observer import Observer
from rocktune.trial import Batch, Configuration, Experiment, Measurement, Result, RunKey, Status

EngineInputs = Callable[[Configuration, int], tuple[Experiment, Configuration, int]]
"""Returns the experiment, configuration and seed to open a run with, from its configuration and replicate.

The configuration may differ: the user's own options are opened with an empty configuration."""

OUTPUT = "output"
"""Kind of the event with the output of a user's program whose run failed: batch, index, output."""


class _Interrupted(Exception):  # noqa: N818 -- asked for, not an error
    """The user asked the study to stop while stores were prepared."""


@dataclass
class Recording:
    """The state that all evaluations of a study share.

    Attributes:
        ledger: records the results.
        study: the study that the results belong to.
        engine_inputs: see `EngineInputs`.
        score: see `rocktune.study.executors.runs.Job`.
        can_park: see `rocktune.engine.Engine`.
        is_parallel: see `rocktune.study.executors.Executor`. If true, the lane of each trial is recorded.
        observer: is informed of progress.
        interrupt: says after each trial whether the user wants to stop.
        shared_runs: the runs that were measured with several lanes.
        failures: the first failed result of each failed run.
        repeated_s: seconds of load that were repeated because runs had been discarded or lost.
    """

    ledger: Ledger
    study: StudyRecord
    engine_inputs: EngineInputs
    score: Callable[[Measurement], float]
    can_park: bool
    is_parallel: bool
    observer: Observer
    interrupt: Interrupt
    shared_runs: SharedRuns
    failures: dict[RunKey, Result]
    repeated_s: float = 0.0


class Evaluation:
    """Measures and records the trials of a batch that are not recorded yet. Implements `dispatch.Work`.

    The job of a trial depends only on the recorded windows of its own run, and the trials of a run are
    measured one after the other. So the recorded results do not depend on the order in which runs finish.
    """

    def __init__(
        self,
        shared: Recording,
        number: int,
        batch: Batch,
        continues_runs: bool,
        on_result: Callable[[Result], None],
    ) -> None:
        """Creates an evaluation of a planned batch.

        Args:
            shared: state of the study.
            number: number of the batch in the study.
            batch: the batch.
            continues_runs: True if later batches may continue the runs, so that they stay parked.
            on_result: is called with the results in the batch's order, each as soon as all before it are
                known.
        """
        self._shared = shared
        self._number = number
        self._trials = batch.trials
        self._keys = [trial.run for trial in batch.trials]
        # A later trial of the same run replaces an earlier one here, so this is its last index.
        self._last_of_run = {key: index for index, key in enumerate(self._keys)}
        self._continues_runs = continues_runs
        self._on_result = on_result
        self._results: dict[int, Result] = {}
        self._delivered = 0
        self._stopping = False

    def run(self, dispatcher: Dispatcher, paired: bool) -> list[Result] | None:
        """Measures the trials that are not recorded yet.

        Args:
            dispatcher: assigns the trials to lanes.
            paired: measure all trials of a replicate on the same lane, so that lanes' differences cancel in
                pairs. Otherwise only the trials of a run share a lane.

        Returns:
            The results in the batch's order; None if the user stopped the study before all were measured.

        Raises:
            UserError: the study cannot go on.
        """
        ledger, study = self._shared.ledger, self._shared.study
        groups: dict[Hashable, list[int]] = {}
        for index, key in enumerate(self._keys):
            result = ledger.result(study, self._number, index)
            if result is None:
                # key[1] is the replicate, which the two runs of a pair share.
                groups.setdefault(key[1] if paired else key, []).append(index)
            else:
                self._store(index, result)
        self._deliver()
        if groups:
            self._prepare(dispatcher, chain.from_iterable(groups.values()))
            dispatcher.measure(groups.values(), self._keys, self)
        if self._stopping:
            self._deliver_rest()
            return None
        return [self._results[index] for index in range(len(self._trials))]

    def _prepare(self, dispatcher: Dispatcher, indexes: Iterable[int]) -> None:
        """Makes what the trials' runs begin with, unless the user asks to stop meanwhile."""
        shared = self._shared
        runs = dict.fromkeys(self._keys[index] for index in indexes)
        conditions = [shared.engine_inputs(*run)[:2] for run in runs]

        def progress(phase: str, done: float, total: float) -> None:
            if shared.interrupt.requested:
                raise _Interrupted
            shared.observer.progress(phase, done, total)

        try:
            dispatcher.prepare(conditions, progress)
        except _Interrupted:
            self._stopping = True

    @property
    def stopping(self) -> bool:
        """See `Work.stopping`. Becomes true when a trial ends after the user has asked to stop."""
        return self._stopping

    def job(self, index: int) -> Job | None:
        """See `Work.job`. A trial of a failed run, or at an age that is recorded, needs no measuring."""
        shared, trial, key = self._shared, self._trials[index], self._keys[index]
        if key in shared.failures:
            failure = shared.failures[key]
            message = f"the run had failed before: {failure.message}"
            self._record_unmeasured(index, failure.status, message)
            return None
        age_s = shared.ledger.run_age(shared.study, *key)
        if trial.until_s <= age_s:
            self._record_unmeasured(index, Status.OK)
            return None
        experiment, configuration, seed = shared.engine_inputs(*key)
        # A batch can hold several ages of a run, even where later batches do not continue it.
        keep = shared.can_park and (self._continues_runs or self._last_of_run[key] > index)
        from_s = age_s if shared.can_park else 0.0
        return Job(key, experiment, configuration, seed, from_s, trial.until_s, keep, shared.score)

    def started(self, index: int) -> None:
        """See `Work.started`."""
        self._shared.observer.trial_started(self._trials[index], index, len(self._trials))

    def finished(self, index: int, job: Job, machine: str, outcome: JobOutcome) -> None:
        """See `Work.finished`.

        A trial costs the seconds from its run's recorded age to its own age, even if it fails: otherwise a
        search in which all trials fail would never use up its budget. With an engine that cannot pause runs
        it costs all seconds from age 0. A run on several workloads costs the seconds of each.
        """
        shared, cost_s = self._shared, (job.until_s - job.from_s) * (1 + len(job.experiment.neighbours))
        trial_key = (shared.study, self._number, index, self._trials[index])
        if shared.is_parallel:
            self._add_event(PLACED, index, machine=machine)
            shared.shared_runs.add(self._trials[index])
        if isinstance(outcome, RunFailed):
            if outcome.output:
                self._add_event(OUTPUT, index, output=outcome.output)
            shared.ledger.record(*trial_key, None, outcome.status, outcome.message, seconds=cost_s)
        else:
            shared.repeated_s += outcome.repeated_s
            shared.ledger.record(
                *trial_key, outcome.measurement, Status.OK, "", cost_s, outcome.options, outcome.repeated_s
            )
        self._after_recording(index)

    def _record_unmeasured(self, index: int, status: Status, message: str = "") -> None:
        """Records a trial that needs no measuring, at no cost."""
        shared, trial = self._shared, self._trials[index]
        self.started(index)
        try:
            shared.ledger.record(shared.study, self._number, index, trial, None, status, message)
        except ValueError:
            raise UserError(
                f"study '{shared.study.name}': the tuner asks for a run at {trial.until_s:g} s, but the run "
                "was measured only at other ages and beyond; delete the study and start it again"
            ) from None
        self._after_recording(index)

    def _after_recording(self, index: int) -> None:
        """Reads a recorded result back and stores, reports and delivers it.

        Results always come from the ledger, so that a live and a resumed search see the same bits.
        """
        shared = self._shared
        result = shared.ledger.result(shared.study, self._number, index)
        assert result is not None, "it has just been recorded"
        shared.observer.trial_finished(result)
        self._store(index, result)
        self._deliver()
        # Only between trials, so that what was measured is recorded before the study stops.
        self._stopping = self._stopping or shared.interrupt.requested

    def _store(self, index: int, result: Result) -> None:
        """Keeps a result, and its failure for later trials of the run."""
        self._results[index] = result
        if result.status is not Status.OK:
            self._shared.failures[self._keys[index]] = result

    def _deliver(self) -> None:
        """Delivers the results before which none is missing."""
        while self._delivered in self._results:
            self._on_result(self._results[self._delivered])
            self._delivered += 1

    def _deliver_rest(self) -> None:
        """Delivers all remaining results, even behind missing ones, when the study stops."""
        for index in sorted(self._results):
            if index >= self._delivered:
                self._on_result(self._results[index])

    def _add_event(self, kind: str, index: int, **details: str | int) -> None:
        """Records an event about a trial of the batch."""
        shared = self._shared
        shared.ledger.add_event(shared.study, kind, {"batch": self._number, "index": index} | details)
