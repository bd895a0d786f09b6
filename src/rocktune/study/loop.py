"""The one loop that measures: batches in, results back, everything through the ledger."""

import time
from collections.abc import Callable, Generator, Sequence
from typing import TypeVar

from rocktune.engine.base import Engine, Run, RunFailed
from rocktune.errors import UserError
from rocktune.ledger import Ledger, StudyRecord
from rocktune.study.interrupt import Interrupt
from rocktune.study.observer import Observer
from rocktune.study.runs import RunKeeper, RunKey
from rocktune.trial import Batch, Configuration, Experiment, Measurement, Result, Status, Trial

Outcome = TypeVar("Outcome")
Phase = Generator[Batch | Callable[[], Batch], Sequence[Result], Outcome]
"""Yields batches, or functions that make them, is sent their results, and returns what it found out."""

Opening = Callable[[Configuration, int], tuple[Experiment, Configuration, int]]
"""Says for a configuration and replicate what an engine is given: experiment, configuration and seed."""

TIME = "time"
"""The kind of event that says where wall time went: wall_s, opening_s, loading_s, repeated_s."""
DIFFERED = "replay_differed"
"""The kind of event that says that from batch `batch` on, the study continues with batch `continues_at`."""

OUTPUT = "output"
"""The kind of event that holds what a program of the user's had printed when its run failed: batch, index,
output."""


class StopRequested(Exception):  # noqa: N818 -- asked for, not an error
    """The user asked for the end of the study; the present trial has been recorded."""


class Loop:
    """Runs a study's phases one after the other, and replays what the ledger holds of them.

    A batch is known by its number, counted through all phases, a trial by its place in its batch. Whatever is
    recorded under these is not measured again; results are always given as read back from the ledger. So a
    study that was interrupted, wherever that was, goes on when its phases are run again.
    """

    def __init__(
        self,
        engine: Engine,
        opening: Opening,
        score: Callable[[Measurement], float],
        ledger: Ledger,
        study: StudyRecord,
        observer: Observer,
        interrupt: Interrupt,
        parked_limit_bytes: int,
        first_batch: int = 0,
    ) -> None:
        """Creates a loop.

        Args:
            engine: opens the runs.
            opening: what a configuration and replicate stand for.
            score: how promising a run is by its latest window; larger is better.
            ledger: where results are recorded; the caller holds the study's lock.
            study: whose batches they are.
            observer: is told what happens.
            interrupt: is asked after every trial whether to go on.
            parked_limit_bytes: memory that parked runs may hold together.
            first_batch: the number of the first batch.
        """
        self._engine = engine
        self._opening = opening
        self._ledger = ledger
        self._study = study
        self._observer = observer
        self._interrupt = interrupt
        self._keeper = RunKeeper(self._open, score, parked_limit_bytes if engine.can_park else 0)
        self._next_batch = first_batch
        self._continuations = {
            int(event.payload["batch"]): int(event.payload["continues_at"])
            for event in ledger.events(study, DIFFERED)
        }
        self._failures: dict[RunKey, Result] = {}
        self._clock = _Clock(engine)

    def run(
        self,
        name: str,
        phase: Phase[Outcome],
        continues_runs: bool,
        on_result: Callable[[Result], None] | None = None,
    ) -> Outcome:
        """Runs a phase to its end and returns what it returns.

        Args:
            name: the phase's.
            phase: not yet started.
            continues_runs: whether a run may be asked for again at a larger age, and so is kept parked.
            on_result: is given every result, recorded ones too, in the order of batches and places.

        Raises:
            StopRequested: the user wants the study to end.
            UserError: a resumed study cannot go on.
        """
        try:
            item = next(phase)
            while True:
                number, batch = self._planned(name, item)
                item = phase.send(self._evaluated(number, batch, continues_runs, on_result))
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        finally:
            phase.close()
            self._keeper.close()
            self._record_time()

    def _planned(self, phase: str, item: Batch | Callable[[], Batch]) -> tuple[int, Batch]:
        """Returns a batch and its number: the recorded batch where there is one, else the phase's own."""
        number = self._next_batch
        while number in self._continuations:
            number = self._continuations[number]
        recorded = self._ledger.planned_batch(self._study, number)
        batch = recorded if recorded is not None and callable(item) else item() if callable(item) else item
        if recorded is not None and batch != recorded:
            number, recorded = self._left_behind(number, phase), None
        if recorded is None:
            self._ledger.plan_batch(self._study, phase, number, batch.trials, batch.release)
        self._next_batch = number + 1
        return number, batch

    def _left_behind(self, number: int, phase: str) -> int:
        """Gives up the recorded batches from `number` on; returns the number of the batch to go on with."""
        continues_at = number
        while self._ledger.planned_batch(self._study, continues_at) is not None:
            continues_at += 1
        payload = {"batch": number, "continues_at": continues_at, "phase": phase}
        self._ledger.add_event(self._study, DIFFERED, payload)
        self._continuations[number] = continues_at
        self._observer.note(
            f"The recorded study differs from batch {number} on (phase '{phase}'), so rocktune or a library "
            "has changed since. What was measured is used where the same is asked; the rest is measured anew."
        )
        return continues_at

    def _evaluated(
        self, number: int, batch: Batch, continues_runs: bool, on_result: Callable[[Result], None] | None
    ) -> list[Result]:
        for key in batch.release:
            self._keeper.release(key)
        results = []
        for index, trial in enumerate(batch.trials):
            result = self._ledger.result(self._study, number, index)
            measured = result is None
            if result is None:
                self._observer.trial_started(trial, index, len(batch.trials))
                self._measure(number, index, trial, continues_runs)
                result = self._ledger.result(self._study, number, index)
                assert result is not None, "it has just been recorded"
                self._observer.trial_finished(result)
            if result.status is not Status.OK:
                self._failures[trial.configuration, trial.replicate] = result
            results.append(result)
            if on_result is not None:
                on_result(result)
            if measured and self._interrupt.requested:
                raise StopRequested
        self._record_time()
        return results

    def _measure(self, number: int, index: int, trial: Trial, continues_runs: bool) -> None:
        """Measures a trial as far as its run's recorded windows do not answer it already, and records it.

        A trial costs the seconds from its run's recorded age to its own, whether it fails or not: a search
        that meets nothing but failures ends all the same. With an engine that cannot go on with a run it
        costs all seconds from 0.
        """
        key = (trial.configuration, trial.replicate)
        if key in self._failures:
            failure = self._failures[key]
            message = f"its run had ended before: {failure.message}"
            self._ledger.record(self._study, number, index, trial, None, failure.status, message)
            return
        age_s = self._ledger.run_age(self._study, *key)
        if trial.until_s <= age_s:
            self._answer_from_record(number, index, trial)
            return
        from_s = age_s if self._engine.can_park else 0.0
        cost_s = trial.until_s - from_s
        keep = continues_runs and self._engine.can_park
        try:
            window = self._keeper.advance(key, from_s, trial.until_s, keep, self._observer.progress)
        except RunFailed as failed:
            if failed.output:
                said = {"batch": number, "index": index, "output": failed.output}
                self._ledger.add_event(self._study, OUTPUT, said)
            self._ledger.record(
                self._study, number, index, trial, None, failed.status, failed.message, seconds=cost_s
            )
            return
        self._clock.repeated_s += window.repeated_s
        self._ledger.record(
            self._study, number, index, trial, window.measurement, Status.OK, "", cost_s, window.options,
            window.repeated_s,
        )  # fmt: skip

    def _answer_from_record(self, number: int, index: int, trial: Trial) -> None:
        try:
            self._ledger.record(self._study, number, index, trial, None, Status.OK)
        except ValueError:
            raise UserError(
                f"study '{self._study.name}': a run is asked for at {trial.until_s:g} s that has been "
                "measured beyond, at other ages; delete the study and start it again"
            ) from None

    def _open(self, configuration: Configuration, replicate: int, progress: Callable[..., None]) -> Run:
        experiment, opened, seed = self._opening(configuration, replicate)
        return self._engine.open(experiment, opened, seed, progress)

    def _record_time(self) -> None:
        """Records where time went since the last call, unless that was mere replay."""
        times = self._clock.lap()
        if times["wall_s"] >= 0.01:
            self._ledger.add_event(self._study, TIME, times)


class _Clock:
    """Wall time since the last lap, and the engine's share of it."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.repeated_s = 0.0
        self._before = self._now()

    def _now(self) -> dict[str, float]:
        return {
            "wall_s": time.monotonic(),
            "opening_s": self._engine.opening_s,
            "loading_s": self._engine.loading_s,
            "repeated_s": self.repeated_s,
        }

    def lap(self) -> dict[str, float]:
        """Returns the seconds since the last call, by kind."""
        now, before = self._now(), self._before
        self._before = now
        return {name: now[name] - before[name] for name in now}
