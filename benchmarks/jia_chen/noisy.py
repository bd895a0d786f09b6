"""Searches emulated with noisy runs on tables that might be true, and what they recommend."""

import multiprocessing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from benchmarks.jia_chen.emulation import (
    FEW,
    WORKERS,
    Algorithm,
    Emulation,
    algorithm,
    answer,
    emulate,
    recommender,
)
from benchmarks.jia_chen.noise import NoiseModel
from benchmarks.jia_chen.recommendations import recommendation
from benchmarks.jia_chen.shared import LATENCY, THROUGHPUT, Recorded
from rocktune.space import Configuration
from rocktune.study.specs.spec import VerificationSettings
from rocktune.trial import Result, Trial

ROUNDS = (1, VerificationSettings().pick_rounds)
"""Maximum numbers of rounds of finalists in studies: one, and a study's default."""


@dataclass(frozen=True)
class Judged:
    """A recommended configuration, judged without noise.

    Attributes:
        throughput_share: its throughput over the maximum.
        latency_over_bound: its latency over the bound.
    """

    throughput_share: float
    latency_over_bound: float


@dataclass(frozen=True)
class NoisySearch:
    """A search whose runs were noisy.

    Attributes:
        search: the search; its success is judged without the noise.
        best: what its own runs show as best, of the configurations that it measures at least; None if these
            are not stated.
        studies: what a study around it recommends, by the maximum number of rounds of finalists; None for the
            baseline. Only of searches under a bound that have `best`.
    """

    search: Emulation
    best: Judged | None = None
    studies: Mapping[int, Judged | None] = field(default_factory=dict)


def emulated_with_noise(
    model: NoiseModel,
    names: Sequence[str],
    tables: int,
    searches: int,
    seed: int,
    min_runs: Mapping[str, int] | None = None,
    max_runs: int | None = None,
    tuner_settings: Mapping[str, Any] | None = None,
) -> dict[str, list[list[NoisySearch]]]:
    """Emulates searches whose runs are noisy; success is judged without the noise.

    Args:
        model: the noise of a measured table.
        names: names of the tuners.
        tables: number of tables that might be true; the first is the model's expectation, each further one is
            predicted from another draw of the measured table, with own terms drawn as well.
        searches: number of searches on each, each with noise of its own.
        seed: seed of the tables, the noise and the tuners.
        min_runs: by tuner, how many configurations each search measures before it ends at its first success;
            what it and studies around it recommend then is judged too.
        max_runs: how many configurations each search measures at most; by default all.
        tuner_settings: settings of every tuner.

    Returns:
        The searches of each tuner on each table.
    """
    tasks = [(name, table, (min_runs or {}).get(name, 0)) for name in names for table in range(tables)]
    task = partial(_emulated_on_one, model, searches, seed, max_runs, dict(tuner_settings or {}))
    if len(tasks) * searches <= FEW * len(names):
        done = [task(each) for each in tasks]
    else:
        with multiprocessing.get_context("spawn").Pool(WORKERS) as pool:
            done = pool.map(task, tasks, chunksize=1)
    return {name: done[place * tables : (place + 1) * tables] for place, name in enumerate(names)}


def _emulated_on_one(
    model: NoiseModel,
    searches: int,
    seed: int,
    max_runs: int | None,
    tuner_settings: dict[str, Any],
    task: tuple[str, int, int],
) -> list[NoisySearch]:
    name, table, min_runs = task
    truth = model.truth(np.random.default_rng([seed, table]) if table else None)
    chosen = algorithm(truth, name, tuner_settings, noise=model.noise)
    found = []
    for search in range(searches):
        seen = model.run_of_each(truth, np.random.default_rng([seed, table, search]))
        own_seed = seed + table * searches + search
        made = emulate(seen, chosen, max_runs or len(seen.rows), own_seed, min_runs)
        if min_runs:
            rng = np.random.default_rng([seed, table, search, 1])
            found.append(_judged(model, truth, seen, chosen, made, min_runs, rng))
        else:
            found.append(NoisySearch(made))
    return found


def _judged(
    model: NoiseModel,
    truth: Recorded,
    seen: Recorded,
    chosen: Algorithm,
    made: Emulation,
    steps: int,
    rng: np.random.Generator,
) -> NoisySearch:
    """Returns a search with what it and studies around it recommend after a number of steps.

    Args:
        model: the noise.
        truth: the figures without noise.
        seen: the runs of the search.
        chosen: the algorithm.
        made: the search.
        steps: number of steps.
        rng: noise of the runs after the search.
    """

    def judged(configuration: Configuration | None) -> Judged | None:
        if configuration is None:
            return None
        row = truth.rows[configuration]
        return Judged(row[THROUGHPUT] / truth.max_throughput, row[LATENCY] / bound_us)

    bound_us, order = truth.bound_us, made.order[:steps]
    best = judged(recommender(seen, chosen, order)(len(order)))
    if not chosen.objective.constraints:
        return NoisySearch(made, best)
    results = [answer(seen, Trial(each, 1.0)) for each in order]
    tables: dict[int, Recorded] = {}

    def fresh(trial: Trial) -> Result:
        if trial.replicate not in tables:
            tables[trial.replicate] = model.run_of_each(truth, rng)
        return answer(tables[trial.replicate], trial)

    baseline = truth.space.default()
    studies = {}
    for rounds in ROUNDS:
        settings = VerificationSettings(pick_rounds=rounds)
        studies[rounds] = judged(recommendation(results, chosen.objective, baseline, fresh, settings))
    return NoisySearch(made, best, studies)
