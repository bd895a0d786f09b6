"""Optuna's samplers as tuners, TPE among them.

A sampler suggests one configuration at a time and gets its figures before the next. A suggestion that breaks
a rule is replaced by a valid configuration with most of its values, and the sampler gets the figures of that
one. Only active knobs are parameters of a suggestion, so that samplers can model conditional knobs as such.
TPE does. CMA-ES and the Gaussian process model the knobs that all configurations have in common, CMA-ES among
them only those with an order, and draw all others at random.
"""

import importlib.util
import inspect
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, cast

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
from rocktune.tuners.cost import affordable_trials
from rocktune.tuners.unit_cube import UnitCube

_VIOLATION = "violation"
_DIRECTIONS = {1: StudyDirection.MAXIMIZE, -1: StudyDirection.MINIMIZE}
_SINGLE_OBJECTIVE = ("CmaEsSampler",)
"""Samplers that accept only one objective."""
_NEEDS = {"CmaEsSampler": "cmaes", "GPSampler": "torch"}
"""Libraries that samplers need and Optuna does not install, by sampler."""
_WITHOUT_CONDITIONS = ("CmaEsSampler", "GPSampler")
"""Samplers that draw knobs at random which not all configurations have."""
_UNSUPPORTED = ("BruteForceSampler", "GridSampler", "PartialFixedSampler")
"""Samplers that need arguments which depend on the space, or that stop the study themselves."""
_MAX_REPEATS = 200
"""Number of consecutive suggestions of measured configurations after which a search ends."""


class OptunaSettings(Spec):
    """The settings of a tuner with an Optuna sampler.

    Attributes:
        sampler: arguments of the sampler's constructor, by Optuna's names.
    """

    sampler: dict[str, Any] = Field(default={})


class OptunaTuner(Tuner):
    """A tuner with a sampler of Optuna. Samplers for a single objective get only the first one."""

    settings_type = OptunaSettings
    settings: OptunaSettings
    sampler_name: str

    def search(self, problem: Problem, rng: np.random.Generator) -> Search:
        """See `Tuner.search`. Each trial is a batch of its own, because the next suggestion depends on it."""
        axes = {knob.name: _Axis(knob) for knob in problem.space.knobs}
        distributions = {name: axis.distribution for name, axis in axes.items()}
        fields = _fields(self.sampler_name, problem)
        directions = [_DIRECTIONS[problem.objective.direction(field)] for field in fields]
        # Optuna logs each trial at level INFO.
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        study = optuna.create_study(directions=directions, sampler=self._sampler(rng))
        age_s = problem.age_s(problem.trial_age_s)
        cube, left, repeats = UnitCube(problem.space), affordable_trials(problem.budget_s, age_s), 0
        known = {result.trial.configuration: result for result in problem.known}
        for configuration, result in known.items():
            params = {name: axes[name].parameter(value) for name, value in configuration.items()}
            study.add_trial(_frozen(params, distributions, result, problem, fields))
        release: tuple[RunKey, ...] = ()
        while left and repeats < _MAX_REPEATS:
            asked, wanted = study.ask(), dict[str, Value]()
            # A knob is suggested after its parents, whose values decide whether it is active.
            for knob in problem.space.conditional_knobs.in_order:
                if knob.is_active(wanted):
                    wanted[knob.name] = axes[knob.name].suggested(asked, knob.name)
            # Closed as failed, which samplers ignore: the configuration that was measured may be a repaired
            # one, and is added below with its own parameters.
            study.tell(asked, state=TrialState.FAIL)
            configuration = cube.repaired(Configuration(wanted), rng)
            # A known configuration costs nothing and is reported again, from which the sampler may move on.
            repeats = repeats + 1 if configuration in known else 0
            if configuration not in known:
                (known[configuration],) = yield Batch((Trial(configuration, age_s),), release)
                release, left = ((configuration, 0),), left - 1
            params = {name: axes[name].parameter(value) for name, value in configuration.items()}
            study.add_trial(_frozen(params, distributions, known[configuration], problem, fields))

    def min_budget_s(self, problem: Problem) -> float:
        """Returns the cost of one trial in seconds of measuring."""
        self._sampler(np.random.default_rng(0))  # reports invalid settings before the search begins
        return problem.age_s(problem.trial_age_s)

    def _sampler(self, rng: np.random.Generator) -> BaseSampler:
        """Returns a new sampler, with a seed if its constructor accepts one.

        Raises:
            UserError: a library that it needs is missing, or Optuna refuses its settings.
        """
        needed = _NEEDS.get(self.sampler_name)
        if needed is not None and importlib.util.find_spec(needed) is None:
            raise UserError(
                f"tuner '{self.name}': needs {needed}, which is not installed; run 'pip install {needed}'"
            )
        made = getattr(optuna.samplers, self.sampler_name)
        taken = inspect.signature(made).parameters
        arguments: dict[str, Any] = {"seed": int(rng.integers(1 << 32))} if "seed" in taken else {}
        if self.sampler_name in _WITHOUT_CONDITIONS:
            # Otherwise they log a line for each such knob of each suggestion.
            arguments["warn_independent_sampling"] = False
        with warnings.catch_warnings():
            # Some samplers are marked experimental, about which the user can do nothing.
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            try:
                return made(**arguments | self.settings.sampler)  # type: ignore[no-any-return]
            except (TypeError, ValueError, ImportError) as refused:
                message = " ".join(str(refused).split())
                raise UserError(f"tuner '{self.name}': Optuna refuses its settings: {message}") from None


class _Axis:
    """A knob's Optuna distribution, and the conversion between the knob's values and Optuna's parameters.

    A choice of numbers becomes its index, a whole number, so that samplers know the order of choices. Words
    have no order and become categories.
    """

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
            logarithmic = knob.log and low > 0 and step == 1  # Optuna refuses log with a step or with 0
            self.distribution = IntDistribution(low, high, log=logarithmic, step=step)
        else:
            self.distribution = FloatDistribution(knob.low, knob.high, log=knob.log)

    def suggested(self, trial: optuna.Trial, name: str) -> Value:
        """Returns the value that a trial of Optuna suggests for the knob of this name."""
        found = self.distribution
        if isinstance(found, IntDistribution):
            number = trial.suggest_int(name, found.low, found.high, step=found.step, log=found.log)
            return self._choices[number] if self._choices else number
        if isinstance(found, FloatDistribution):
            return trial.suggest_float(name, found.low, found.high, log=found.log)
        return cast("Value", trial.suggest_categorical(name, self._choices))

    def parameter(self, value: Value) -> Any:
        """Returns Optuna's parameter for a value of the knob."""
        return self._choices.index(value) if self._choices and not self._words else value


def _fields(sampler: str, problem: Problem) -> tuple[str, ...]:
    """Returns the objective's fields whose values a sampler gets."""
    return problem.objective.fields[:1] if sampler in _SINGLE_OBJECTIVE else problem.objective.fields


def _frozen(
    params: Mapping[str, Any],
    distributions: Mapping[str, BaseDistribution],
    result: Result,
    problem: Problem,
    fields: Sequence[str],
) -> FrozenTrial:
    """Returns a result as an Optuna trial, which is failed if the result has no figures."""
    row = problem.objective.row(result)
    values = [row[field] for field in fields]
    known = result.status is Status.OK and not np.isnan(values).any()
    constrained = bool(problem.objective.constraints)
    return optuna.trial.create_trial(
        params=dict(params),
        distributions={name: distributions[name] for name in params},
        values=values if known else None,
        state=TrialState.COMPLETE if known else TrialState.FAIL,
        constraints={_VIOLATION: problem.objective.violation(row)} if constrained and known else None,
    )


def optuna_tuner(name: str) -> type[OptunaTuner]:
    """Returns the class of the tuner with a name such as `optuna:CmaEsSampler`.

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
    """The tuner with Optuna's tree-structured Parzen estimator, for one or several objectives."""

    name = "tpe"
    summary = "Optuna's TPE: learns where good configurations are dense; one objective or several"
    sampler_name = "TPESampler"


def sampler_names() -> list[str]:
    """Returns the sorted names of Optuna's samplers that work without arguments."""
    found = vars(optuna.samplers)
    return sorted(
        name
        for name in optuna.samplers.__all__
        if inspect.isclass(found[name])
        and issubclass(found[name], BaseSampler)
        and not inspect.isabstract(found[name])
        and name not in _UNSUPPORTED
    )
