"""Models of recorded tables as systems to tune."""

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
from rocktune.trial import Batch, Result, Status, Trial
from rocktune.tuners import Problem


def table_study(path: Path, **request: Any) -> StudySpec:
    """Returns the specification of a study on a model of a table, with an hour's budget."""
    asked = {"engine": "recorded", "table": str(path), "interpolate": True, **request}
    return resolve(make_request({**asked, "budget": 3600.0}), path.stem)


class Emulated:
    """A model of a table (docs/design/tables.md) as a system to tune.

    It answers for measured configurations too, so that no search is rewarded for one run's luck. A table has
    one measurement of a run, whatever its age. Runs continue all the same, as they do on engine `embedded`,
    so that each tuner pays what it would pay there.

    Attributes:
        path: the table.
        spec: the study that tunes it.
        problem: the problem of that study.
        engine: the model.
        configurations: the configurations of the table that have figures.
    """

    def __init__(self, path: Path, runs: int, **request: Any) -> None:
        """Reads the table and fits the model.

        Args:
            path: the table.
            runs: budget of a search, in runs to the age of an ordinary trial.
            request: further settings of the study, such as `tuner`, `objective` and `constraint`.
        """
        self.path = path
        short = table_study(path, **request)
        one_s = problem_of(short).age_s(problem_of(short).trial_age_s)
        self.spec = short.model_copy(update={"budget_s": one_s * runs})
        self.problem = replace(problem_of(self.spec), runs_continue=True)
        objective = self.problem.objective
        fields = (*objective.fields, *(each.field for each in objective.constraints))
        self.engine: Engine = make_engine(self.spec.engine, fields)
        self._openings = Openings(self.spec, self.problem, self.spec.scale)
        self._table = read_table(path)
        self.configurations = tuple(
            dict.fromkeys(row.configuration for row in self._table.rows if row.status is Status.OK)
        )

    def study(self, **changes: Any) -> tuple[StudySpec, Problem]:
        """Returns the specification with changes, and its problem."""
        spec = self.spec.model_copy(update=changes)
        return spec, replace(problem_of(spec), runs_continue=True)

    def measure(self, batch: Batch) -> list[Result]:
        """Returns the results of a batch, in its order."""
        return [self.measured(trial) for trial in batch.trials]

    def measured(self, trial: Trial) -> Result:
        """Returns the model's result of a trial."""
        inputs = self._openings.engine_inputs(trial.configuration, trial.replicate)
        try:
            with closing(self.engine.open(*inputs)) as run:
                return Result(trial, Status.OK, run.advance(trial.until_s))
        except RunFailed as failure:
            return Result(trial, failure.status, None, failure.message)

    def earlier(self) -> Earlier:
        """Returns the table as an earlier study."""
        results = [self.measured(Trial(each, 1.0)) for each in self.configurations]
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
            predicted.append(model.expected(sound[index].configuration)[figure])
    return measured, predicted
