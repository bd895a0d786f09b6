"""Measures the disturbed runs of a phase again, so that a busy machine costs time and not truth."""

from collections.abc import Callable, Generator, Hashable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from rocktune.study import seeds
from rocktune.study.measuring.disturbance import MAX_REPEATS
from rocktune.study.specs.spec import DISTURBED_SHARE
from rocktune.trial import Batch, Result, RunKey, Trial

Found = TypeVar("Found")
Phase = Generator[Batch | Callable[[], Batch], Sequence[Result], Found]
"""A generator that yields batches, or functions that make them, receives their results, and returns its
findings."""

Attempts = dict[Hashable, list[Result]]
"""Results of the runs that are repeated together, by the key that these share."""

Announce = Callable[[str, float], None]
"""Tells the user a sentence about the next batch, and by how many seconds of measuring it delays the
study."""


class Repeats:
    """Stands between a phase and the loop, and adds batches that repeat the phase's disturbed runs.

    A repeat is a run of its own from age 0, with the random numbers of its original. The phase asks for
    originals and receives the results of the least disturbed attempts under them. Later trials and releases
    of a run go to the attempt that counts. Runs that are compared in pairs are repeated and chosen together
    (`seeds.compared_with`).

    All decisions follow from results, so a replay takes them again.
    """

    def __init__(
        self,
        disturbance: Callable[[Result], float],
        announce: Announce,
        on_result: Callable[[Result], None] | None,
        continues_runs: bool,
        max_others_share: float = DISTURBED_SHARE,
    ) -> None:
        """Creates the repeats of one phase.

        Args:
            disturbance: see `SharedRuns.disturbance`.
            announce: see `Announce`.
            on_result: is called with each result under its original trial: at once if it is undisturbed,
                otherwise when its repeats are measured. If a repeat replaces a result that was delivered
                before, the later call holds.
            continues_runs: True if a later batch may continue a run, so that runs stay parked and have to be
                released.
            max_others_share: see `SharedRuns.max_others_share`; for the announcement.
        """
        self._max_others_share = max_others_share
        self._disturbance = disturbance
        self._announce = announce
        self._on_result = on_result
        self._continues_runs = continues_runs
        # Replicates of the latest attempt and of the one that counts, by original run.
        self._latest: dict[RunKey, int] = {}
        self._counted: dict[RunKey, int] = {}
        self._unneeded: tuple[RunKey, ...] = ()
        self._repeating = False

    def batches(self, phase: Phase[Found]) -> Phase[Found]:
        """Yields the batches of a phase and those that repeat its disturbed runs; returns its findings."""
        try:
            item = next(phase)
            while True:
                results = yield self._with_attempts(item)
                final = yield from self._settled(results)
                item = phase.send(final)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        finally:
            # Runs the generator's `finally` blocks now, not whenever it is collected.
            phase.close()

    def received(self, result: Result) -> None:
        """Is called with each result as soon as it is recorded, in the order of batches and trials."""
        if self._on_result is not None and not self._repeating and not self._disturbance(result):
            self._on_result(_of_original(result))

    def _with_attempts(self, item: Batch | Callable[[], Batch]) -> Batch | Callable[[], Batch]:
        """Returns the phase's next batch with the attempts that count in place of the originals."""

        def translated(batch: Batch) -> Batch:
            trials = [replace(trial, replicate=self._counted_run(trial.run)[1]) for trial in batch.trials]
            release = (*self._unneeded, *map(self._counted_run, batch.release))
            return Batch(tuple(trials), release, batch.explanation)

        # A function stays one: a replay takes the recorded batch and does not call it.
        return (lambda: translated(item())) if callable(item) else translated(item)

    def _counted_run(self, original: RunKey) -> RunKey:
        """Returns the attempt that counts for a run."""
        return original[0], self._counted.get(original, original[1])

    def _settled(self, results: Sequence[Result]) -> Generator[Batch, Sequence[Result], list[Result]]:
        """Repeats the disturbed runs of a batch; returns the results that count, under their originals."""
        units: dict[Hashable, list[int]] = {}
        for index, result in enumerate(results):
            units.setdefault(seeds.compared_with(result.trial.run), []).append(index)
        latest = {unit: [results[index] for index in indexes] for unit, indexes in units.items()}
        final, known = list(results), dict(self._latest)
        while due := {unit: attempt for unit, attempt in latest.items() if self._is_due(attempt)}:
            batch = self._repeat_of(due, latest)
            self._repeating = True
            repeated = iter((yield batch))
            self._repeating = False
            latest = {unit: [next(repeated) for _ in attempt] for unit, attempt in due.items()}
            for unit, attempt in latest.items():
                before = [final[index] for index in units[unit]]
                for index, result in zip(units[unit], min(before, attempt, key=self._worst), strict=True):
                    final[index] = result
        self._counted |= {_original(result.trial.run): result.trial.replicate for result in final}
        if self._continues_runs:
            # All other attempts were released when they were repeated.
            self._unneeded = tuple(
                (run[0], replicate)
                for run, replicate in self._latest.items()
                if known.get(run) != replicate != self._counted[run]
            )
        return self._concluded(results, final)

    def _worst(self, attempt: Iterable[Result]) -> float:
        """Returns the maximum disturbance among results that are repeated together."""
        return max(map(self._disturbance, attempt))

    def _is_due(self, attempt: Sequence[Result]) -> bool:
        """Returns whether an attempt has to be repeated: it is disturbed, and repeats are left."""
        used = max(seeds.repeats_before(self._latest_replicate(result.trial)) for result in attempt)
        return used < MAX_REPEATS and self._worst(attempt) > 0

    def _latest_replicate(self, trial: Trial) -> int:
        """Returns the replicate of the latest attempt at a trial's run."""
        return self._latest.get(_original(trial.run), trial.replicate)

    def _repeat_of(self, due: Attempts, latest: Attempts) -> Batch:
        """Returns the batch that repeats the due ones among the latest attempts, and announces it."""
        results = [result for attempt in due.values() for result in attempt]
        trials = [
            replace(result.trial, replicate=seeds.repeat_of(self._latest_replicate(result.trial)))
            for result in results
        ]
        self._latest |= {_original(trial.run): trial.replicate for trial in trials}
        # What a repeat replaces is not kept: if it counts in the end after all, its load is repeated.
        replaced = tuple(dict.fromkeys(result.trial.run for result in results))
        measured = {result.trial.run for attempt in latest.values() for result in attempt}
        disturbed = {result.trial.run for result in results if self._disturbance(result)}
        again = "They" if len(disturbed) == len(replaced) else f"The {len(replaced)} runs of their pairs"
        self._announce(
            f"{len(disturbed)} of {len(measured)} runs were disturbed: other programs used more than "
            f"{self._max_others_share:.0%} of the processors. {again} are measured again.",
            # A run can have several trials in a batch; the last one ends it.
            sum({trial.run: trial.until_s for trial in trials}.values()),
        )
        return Batch(tuple(trials), replaced if self._continues_runs else ())

    def _concluded(self, results: Sequence[Result], final: Sequence[Result]) -> list[Result]:
        """Delivers the results that count and returns them under their originals.

        Args:
            results: the results of the phase's own batch.
            final: the results that count, in the same order.
        """
        answer: list[Result] = []
        for first, result in zip(results, final, strict=True):
            disturbed = self._disturbance(result) > 0
            answer.append(replace(_of_original(result), disturbed=disturbed))
            if self._on_result is not None and (disturbed or result.trial != first.trial):
                self._on_result(answer[-1])
        stayed = {result.trial.run for result in answer if result.disturbed}
        if stayed:
            runs = {result.trial.run for result in answer}
            self._announce(
                f"{len(stayed)} of {len(runs)} runs stayed disturbed in {MAX_REPEATS} repeats. The least "
                "disturbed attempts count.",
                0.0,
            )
        return answer


def _original(run: RunKey) -> RunKey:
    """Returns the run that a run repeats; `run` itself if it is not a repeat."""
    return run[0], seeds.original_of(run[1])


def _of_original(result: Result) -> Result:
    """Returns a result under the trial of its original."""
    trial = result.trial
    return replace(result, trial=replace(trial, replicate=seeds.original_of(trial.replicate)))
