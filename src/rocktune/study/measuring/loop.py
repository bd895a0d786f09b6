"""The one loop that measures: batches in, results back, everything through the ledger."""

import time
from collections.abc import Callable, Generator, Sequence
from typing import TypeVar

from rocktune.ledger import Ledger, StudyRecord
from rocktune.study.executors import Executor
from rocktune.study.measuring.dispatch import Dispatcher
from rocktune.study.measuring.evaluation import Evaluation, Opening, Recording
from rocktune.study.measuring.interrupt import Interrupt
from rocktune.study.measuring.observer import Observer
from rocktune.trial import Batch, Measurement, Result

Found = TypeVar("Found")
Phase = Generator[Batch | Callable[[], Batch], Sequence[Result], Found]
"""Yields batches, or functions that make them, is sent their results, and returns what it found out."""

TIME = "time"
"""The kind of event that says where wall time went: wall_s, opening_s, loading_s, repeated_s."""
EXPLAINED = "explained"
"""The kind of event that says why a batch was asked for: batch, and what its tuner said."""
DIFFERED = "replay_differed"
"""The kind of event that says that from batch `batch` on, the study continues with batch `continues_at`."""


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
        executor: Executor,
        opening: Opening,
        score: Callable[[Measurement], float],
        ledger: Ledger,
        study: StudyRecord,
        observer: Observer,
        interrupt: Interrupt,
        first_batch: int = 0,
    ) -> None:
        """Creates a loop.

        Args:
            executor: measures.
            opening: what a configuration and replicate stand for.
            score: how promising a run is by its latest window; larger is better. Other machines get a copy.
            ledger: where results are recorded; the caller holds the study's lock.
            study: whose batches they are.
            observer: is told what happens.
            interrupt: is asked after every trial whether to go on.
            first_batch: the number of the first batch.
        """
        self._ledger = ledger
        self._study = study
        self._observer = observer
        self._dispatcher = Dispatcher(executor, observer)
        self._shared = Recording(
            ledger,
            study,
            opening,
            score,
            executor.can_park,
            is_parallel=executor.is_parallel,
            observer=observer,
            interrupt=interrupt,
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
        """Runs a phase to its end and returns what it returns.

        Args:
            name: the phase's.
            phase: not yet started.
            continues_runs: whether a later batch may ask for a run again at a larger age, so that it is kept
                parked. Within its batch it is anyway.
            on_result: is given every result, recorded ones too, in the order of batches and places.
            paired: whether runs of one replicate are compared, and so all measured by the same worker.

        Raises:
            StopRequested: the user wants the study to end.
            UserError: a resumed study cannot go on.
        """
        try:
            item = next(phase)
            while True:
                number, batch = self._planned(name, item)
                item = phase.send(self._evaluated(number, batch, continues_runs, paired, on_result))
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        finally:
            phase.close()
            self._dispatcher.release_all()
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
            if batch.explanation:
                self._ledger.add_event(self._study, EXPLAINED, {**batch.explanation, "batch": number})
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
        self,
        number: int,
        batch: Batch,
        continues_runs: bool,
        paired: bool,
        on_result: Callable[[Result], None] | None,
    ) -> list[Result]:
        for key in batch.release:
            self._dispatcher.release(key)
        evaluation = Evaluation(self._shared, number, batch, continues_runs, on_result)
        results = evaluation.run(self._dispatcher, paired)
        if results is None:
            raise StopRequested
        self._record_time()
        return results

    def _record_time(self) -> None:
        """Records where time went since the last call, unless that was mere replay."""
        times = self._clock.lap()
        if times["wall_s"] >= 0.01:
            self._ledger.add_event(self._study, TIME, times)


class _Clock:
    """Wall time since the last lap, and the engines' share of it, added up over all that work at once."""

    def __init__(self, executor: Executor, recording: Recording) -> None:
        self._executor = executor
        self._recording = recording
        self._before = self._now()

    def _now(self) -> dict[str, float]:
        return {
            "wall_s": time.monotonic(),
            "opening_s": self._executor.opening_s,
            "loading_s": self._executor.loading_s,
            "repeated_s": self._recording.repeated_s,
        }

    def lap(self) -> dict[str, float]:
        """Returns the seconds since the last call, by kind."""
        now, before = self._now(), self._before
        self._before = now
        return {name: now[name] - before[name] for name in now}
