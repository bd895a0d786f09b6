"""The loop that measures the batches of a study's phases and records all results in the ledger."""

import time
from collections.abc import Callable

from rocktune.ledger import Ledger, StudyRecord
from rocktune.study.executors import Executor
from rocktune.study.measuring.dispatch import Dispatcher
from rocktune.study.measuring.disturbance import SharedRuns
from rocktune.study.measuring.evaluation import EngineInputs, Evaluation, Recording
from rocktune.study.measuring.interrupt import Interrupt
from rocktune.study.measuring.observer import Observer
from rocktune.study.measuring.repeats import Found, Phase, Repeats
from rocktune.study.measuring.surroundings import record_surroundings
from rocktune.trial import Batch, Measurement, Result

TIME = "time"
"""Kind of the event with wall seconds by use: wall_s, opening_s, loading_s, repeated_s."""
EXPLAINED = "explained"
"""Kind of the event with the tuner's explanation of a batch: batch, and the fields of the explanation."""
DIFFERED = "replay_differed"
"""Kind of the event for a replayed batch that differs from the recorded one: batch `batch` and those after it
are abandoned, and the study continues with batch `continues_at`."""


class StopRequested(Exception):  # noqa: N818 -- asked for, not an error
    """The user asked the study to stop; the trials that were being measured have been recorded."""


class Loop:
    """Runs the phases of a study one after the other, and replays those that the ledger holds.

    It records what the figures depend on besides the specification, and notes what has changed.

    A batch is identified by its number, counted through all phases; a trial by its index in the batch. A
    recorded trial is not measured again. Results are always read back from the ledger. So an interrupted
    study continues if its phases are run again.
    """

    def __init__(
        self,
        executor: Executor,
        engine_inputs: EngineInputs,
        score: Callable[[Measurement], float],
        ledger: Ledger,
        study: StudyRecord,
        observer: Observer,
        interrupt: Interrupt,
        first_batch: int = 0,
    ) -> None:
        """Creates a loop.

        Args:
            executor: measures the trials.
            engine_inputs: see `EngineInputs`.
            score: see `rocktune.study.executors.runs.Job`.
            ledger: records all results; the caller holds the study's lock.
            study: the study.
            observer: is informed of progress.
            interrupt: says after each trial whether the user wants to stop.
            first_batch: number of the first batch; above 0 for a verification at another scale.
        """
        for changed in record_surroundings(ledger, study, executor):
            observer.note(changed)
        self._ledger = ledger
        self._study = study
        self._observer = observer
        self._dispatcher = Dispatcher(executor, observer)
        self._shared = Recording(
            ledger,
            study,
            engine_inputs,
            score,
            executor.can_park,
            is_parallel=executor.is_parallel,
            observer=observer,
            interrupt=interrupt,
            shared_runs=SharedRuns(ledger, study),
            failures={},
        )
        self._next_batch = first_batch
        self._continuations = {
            int(event.payload["batch"]): int(event.payload["continues_at"])
            for event in ledger.events(study, DIFFERED)
        }
        self._clock = _Clock(executor, self._shared)

    def run(
        self,
        name: str,
        phase: Phase[Found],
        continues_runs: bool,
        on_result: Callable[[Result], None] | None = None,
        paired: bool = False,
    ) -> Found:
        """Runs a phase to its end and returns its return value. Disturbed runs are repeated (`Repeats`).

        Args:
            name: name of the phase.
            phase: the generator, not started yet.
            continues_runs: True if a later batch may continue a run, so that runs stay parked between
                batches. Within a batch they do anyway.
            on_result: is called with every result, recorded ones too, in the order of batches and trials,
                except that the result of a disturbed run follows when its repeats are measured.
            paired: see `Evaluation.run`.

        Raises:
            StopRequested: the user asked the study to stop.
            UserError: a resumed study cannot continue.
        """
        shared = self._shared.shared_runs
        repeats = Repeats(
            shared.disturbance, self._announce, on_result, continues_runs, shared.max_others_share
        )
        batches = repeats.batches(phase)
        try:
            item = next(batches)
            while True:
                number, batch = self._planned(name, item)
                item = batches.send(self._evaluated(number, batch, continues_runs, paired, repeats.received))
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        finally:
            # Runs the generators' `finally` blocks now, not whenever they are collected.
            batches.close()
            self._dispatcher.release_all()
            self._record_time()

    def _planned(self, phase: str, item: Batch | Callable[[], Batch]) -> tuple[int, Batch]:
        """Returns the next batch with its number, and records the plan of a new batch.

        A batch that is given as a function is computed only if it is not recorded.
        """
        number = self._next_number()
        recorded = self._ledger.planned_batch(self._study, number)
        batch = recorded if recorded is not None and callable(item) else item() if callable(item) else item
        # Explanations do not take part in the comparison: they may change with the version.
        if recorded is not None and batch != recorded:
            number, recorded = self._abandon_recorded(number, phase), None
        if recorded is None:
            self._ledger.plan_batch(self._study, phase, number, batch.trials, batch.release)
            if batch.explanation:
                self._ledger.add_event(self._study, EXPLAINED, {**batch.explanation, "batch": number})
        self._next_batch = number + 1
        return number, batch

    def _next_number(self) -> int:
        """Returns the number of the next batch."""
        number = self._next_batch
        # A study can have differed from its record more than once.
        while number in self._continuations:
            number = self._continuations[number]
        return number

    def _announce(self, text: str, delay_s: float) -> None:
        """Tells the user about the next batch, unless it is recorded and the user was told before."""
        if self._ledger.planned_batch(self._study, self._next_number()) is None:
            self._observer.note(text)
            self._observer.delayed(delay_s)

    def _abandon_recorded(self, number: int, phase: str) -> int:
        """Abandons the recorded batches from `number` on; returns the number of the next batch."""
        continues_at = number
        while self._ledger.planned_batch(self._study, continues_at) is not None:
            continues_at += 1
        payload = {"batch": number, "continues_at": continues_at, "phase": phase}
        self._ledger.add_event(self._study, DIFFERED, payload)
        self._continuations[number] = continues_at
        self._observer.note(
            f"The recorded study differs from batch {number} on (phase '{phase}'), so rocktune or a library "
            "has changed since. Recorded windows of the same runs are used; all other trials are measured "
            "again."
        )
        return continues_at

    def _evaluated(
        self,
        number: int,
        batch: Batch,
        continues_runs: bool,
        paired: bool,
        on_result: Callable[[Result], None],
    ) -> list[Result]:
        """Measures a batch and returns its results; raises StopRequested if the user stops."""
        for key in batch.release:
            self._dispatcher.release(key)
        evaluation = Evaluation(self._shared, number, batch, continues_runs, on_result)
        results = evaluation.run(self._dispatcher, paired)
        if results is None:
            raise StopRequested
        self._record_time()
        return results

    def _record_time(self) -> None:
        """Records the wall time since the last call by its use."""
        times = self._clock.lap()
        # A replayed batch takes less; an event for each would bloat the ledger at every resumption.
        if times["wall_s"] >= 0.01:
            self._ledger.add_event(self._study, TIME, times)


class _Clock:
    """Measures wall seconds between laps, and the seconds that engines spent, summed over all lanes."""

    def __init__(self, executor: Executor, recording: Recording) -> None:
        self._executor = executor
        self._recording = recording
        self._before = self._now()

    def _now(self) -> dict[str, float]:
        """Returns the present values of all clocks, in seconds."""
        return {
            "wall_s": time.monotonic(),
            "opening_s": self._executor.opening_s,
            "loading_s": self._executor.loading_s,
            "repeated_s": self._recording.repeated_s,
        }

    def lap(self) -> dict[str, float]:
        """Returns the seconds since the last call, by use."""
        now, before = self._now(), self._before
        self._before = now
        return {name: now[name] - before[name] for name in now}
