"""Searches emulated on a recorded table, with each algorithm's criterion of success."""

import math
import multiprocessing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from benchmarks.jia_chen.shared import LATENCY, NEAR, THROUGHPUT, Recorded
from rocktune.engine.spec import FULL_LENGTH_S
from rocktune.objective import Objective, objective_named
from rocktune.space import Configuration
from rocktune.study.specs.problem import expected_entries
from rocktune.trial import Batch, Measurement, Result, Status, Trial
from rocktune.tuners import Problem, tuner_named

ALGORITHMS = ("ga", "nsga2", "smpso", "epsilon-constraint", "weighted-sum")
"""The paper's five."""
MAX_SHARE = 10.0
"""Share that stands for searches that end without success."""
WORKERS = multiprocessing.cpu_count()
FEW = 8
"""So few searches are done before processes would have started."""


@dataclass(frozen=True)
class Algorithm:
    """A tuner with its objective and its criterion of success (docs/readings.md).

    Attributes:
        name: name of the tuner.
        settings: settings of the tuner.
        objective: objective of the search.
        succeeds: the configurations near the best; a search that has measured one of them has succeeded.
    """

    name: str
    settings: dict[str, Any]
    objective: Objective
    succeeds: frozenset[Configuration]


def algorithm(
    of: Recorded,
    name: str,
    settings: dict[str, Any] | None = None,
    noise: Mapping[str, float] | None = None,
) -> Algorithm:
    """Returns a tuner with its own criterion of success on a table.

    GA: 95% of the unbounded maximum. NSGA-II and SMPSO: a front with a point within 95% of the bounded
    maximum. One measured point is enough, since the bounded maximum dominates whatever keeps such a point off
    the front. Epsilon-constraint and random search: the same. Weighted sum: 95% of the maximum of its own
    target.

    Args:
        of: the table.
        name: name of the tuner.
        settings: settings of the tuner.
        noise: by figure, the deviation of one run's logarithm. What is that close to the criterion counts as
            near the best too, since one run cannot tell it from what is. By default nothing does. Without it
            the bound, which is the latency of one configuration, leaves hardly any other one under it.
    """
    allowed = {field: math.exp((noise or {}).get(field, 0.0)) for field in (THROUGHPUT, LATENCY)}
    rows = {
        each: {THROUGHPUT: row[THROUGHPUT] * allowed[THROUGHPUT], LATENCY: row[LATENCY] / allowed[LATENCY]}
        for each, row in of.rows.items()
    }
    bound_us = of.bound_us
    bounded = NEAR * of.bounded_maximum(bound_us)
    near = {each for each, row in rows.items() if row[THROUGHPUT] >= bounded and row[LATENCY] <= bound_us}
    front = objective_named((THROUGHPUT, LATENCY))
    if name == "ga":
        least = NEAR * of.max_throughput
        near = {each for each, row in rows.items() if row[THROUGHPUT] >= least}
        return Algorithm(name, settings or {}, objective_named(THROUGHPUT), frozenset(near))
    if name == "weighted-sum":
        least = NEAR * max(of.targets(of.rows).values())
        near = {each for each, target in of.targets(rows).items() if target >= least}
        return Algorithm(name, settings or {}, front, frozenset(near))
    if name == "epsilon-constraint":
        front = objective_named(THROUGHPUT, [f"{LATENCY}<={bound_us!r}"])
    return Algorithm(name, settings or {}, front, frozenset(near))


@dataclass(frozen=True)
class Emulation:
    """A search on a table.

    Attributes:
        order: distinct measured configurations in order.
        individuals: for each of them the number of individuals bred until then, repeated ones included.
        steps_to_success: number of distinct configurations until success; infinity if it never succeeds.
        charged_to_success: number of individuals until success, as if each repeated one was measured again.
    """

    order: tuple[Configuration, ...]
    individuals: tuple[int, ...]
    steps_to_success: float
    charged_to_success: float


def emulate(of: Recorded, algorithm: Algorithm, budget_runs: int, seed: int, min_runs: int = 0) -> Emulation:
    """Lets a tuner search a table. A repeated configuration costs nothing.

    Args:
        of: the table.
        algorithm: the tuner.
        budget_runs: number of configurations it may measure.
        seed: seed of its random numbers.
        min_runs: number of configurations that it measures at least; then it ends at its first success.
    """
    problem = problem_on(of, algorithm.objective, budget_runs)
    search = tuner_named(algorithm.name, algorithm.settings).search(problem, np.random.default_rng(seed))
    order: dict[Configuration, int] = {}
    success = charged = math.inf
    try:
        item = next(search)
        while True:
            batch: Batch = item() if callable(item) else item
            # Tuners that never repeat a configuration say nothing of individuals.
            bred = batch.explanation.get("individuals", range(len(order) + 1, 1 << 31))
            for trial, individuals in zip(batch.trials, bred, strict=False):
                order.setdefault(trial.configuration, individuals)
                if trial.configuration in algorithm.succeeds and success == math.inf:
                    success, charged = len(order), individuals
            if len(order) >= budget_runs or (success < math.inf and len(order) >= min_runs):
                break
            item = search.send([answer(of, trial) for trial in batch.trials])
    except StopIteration:
        pass
    return Emulation(tuple(order), tuple(order.values()), success, charged)


def problem_on(of: Recorded, objective: Objective, budget_runs: int) -> Problem:
    """Returns the problem of a tuner that may measure `budget_runs` configurations of a table."""
    run_s = of.conditions.measured_s
    return Problem(
        space=of.space,
        objective=objective,
        scale=FULL_LENGTH_S / run_s,
        runs_continue=False,
        budget_s=budget_runs * run_s,
        baseline=of.space.default(),
        expected_entries=expected_entries(of.conditions.workload, of.conditions.device),
        entry_bytes=of.conditions.workload.entry_bytes,
    )


def answer(of: Recorded, trial: Trial) -> Result:
    """Returns the table's result for a trial."""
    row = of.rows.get(trial.configuration)
    if row is None:
        return Result(trial, Status.INVALID, None, "not in the table")
    return Result(trial, Status.OK, Measurement({"from_s": 0.0, "until_s": trial.until_s, "figures": row}))


def recommender(
    of: Recorded, chosen: Algorithm, order: tuple[Configuration, ...]
) -> Callable[[int], Configuration]:
    """Returns what a search recommends after a number of steps: the best by its own objective."""
    if chosen.name == "weighted-sum":
        targets = of.targets(of.rows)
        values = [targets.get(each, -np.inf) for each in order]
        return lambda steps: order[int(np.argmax(values[:steps]))]
    results = [answer(of, Trial(each, 1.0)) for each in order]
    return lambda steps: order[chosen.objective.ranks(results[:steps]).index(0)]


def emulated(
    of: Recorded, algorithm: Algorithm, runs: int, seed: int, budget_runs: int | None = None
) -> list[Emulation]:
    """Emulates many searches of a tuner on all processors, each with its own seed.

    Args:
        of: the table.
        algorithm: the tuner.
        runs: number of searches.
        seed: seed of the first search.
        budget_runs: number of configurations that each measures; by default until it succeeds, at most all.
    """
    search = partial(_emulated, of, algorithm, budget_runs)
    if runs <= FEW:
        return [search(each) for each in range(seed, seed + runs)]
    # Tuners' libraries have threads of their own, which a fork would not take along.
    with multiprocessing.get_context("spawn").Pool(WORKERS) as pool:
        return pool.map(search, range(seed, seed + runs), chunksize=max(1, runs // (8 * WORKERS)))


def _emulated(of: Recorded, algorithm: Algorithm, budget_runs: int | None, seed: int) -> Emulation:
    return emulate(of, algorithm, budget_runs or len(of.rows), seed, budget_runs or 0)


def share_within(steps: Iterable[float], quantile: float, total: int) -> float:
    """Returns the share of an exhaustive search within which a quantile of the searches succeeds; at most 10.

    Args:
        steps: steps until success of each search.
        quantile: quantile of the searches.
        total: number of configurations of an exhaustive search.
    """
    ordered = sorted(steps)
    return min(MAX_SHARE, ordered[math.ceil(quantile * len(ordered)) - 1] / total)


def share_interval(
    steps: Sequence[Sequence[float]], quantile: float, total: int, seed: int
) -> tuple[float, float]:
    """Returns the 95% interval of `share_within`, by resampling groups of searches 1,000 times.

    Args:
        steps: steps until success of each search. Searches on one table form a group, because what the table
            owes to luck is common to them; on a single table each search is a group.
        quantile: quantile of the searches.
        total: number of configurations of an exhaustive search.
        seed: seed of the resampling.
    """
    rng = np.random.default_rng(seed)
    drawn = [
        share_within(
            [step for group in rng.integers(len(steps), size=len(steps)) for step in steps[group]],
            quantile,
            total,
        )
        for _ in range(1000)
    ]
    low, high = np.quantile(drawn, (0.025, 0.975))
    return float(low), float(high)
