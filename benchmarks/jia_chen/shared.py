"""Shared code of Jia and Chen's benchmarks: a recorded table, and searches emulated on it."""

import math
import multiprocessing
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.common.claims import ROOT, Settings
from rocktune.device import DeviceSpec
from rocktune.engine.recorded.interpolation import Interpolation
from rocktune.engine.spec import FULL_LENGTH_S
from rocktune.errors import UserError
from rocktune.objective import Objective, objective_named
from rocktune.space import Configuration, Space, load_space, space_from_document
from rocktune.study.specs.problem import expected_entries
from rocktune.table import Conditions, Table, TableRow, read_table
from rocktune.trial import FIGURES, Batch, Measurement, Result, Status, Trial
from rocktune.tuners import Problem, tuner_named
from rocktune.workload import load_workload

THROUGHPUT = "throughput_ops_s"
LATENCY = "read_latency_us_p99"
NEAR = 0.95
TABLES = ROOT / "docs" / "evidence" / "jia_chen" / "tables"
DEFAULT_TABLE = str(TABLES / "zipfian-pcie.csv")
_WORKERS = multiprocessing.cpu_count()
_NOTHING = dict.fromkeys(FIGURES, math.nan)
_FEW = 8
"""So few searches are done before processes would have started."""
ALGORITHMS = ("ga", "nsga2", "smpso", "epsilon-constraint", "weighted-sum")
"""The paper's five."""


@dataclass(frozen=True)
class Recorded:
    """A table with one run of each configuration, and its best values.

    Attributes:
        name: name of the table.
        conditions: conditions of the measurements.
        space: space of the configurations.
        rows: figures by configuration, without failed ones.
        stated_bound_us: bound of the latency in microseconds; None for the table's own, see `bound_us`.
    """

    name: str
    conditions: Conditions
    space: Space
    rows: dict[Configuration, dict[str, float]]
    stated_bound_us: float | None = None

    @property
    def max_throughput(self) -> float:
        """The unbounded maximum of throughput in operations per second."""
        return max(row[THROUGHPUT] for row in self.rows.values())

    @property
    def bound_us(self) -> float:
        """The stated bound, else the latency at which the bounded maximum is 95% of the unbounded one."""
        if self.stated_bound_us is not None:
            return self.stated_bound_us
        near = [row for row in self.rows.values() if row[THROUGHPUT] >= NEAR * self.max_throughput]
        return min(row[LATENCY] for row in near)

    def bounded_maximum(self, bound_us: float) -> float:
        """Returns the maximum throughput with a latency of at most `bound_us`; 0 if there is none."""
        return max((row[THROUGHPUT] for row in self.rows.values() if row[LATENCY] <= bound_us), default=0.0)

    def targets(self) -> dict[Configuration, float]:
        """Returns equation 6 for each configuration with the table's own maxima; larger is better."""
        throughput = self.max_throughput
        latency = max(row[LATENCY] for row in self.rows.values())
        return {
            each: row[THROUGHPUT] / throughput - row[LATENCY] / latency for each, row in self.rows.items()
        }


def recorded(settings: Settings) -> Recorded:
    """Returns the table that the flag `--table` names; a smoke run has formulas instead.

    Args:
        settings: with the flags `table`, and if they are there `interpolate` (yes or no) and `bound_us`.
    """
    if settings.quick:
        return made_up()
    path = Path(str(settings.extra["table"]))
    if not path.exists():
        raise UserError(f"table {path}: is not there; 'python -m benchmarks.jia_chen.tables' makes it")
    make = interpolated if settings.extra.get("interpolate") == "yes" else one_run_each
    bound_us = str(settings.extra.get("bound_us", ""))
    return replace(make(path.stem, read_table(path)), stated_bound_us=float(bound_us) if bound_us else None)


def one_run_each(name: str, table: Table) -> Recorded:
    """Returns a table without its control runs and failures."""
    swept = [row for row in table.rows if row.replicate == 0 and row.status is Status.OK]
    rows = {
        row.configuration: {field: row.figures[field] for field in (THROUGHPUT, LATENCY)} for row in swept
    }
    return Recorded(name, table.conditions, _space(table.conditions), rows)


def interpolated(name: str, table: Table) -> Recorded:
    """Returns a table of all configurations of the space: a model's figures with the table's noise added."""
    return interpolated_often(name, table, 1)[0]


def interpolated_often(name: str, table: Table, draws: int) -> list[Recorded]:
    """Returns `interpolated` with several draws of the noise; seeds count up from the table's."""
    model = Interpolation(table, (THROUGHPUT, LATENCY))
    space = _space(table.conditions)
    described = f"{name}, interpolated ({model.describe()})"
    seeds = range(table.conditions.seed, table.conditions.seed + draws)
    return [
        Recorded(
            described,
            table.conditions,
            space,
            {each: dict(model.figures(each, seed)) for each in space.grid()},
        )
        for seed in seeds
    ]


def _space(conditions: Conditions) -> Space:
    entries = expected_entries(conditions.workload, conditions.device)
    return space_from_document(conditions.space, conditions.memory_bytes, entries)


def made_up() -> Recorded:
    """Returns Jia and Chen's space with formulas as figures, for smoke runs."""
    space = load_space("jia-chen", None, 1e8)
    rng = np.random.default_rng(0)
    rows = {}
    for each in space.grid():
        threads, buffers = float(each["threads"]), float(each["max_write_buffer_number"])
        compactions = float(each["max_background_compactions"])
        stalls = 1 / (1 + threads / (buffers * compactions))
        throughput = 3000 * threads**0.8 * stalls * math.exp(rng.normal(0, 0.02))
        latency = 1000 * threads**0.9 * (1.5 - stalls) * math.exp(rng.normal(0, 0.02))
        rows[each] = {THROUGHPUT: throughput, LATENCY: latency}
    conditions = Conditions(
        knobs={knob.name: "int" for knob in space.knobs},
        workload=load_workload("zipfian"),
        device=DeviceSpec(name="none"),
        space={"name": "jia-chen"},
        memory_bytes=space.memory_bytes,
        scale=64,
        seed=1,
        measured_s=180 / 64,
        engine="formulas, RocksDB 0.0",
    )
    return Recorded("made-up", conditions, space, rows)


def as_table(of: Recorded) -> Table:
    """Returns the table with one run of each configuration that `one_run_each` takes."""
    rows = (TableRow(each, 0, Status.OK, "", {**_NOTHING, **row}) for each, row in of.rows.items())
    return Table(of.conditions, tuple(rows))


@dataclass(frozen=True)
class Algorithm:
    """A tuner with its objective and its criterion of success (docs/readings.md).

    Attributes:
        name: name of the tuner.
        settings: settings of the tuner.
        objective: objective of the search.
        succeeds: for each configuration of the table, whether a search that has measured it has succeeded.
    """

    name: str
    settings: dict[str, Any]
    objective: Objective
    succeeds: frozenset[Configuration]


def algorithm(of: Recorded, name: str, settings: dict[str, Any] | None = None) -> Algorithm:
    """Returns a tuner with its own criterion of success on a table.

    GA: 95% of the unbounded maximum. NSGA-II and SMPSO: a front with a point within 95% of the bounded
    maximum. One measured point is enough, since the bounded maximum dominates whatever keeps such a point off
    the front. Epsilon-constraint and random search: the same. Weighted sum: 95% of the maximum of its own
    target.
    """
    bound_us = of.bound_us
    bounded = NEAR * of.bounded_maximum(bound_us)
    near = {each for each, row in of.rows.items() if row[THROUGHPUT] >= bounded and row[LATENCY] <= bound_us}
    front = objective_named((THROUGHPUT, LATENCY))
    if name == "ga":
        least = NEAR * of.max_throughput
        near = {each for each, row in of.rows.items() if row[THROUGHPUT] >= least}
        return Algorithm(name, settings or {}, objective_named(THROUGHPUT), frozenset(near))
    if name == "weighted-sum":
        targets = of.targets()
        least = NEAR * max(targets.values())
        near = {each for each, target in targets.items() if target >= least}
        return Algorithm(name, settings or {}, front, frozenset(near))
    if name == "epsilon-constraint":
        front = objective_named(THROUGHPUT, [f"{LATENCY}<={bound_us!r}"])
    return Algorithm(name, settings or {}, front, frozenset(near))


@dataclass(frozen=True)
class Emulation:
    """A search on a table.

    Attributes:
        order: distinct measured configurations in order.
        steps_to_success: number of them until success; infinity if it never succeeds.
    """

    order: tuple[Configuration, ...]
    steps_to_success: float


def emulate(
    of: Recorded, algorithm: Algorithm, budget_runs: int, seed: int, until_success: bool
) -> Emulation:
    """Lets a tuner search a table. A repeated configuration costs nothing.

    Args:
        of: the table.
        algorithm: the tuner.
        budget_runs: number of configurations it may measure.
        seed: seed of its random numbers.
        until_success: whether it ends at its first success.
    """
    problem = problem_on(of, algorithm.objective, budget_runs)
    search = tuner_named(algorithm.name, algorithm.settings).search(problem, np.random.default_rng(seed))
    order: dict[Configuration, None] = {}
    success = math.inf
    try:
        item = next(search)
        while True:
            batch: Batch = item() if callable(item) else item
            for trial in batch.trials:
                order.setdefault(trial.configuration)
                if trial.configuration in algorithm.succeeds:
                    success = min(success, len(order))
            if len(order) >= budget_runs or (until_success and success < math.inf):
                break
            item = search.send([answer(of, trial) for trial in batch.trials])
    except StopIteration:
        pass
    return Emulation(tuple(order), success)


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
    if runs <= _FEW:
        return [search(each) for each in range(seed, seed + runs)]
    # Tuners' libraries have threads of their own, which a fork would not take along.
    with multiprocessing.get_context("spawn").Pool(_WORKERS) as pool:
        return pool.map(search, range(seed, seed + runs), chunksize=max(1, runs // (8 * _WORKERS)))


def _emulated(of: Recorded, algorithm: Algorithm, budget_runs: int | None, seed: int) -> Emulation:
    return emulate(of, algorithm, budget_runs or len(of.rows), seed, budget_runs is None)


def share_within(steps: Iterable[float], quantile: float, total: int) -> float:
    """Returns the share of an exhaustive search within which a quantile of the searches succeeds; at most 1.

    Args:
        steps: steps until success of each search.
        quantile: quantile of the searches.
        total: number of configurations of an exhaustive search.
    """
    ordered = sorted(steps)
    return min(1.0, ordered[math.ceil(quantile * len(ordered)) - 1] / total)


def share_interval(steps: Sequence[float], quantile: float, total: int, seed: int) -> tuple[float, float]:
    """Returns the 95% interval of `share_within`, by resampling the searches 1,000 times."""
    rng = np.random.default_rng(seed)
    drawn = [
        share_within(rng.choice(np.array(steps), len(steps)).tolist(), quantile, total) for _ in range(1000)
    ]
    low, high = np.quantile(drawn, (0.025, 0.975))
    return float(low), float(high)


def best_so_far(
    of: Recorded, order: Sequence[Configuration], score: Callable[[dict[str, float]], float]
) -> NDArray[np.float64]:
    """Returns the best score after each measured configuration."""
    scores = [score(of.rows[each]) if each in of.rows else -math.inf for each in order]
    return np.maximum.accumulate(scores)
