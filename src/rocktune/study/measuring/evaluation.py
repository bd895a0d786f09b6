"""One batch on its way from the tuner's wish to recorded results."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass

from rocktune.engine.base import RunFailed
from rocktune.errors import UserError
from rocktune.ledger import Ledger, StudyRecord
from rocktune.study.executors.runs import Job
from rocktune.study.measuring.dispatch import Dispatcher, Taken
from rocktune.study.measuring.interrupt import Interrupt
from rocktune.study.measuring.observer import Observer
from rocktune.trial import Batch, Configuration, Experiment, Measurement, Result, RunKey, Status

Opening = Callable[[Configuration, int], tuple[Experiment, Configuration, int]]
"""Says for a configuration and replicate what an engine is given: experiment, configuration and seed."""

OUTPUT = "output"
"""The kind of event that holds what a program of the user's had printed when its run failed: batch, index,
output."""
PLACED = "placed"
"""The kind of event that says where a trial was measured, where there is more than one place: batch, index,
machine."""


@dataclass
class Recording:
    """What the evaluations of a study share.

    Attributes:
        ledger: where results are recorded.
        study: whose they are.
        opening: see `Opening`.
        score: see `rocktune.study.executors.runs.Job`.
        can_park: the engine's.
        is_parallel: the executor's; then it is recorded where each trial was measured.
        observer: is told what happens.
        interrupt: is asked before each trial whether to go on.
        failures: the runs that failed, each with its first failed result.
        repeated_s: seconds of load that were run again so far.
    """

    ledger: Ledger
    study: StudyRecord
    opening: Opening
    score: Callable[[Measurement], float]
    can_park: bool
    is_parallel: bool
    observer: Observer
    interrupt: Interrupt
    failures: dict[RunKey, Result]
    repeated_s: float = 0.0


class Evaluation:
    """Sees to it that every trial of a batch is recorded. Implements `dispatch.Work`.

    What a trial needs depends on what is recorded of its own run and on nothing else, and the trials of a run
    are taken one after the other. So the order in which the results of different runs arrive is of no effect.
    """

    def __init__(
        self,
        shared: Recording,
        number: int,
        batch: Batch,
        continues_runs: bool,
        on_result: Callable[[Result], None] | None,
    ) -> None:
        """Takes on a batch, planned as number `number`.

        Args:
            shared: of the study.
            number: the batch's.
            batch: its trials.
            continues_runs: whether later batches may ask for the same runs again.
            on_result: is given the results in the batch's order, each as soon as those before it are there.
        """
        self._shared = shared
        self._number = number
        self._trials = batch.trials
        self._keys = [trial.run for trial in batch.trials]
        self._last_of_run = {key: index for index, key in enumerate(self._keys)}
        self._continues_runs = continues_runs
        self._on_result = on_result
        self._results: dict[int, Result] = {}
        self._given = 0
        self._stopping = False

    def run(self, dispatcher: Dispatcher, paired: bool) -> list[Result] | None:
        """Measures what is not recorded yet.

        Args:
            dispatcher: places the trials.
            paired: whether the trials of a replicate shall be measured on one lane, rather than only those of
                a run.

        Returns:
            The results in the batch's order; None if the user wants the study to end before all are there.

        Raises:
            UserError: the study cannot go on.
        """
        ledger, study = self._shared.ledger, self._shared.study
        groups: dict[Hashable, list[int]] = {}
        for index, key in enumerate(self._keys):
            result = ledger.result(study, self._number, index)
            if result is None:
                groups.setdefault(key[1] if paired else key, []).append(index)
            else:
                self._take(index, result)
        self._give()
        if groups:
            dispatcher.measure(groups.values(), self._keys, self)
        if self._stopping:
            self._give_rest()
            return None
        return [self._results[index] for index in range(len(self._trials))]

    @property
    def stopping(self) -> bool:
        """See `Work.stopping`: after the first trial that ends once the user wants to stop."""
        return self._stopping

    def job(self, index: int) -> Job | None:
        """See `Work.job`: a failed run stays failed, and recorded windows answer what they reach to."""
        shared, trial, key = self._shared, self._trials[index], self._keys[index]
        if key in shared.failures:
            failure = shared.failures[key]
            message = f"its run had ended before: {failure.message}"
            self._answered(index, failure.status, message)
            return None
        age_s = shared.ledger.run_age(shared.study, *key)
        if trial.until_s <= age_s:
            self._answered(index, Status.OK)
            return None
        experiment, configuration, seed = shared.opening(*key)
        keep = shared.can_park and (self._continues_runs or self._last_of_run[key] > index)
        from_s = age_s if shared.can_park else 0.0
        return Job(key, experiment, configuration, seed, from_s, trial.until_s, keep, shared.score)

    def started(self, index: int) -> None:
        """See `Work.started`."""
        self._shared.observer.trial_started(self._trials[index], index, len(self._trials))

    def finished(self, index: int, job: Job, machine: str, taken: Taken) -> None:
        """See `Work.finished`.

        A trial costs the seconds from its run's recorded age to its own, whether it fails or not: a search
        that meets nothing but failures ends all the same. With an engine that cannot go on with a run it
        costs all seconds from 0.
        """
        shared, cost_s = self._shared, job.until_s - job.from_s
        place = (shared.study, self._number, index, self._trials[index])
        if shared.is_parallel:
            self._add_event(PLACED, index, machine=machine)
        if isinstance(taken, RunFailed):
            if taken.output:
                self._add_event(OUTPUT, index, output=taken.output)
            shared.ledger.record(*place, None, taken.status, taken.message, seconds=cost_s)
        else:
            shared.repeated_s += taken.repeated_s
            shared.ledger.record(
                *place, taken.measurement, Status.OK, "", cost_s, taken.options, taken.repeated_s
            )
        self._recorded(index)

    def _answered(self, index: int, status: Status, message: str = "") -> None:
        """Records a trial that needs no measuring."""
        shared, trial = self._shared, self._trials[index]
        self.started(index)
        try:
            shared.ledger.record(shared.study, self._number, index, trial, None, status, message)
        except ValueError:
            raise UserError(
                f"study '{shared.study.name}': a run is asked for at {trial.until_s:g} s that has been "
                "measured beyond, at other ages; delete the study and start it again"
            ) from None
        self._recorded(index)

    def _recorded(self, index: int) -> None:
        """Takes in a result as it is read back."""
        shared = self._shared
        result = shared.ledger.result(shared.study, self._number, index)
        assert result is not None, "it has just been recorded"
        shared.observer.trial_finished(result)
        self._take(index, result)
        self._give()
        self._stopping = self._stopping or shared.interrupt.requested

    def _take(self, index: int, result: Result) -> None:
        self._results[index] = result
        if result.status is not Status.OK:
            self._shared.failures[self._keys[index]] = result

    def _give(self) -> None:
        """Passes on the results that have none missing before them."""
        while self._given in self._results:
            if self._on_result is not None:
                self._on_result(self._results[self._given])
            self._given += 1

    def _give_rest(self) -> None:
        """Passes on what there is, for no more will come."""
        for index in sorted(self._results):
            if index >= self._given and self._on_result is not None:
                self._on_result(self._results[index])

    def _add_event(self, kind: str, index: int, **said: str | int) -> None:
        shared = self._shared
        shared.ledger.add_event(shared.study, kind, {"batch": self._number, "index": index} | said)
