"""Recorded tables as systems to tune: exact where a configuration was measured, a model elsewhere."""

import math
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from rocktune.api.engines import make_engine
from rocktune.engine import Engine, RunFailed
from rocktune.engine.recorded.interpolation import FOLDS, Interpolation
from rocktune.study import StudySpec, make_request
from rocktune.study.openings import Openings
from rocktune.study.specs.problem import problem_of
from rocktune.study.specs.resolving import resolve
from rocktune.study.warm_start import Earlier
from rocktune.table import read_table
from rocktune.trial import Batch, Configuration, Measurement, Result, Status, Trial
from rocktune.tuners import Problem


class Emulated:
    """A table as a system to tune. A model of the table answers for configurations that it lacks.

    A table has one measurement of a run, whatever its age. Runs continue all the same, as they do on engine
    `embedded`, so that each tuner pays what it would pay there.

    Attributes:
        path: the table.
        spec: the study that tunes it.
        problem: the problem of that study.
        engine: the model.
        rows: the figures of each configuration, of its first run without a failure.
    """

    def __init__(self, path: Path, runs: int, **request: Any) -> None:
        """Reads the table and fits the model.

        Args:
            path: the table.
            runs: budget of a search, in runs to the age of an ordinary trial.
            request: further settings of the study, such as `tuner`, `objective` and `constraint`.
        """
        asked = {"engine": "recorded", "table": str(path), "interpolate": True, **request}
        self.path = path
        short = resolve(make_request({**asked, "budget": 3600.0}), path.stem)
        one_s = problem_of(short).age_s(problem_of(short).trial_age_s)
        self.spec = short.model_copy(update={"budget_s": one_s * runs})
        self.problem = replace(problem_of(self.spec), runs_continue=True)
        objective = self.problem.objective
        fields = (*objective.fields, *(each.field for each in objective.constraints))
        self.engine: Engine = make_engine(self.spec.engine, fields)
        self._openings = Openings(self.spec, self.problem, self.spec.scale)
        self._table = read_table(path)
        self.rows: dict[Configuration, Mapping[str, float]] = {}
        for row in self._table.rows:
            if row.status is Status.OK:
                self.rows.setdefault(row.configuration, row.figures)

    def study(self, **changes: Any) -> tuple[StudySpec, Problem]:
        """Returns the specification with changes, and its problem."""
        spec = self.spec.model_copy(update=changes)
        return spec, replace(problem_of(spec), runs_continue=True)

    def measure(self, batch: Batch) -> list[Result]:
        """Returns the results of a batch, in its order."""
        return [self.measured(trial) for trial in batch.trials]

    def measured(self, trial: Trial) -> Result:
        """Returns the table's result of a trial, or else that of the model."""
        if (figures := self.rows.get(trial.configuration)) is not None:
            known = {name: value for name, value in figures.items() if not math.isnan(value)}
            window = {"from_s": 0.0, "until_s": trial.until_s, "figures": known}
            return Result(trial, Status.OK, Measurement(window))
        inputs = self._openings.engine_inputs(trial.configuration, trial.replicate)
        try:
            with closing(self.engine.open(*inputs)) as run:
                return Result(trial, Status.OK, run.advance(trial.until_s))
        except RunFailed as failure:
            return Result(trial, failure.status, None, failure.message)

    def earlier(self) -> Earlier:
        """Returns the table as an earlier study."""
        results: Sequence[Result] = [self.measured(Trial(each, 1.0)) for each in self.rows]
        return Earlier(self.path.stem, self.spec, self._table.conditions.engine, results)


def held_out(path: Path, figure: str) -> tuple[list[float], list[float]]:
    """Returns measured and predicted values of a table's rows, by models that have not seen them.

    Five models are fitted to four fifths of the rows each.
    """
    table = read_table(path)
    sound = [row for row in table.rows if row.status is Status.OK]
    order = np.random.default_rng(0).permutation(len(sound))
    measured, predicted = [], []
    for part in np.array_split(order, FOLDS):
        hidden = {sound[index].configuration for index in part}
        seen = [row for row in sound if row.configuration not in hidden]
        model = Interpolation(replace(table, rows=tuple(seen)), (figure,))
        for index in part:
            measured.append(sound[index].figures[figure])
            predicted.append(model.figures(sound[index].configuration, 0)[figure])
    return measured, predicted
