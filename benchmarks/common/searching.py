"""Searches without a ledger: what a study does until it proves, for benchmarks that measure many searches."""

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.common.stages import driven
from rocktune.engine import EmbeddedEngine, RunFailed
from rocktune.space import Configuration
from rocktune.study import StudySpec, seeds
from rocktune.study.openings import Openings
from rocktune.study.proving import bounds
from rocktune.study.proving.picking import pick
from rocktune.study.specs.problem import objective_of, problem_of
from rocktune.trial import Batch, Measurement, Result, RunKey, Status, Trial
from rocktune.tuners import Problem, Tuner, tuner_named
from rocktune.tuners.tried import tried_first

Row = dict[str, Any]


class Store:
    """Measures the trials of a study. Runs stay open until they are released."""

    def __init__(self, spec: StudySpec, engine: EmbeddedEngine) -> None:
        """Creates a store for a study's workload, device, space and scale."""
        self.problem = problem_of(spec)
        self._openings = Openings(spec, self.problem, spec.scale)
        self._engine = engine
        self._runs: dict[RunKey, Any] = {}
        self._measured: dict[RunKey, Measurement] = {}

    def measure(self, batch: Batch) -> list[Result]:
        """Measures a batch, after the runs that it releases are closed."""
        for run in batch.release:
            self._close(run)
        inputs = {
            trial.run: self._openings.engine_inputs(trial.configuration, trial.replicate)
            for trial in batch.trials
            if trial.run not in self._runs
        }
        self._engine.prepare([each[:2] for each in inputs.values()], lambda *_: None)
        return [self._measure(trial, inputs) for trial in batch.trials]

    def measure_alone(self, batch: Batch) -> list[Result]:
        """Measures a batch whose runs nothing continues."""
        results = []
        for trial in batch.trials:
            results += self.measure(Batch((trial,)))
            self._close(trial.run)
        return results

    def close(self) -> None:
        """Closes all runs."""
        for run in list(self._runs):
            self._close(run)

    def _measure(self, trial: Trial, inputs: Mapping[RunKey, Any]) -> Result:
        try:
            if trial.run not in self._runs:
                self._runs[trial.run] = self._engine.open(*inputs[trial.run])
            run = self._runs[trial.run]
            window = run.advance(trial.until_s)
            run.park()
        except RunFailed as failure:
            self._close(trial.run)
            return Result(trial, failure.status, None, failure.message)
        before = self._measured.get(trial.run)
        self._measured[trial.run] = window if before is None else before.merged(window)
        return Result(trial, Status.OK, self._measured[trial.run])

    def _close(self, run: RunKey) -> None:
        if run in self._runs:
            self._runs.pop(run).close()
        self._measured.pop(run, None)


def searched(spec: StudySpec, engine: EmbeddedEngine) -> tuple[Configuration, list[Row]]:
    """Searches as a study does and chooses among the finalists by fresh runs.

    Returns:
        The chosen configuration, the baseline if none keeps the constraints; and a row for each trial.
    """
    settings = spec.verification
    with closing(Store(spec, engine)) as store:
        age_s, baseline = store.problem.age_s(settings.age_s), store.problem.baseline
        measured = store.measure_alone(Batch((Trial(baseline, age_s, seeds.BASELINE),)))
        objective = bounds.searched(objective_of(spec, spec.scale), measured[0])
        results, rows = _search(replace(store.problem, objective=objective), spec, store)
        replicates = seeds.replicates(seeds.PICK, settings.pick_runs)
        stage = pick(results, objective, settings.finalists, settings.pick_rounds, replicates, age_s)
        picked = driven(stage, store.measure_alone)
        return next(iter(picked.candidates(objective)), baseline), rows


def _search(problem: Problem, spec: StudySpec, store: Store) -> tuple[list[Result], list[Row]]:
    """Returns the results of a tuner's search, and for each the seconds of measuring spent until then."""
    results: list[Result] = []
    rows: list[Row] = []
    for result, spent_s in measured_search(problem, *tuner_of(spec), store.measure):
        figure = kept_figure(problem, result)
        rows.append({"spent_s": round(spent_s, 3), "age_s": result.trial.until_s, "figure": figure})
        results.append(result)
    store.close()
    return results, rows


def measured_search(
    problem: Problem, tuner: Tuner, rng: np.random.Generator, measure: Callable[[Batch], list[Result]]
) -> Iterator[tuple[Result, float]]:
    """Yields each result of a search and the seconds of measuring spent until then.

    Args:
        problem: the problem to solve.
        tuner: the tuner.
        rng: the search's source of random numbers.
        measure: returns the results of a batch, in its order.
    """
    search = tried_first(tuner, problem, rng)
    ages_s: dict[RunKey, float] = {}
    spent_s = 0.0
    with suppress(StopIteration):
        item = next(search)
        while True:
            results = measure(item() if callable(item) else item)
            for result in results:
                trial = result.trial
                spent_s += trial.until_s - ages_s.get(trial.run, 0.0)
                ages_s[trial.run] = trial.until_s
                yield result, spent_s
            item = search.send(results)


def tuner_of(spec: StudySpec) -> tuple[Tuner, np.random.Generator]:
    """Returns a study's tuner and the tuner's source of random numbers."""
    rng = np.random.default_rng(seeds.seed_of(spec.seed, "tuner"))
    return tuner_named(spec.tuner, spec.tuner_settings), rng


def kept_figure(problem: Problem, result: Result) -> float:
    """Returns a result's primary figure; NaN if it failed or breaks a constraint."""
    keeps = problem.objective.violation(problem.objective.row(result)) == 0
    return result.figure(problem.objective.primary) if keeps else math.nan
