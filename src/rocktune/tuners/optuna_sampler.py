"""TPE, and every other sampler of Optuna, as tuners.

A sampler is asked for one configuration after the other and told what each was worth. What breaks a rule
becomes a valid configuration with most of its values, and that is what the sampler is told of.
"""

import importlib.util
import inspect
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import optuna
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.samplers import BaseSampler
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial, TrialState
from pydantic import Field

from rocktune.errors import UserError, unknown_name
from rocktune.space import Configuration, Knob, Value
from rocktune.spec_file import Spec
from rocktune.trial import Batch, Result, RunKey, Status, Trial
from rocktune.tuners.base import Problem, Search, Tuner
from rocktune.tuners.cost import whole_times
from rocktune.tuners.unit_cube import UnitCube

_VIOLATION = "violation"
_DIRECTIONS = {1: StudyDirection.MAXIMIZE, -1: StudyDirection.MINIMIZE}
_FOR_ONE_OBJECTIVE = ("CmaEsSampler",)
_NEEDS = {"CmaEsSampler": "cmaes", "GPSampler": "torch"}
"""Samplers that stand on a library which Optuna leaves to its user."""
_NOT_ALONE = ("BruteForceSampler", "GridSampler", "PartialFixedSampler")
"""Samplers that need more than a study, or end it themselves."""
_MAX_REPEATS = 200
"""Configurations in a row that were measured before, after which a search is over."""


class OptunaSettings(Spec):
    """What can be chosen about a sampler.

    Attributes:
        sampler: arguments of its constructor, by Optuna's names.
    """

    sampler: dict[str, Any] = Field(default={})


class OptunaTuner(Tuner):
    """A sampler of Optuna. Those for one objective are told of the first alone."""

    settings_type = OptunaSettings
    settings: OptunaSettings
    sampler_name: str

    def search(self, problem: Problem, rng: np.random.Generator) -> Search:
        """See `Tuner.search`. Each trial is a batch, for the next one depends on it."""
        axes = {knob.name: _Axis(knob) for knob in problem.space.knobs}
        distributions = {name: axis.distribution for name, axis in axes.items()}
        fields = _fields(self.sampler_name, problem)
        directions = [_DIRECTIONS[problem.objective.direction(field)] for field in fields]
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        study = optuna.create_study(directions=directions, sampler=self._sampler(rng))
        age_s = problem.age_s(problem.trial_age_s)
        cube, left, repeats = UnitCube(problem.space), whole_times(problem.budget_s, age_s), 0
        known: dict[Configuration, Result] = {}
        release: tuple[RunKey, ...] = ()
        while left and repeats < _MAX_REPEATS:
            asked = study.ask(distributions)
            study.tell(asked, state=TrialState.FAIL)  # what is measured instead is added below
            wanted = Configuration({name: axis.value(asked.params[name]) for name, axis in axes.items()})
            configuration = cube.repaired(wanted, rng)
            repeats = repeats + 1 if configuration in known else 0
            if configuration not in known:
                (known[configuration],) = yield Batch((Trial(configuration, age_s),), release)
                release, left = ((configuration, 0),), left - 1
            params = {name: axis.parameter(configuration[name]) for name, axis in axes.items()}
            study.add_trial(_frozen(params, distributions, known[configuration], problem, fields))

    def min_budget_s(self, problem: Problem) -> float:
        """One trial's."""
        self._sampler(np.random.default_rng(0))  # refuses settings that it cannot take
        return problem.age_s(problem.trial_age_s)

    def _sampler(self, rng: np.random.Generator) -> BaseSampler:
        """Makes the sampler, with a seed where it takes one."""
        needed = _NEEDS.get(self.sampler_name)
        if needed is not None and importlib.util.find_spec(needed) is None:
            raise UserError(f"tuner '{self.name}': needs {needed}, which is not here; 'pip install {needed}'")
        made = getattr(optuna.samplers, self.sampler_name)
        taken = inspect.signature(made).parameters
        arguments: dict[str, Any] = {"seed": int(rng.integers(1 << 32))} if "seed" in taken else {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            try:
                return made(**arguments | self.settings.sampler)  # type: ignore[no-any-return]
            except (TypeError, ValueError, ImportError) as refused:
                said = " ".join(str(refused).split())
                raise UserError(f"tuner '{self.name}': Optuna refuses its settings: {said}") from None


class _Axis:
    """One knob as Optuna sees it: choices in order are whole numbers, words are categories."""

    def __init__(self, knob: Knob) -> None:
        self._choices = knob.choices
        self._words = bool(knob.choices) and isinstance(knob.choices[0], str)
        self.distribution: BaseDistribution
        if self._words:
            self.distribution = CategoricalDistribution(knob.choices)
        elif self._choices:
            self.distribution = IntDistribution(0, len(knob.choices) - 1)
        elif isinstance(knob.low, int) and isinstance(knob.high, int):
            first, last = -(-knob.low // knob.step) * knob.step, knob.high // knob.step * knob.step
            step = knob.step if first <= last else 1
            low, high = (first, last) if first <= last else (knob.low, knob.high)
            logarithmic = knob.log and low > 0 and step == 1
            self.distribution = IntDistribution(low, high, log=logarithmic, step=step)
        else:
            self.distribution = FloatDistribution(knob.low, knob.high, log=knob.log)

    def value(self, parameter: Any) -> Value:
        return self._choices[parameter] if self._choices and not self._words else parameter  # type: ignore[no-any-return]

    def parameter(self, value: Value) -> Any:
        return self._choices.index(value) if self._choices and not self._words else value


def _fields(sampler: str, problem: Problem) -> tuple[str, ...]:
    """Returns the objectives that a sampler is told of."""
    return problem.objective.fields[:1] if sampler in _FOR_ONE_OBJECTIVE else problem.objective.fields


def _frozen(
    params: Mapping[str, Any],
    distributions: Mapping[str, BaseDistribution],
    result: Result,
    problem: Problem,
    fields: Sequence[str],
) -> FrozenTrial:
    """Returns what a sampler is told of a result."""
    row = problem.objective.row(result)
    values = [row[field] for field in fields]
    known = result.status is Status.OK and not np.isnan(values).any()
    constrained = bool(problem.objective.constraints)
    return optuna.trial.create_trial(
        params=dict(params),
        distributions=dict(distributions),
        values=values if known else None,
        state=TrialState.COMPLETE if known else TrialState.FAIL,
        constraints={_VIOLATION: problem.objective.violation(row)} if constrained and known else None,
    )


def optuna_tuner(name: str) -> type[OptunaTuner]:
    """Returns the tuner for a sampler's name, such as `optuna:CmaEsSampler`.

    Raises:
        UserError: Optuna has no such sampler.
    """
    samplers = sampler_names()
    sampler = name.partition(":")[2]
    if sampler not in samplers:
        raise unknown_name("sampler of Optuna:", sampler, samplers)
    summary = f"Optuna's {sampler}"
    return type(sampler, (OptunaTuner,), {"name": name, "summary": summary, "sampler_name": sampler})


class Tpe(OptunaTuner):
    """The tree-structured Parzen estimator, for one objective or several, with constraints."""

    name = "tpe"
    summary = "Optuna's TPE: learns where good configurations are dense; one objective or several"
    sampler_name = "TPESampler"


def sampler_names() -> list[str]:
    """Returns the names of Optuna's samplers that need nothing but a study."""
    found = vars(optuna.samplers)
    return sorted(
        name
        for name in optuna.samplers.__all__
        if inspect.isclass(found[name])
        and issubclass(found[name], BaseSampler)
        and not inspect.isabstract(found[name])
        and name not in _NOT_ALONE
    )
