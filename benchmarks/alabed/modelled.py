"""Searches on a model of a table, judged without the model's noise."""

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common.searching import measured_search
from benchmarks.common.tables import append_rows, read_rows, typed
from rocktune.engine.base import RunFailed
from rocktune.engine.recorded.interpolation import LEARNED_FROM, Interpolation
from rocktune.engine.spec import FULL_LENGTH_S
from rocktune.objective import objective_named
from rocktune.space import Configuration, Space, space_from_document
from rocktune.study.specs.problem import expected_entries
from rocktune.table import Table
from rocktune.trial import Batch, Measurement, Result, Status, Trial
from rocktune.tuners import Problem, tuner_named

THROUGHPUT = "throughput_ops_s"
STEPS = (1, 2, 5, 10, 20, 30, 40, 60, 80, 100)
"""Numbers of trials after which a search is judged."""
_KEY = ("setup", "tuner", "seed", "steps", "table")


class Modelled:
    """A model of a table, in place of the store.

    Attributes:
        table: the table.
        space: space of the searches.
        digest: a digest of the runs; searches with equal ones can be compared.
        model: the model.
    """

    def __init__(self, table: Table) -> None:
        """Fits the model; takes seconds."""
        conditions = table.conditions
        entries = expected_entries(conditions.workload, conditions.device)
        self.table = table
        self.space: Space = space_from_document(conditions.space, conditions.memory_bytes, entries)
        runs = [
            (row.configuration.key, row.replicate, row.status, sorted(row.figures.items()))
            for row in table.rows
        ]
        self.digest = hashlib.sha256(repr(runs).encode()).hexdigest()[:12]
        self.model = Interpolation(table, (THROUGHPUT,), LEARNED_FROM)

    def problem(self, steps: int) -> Problem:
        """Returns the problem of a search of `steps` trials."""
        conditions = self.table.conditions
        run_s = conditions.measured_s
        return Problem(
            space=self.space,
            objective=objective_named(THROUGHPUT),
            scale=FULL_LENGTH_S / run_s,
            runs_continue=False,
            # Half a trial more, so that rounding never costs the last one.
            budget_s=(steps + 0.5) * run_s,
            baseline=self.space.default(),
            expected_entries=expected_entries(conditions.workload, conditions.device),
            entry_bytes=conditions.workload.entry_bytes,
        )

    def measured(self, trial: Trial, seed: int) -> Result:
        """Returns the result of a trial, with noise that depends on the seed."""
        try:
            figures = dict(self.model.figures(trial.configuration, seed))
        except RunFailed as failure:
            return Result(trial, failure.status, None, failure.message)
        window = {"from_s": 0.0, "until_s": trial.until_s, "figures": figures}
        return Result(trial, Status.OK, Measurement(window))

    def truth(self, configuration: Configuration) -> float:
        """Returns the throughput of a configuration without noise; 0 if its run fails."""
        try:
            return self.model.expected(configuration)[THROUGHPUT]
        except RunFailed:
            return 0.0


@dataclass(frozen=True)
class Searched:
    """The result of a search.

    Attributes:
        after: true throughput of the configuration that looks best, by number of trials.
        winner: the configuration that looks best at the end.
    """

    after: Mapping[int, float]
    winner: Configuration


def search(of: Modelled, tuner: str, tuner_settings: Mapping[str, Any], steps: int, seed: int) -> Searched:
    """Searches, and returns the true throughput of what looks best after each trial, and the winner.

    It looks best by its measured throughput, which is noisy. So luck in a run does not count. Until a run
    succeeds it is the space's default.

    Raises:
        UserError: a setting is wrong, or the tuner needs a library that is not installed.
    """
    problem = of.problem(steps)
    chosen = tuner_named(tuner, tuner_settings)
    chosen.min_budget_s(problem)
    highest, winner, found = -math.inf, problem.baseline, list[float]()

    def measure(batch: Batch) -> list[Result]:
        return [of.measured(trial, seed) for trial in batch.trials]

    for result, _ in measured_search(problem, chosen, np.random.default_rng(seed), measure):
        throughput = result.metric(THROUGHPUT)
        if throughput > highest:
            highest, winner = throughput, result.trial.configuration
        found.append(of.truth(winner))
        if len(found) == steps:
            break
    # A search that ends early keeps what it has found.
    found += [of.truth(winner)] * (steps - len(found))
    return Searched(dict(enumerate(found, 1)), winner)


@dataclass(frozen=True)
class Searches:
    """The searches that are done, in a CSV file to which this and other processes add further ones.

    Attributes:
        path: the file; it need not exist.
    """

    path: Path

    def known(self, key: Mapping[str, Any]) -> Searched | None:
        """Returns the search with its throughput after each of `STEPS` it had; None if it is not done."""
        for row in read_rows(self.path, typed()):
            if all(row[name] == str(key[name]) for name in _KEY):
                after = {each: float(row[_column(each)]) for each in STEPS if row[_column(each)]}
                return Searched(after, Configuration(json.loads(row["winner"])))
        return None

    def add(self, key: Mapping[str, Any], found: Searched) -> Searched:
        """Adds a search and returns it as `known` does."""
        row = {name: str(key[name]) for name in _KEY}
        row |= {_column(each): f"{found.after[each]:.6g}" if each in found.after else "" for each in STEPS}
        append_rows(self.path, [row | {"winner": found.winner.key}])
        return self.known(key) or found


def _column(steps: int) -> str:
    return f"after_{steps}"
