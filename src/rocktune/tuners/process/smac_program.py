"""SMAC3 as the program of a process tuner (docs/design/process-tuners.md).

It runs in an environment with SMAC3 and imports nothing of rocktune.
"""

import json
import math
import os
import sys
import tempfile
from typing import Any

from ConfigSpace import (
    AndConjunction,
    CategoricalHyperparameter,
    Configuration,
    ConfigurationSpace,
    InCondition,
    NotEqualsCondition,
    UniformFloatHyperparameter,
    UniformIntegerHyperparameter,
)
from smac import HyperparameterOptimizationFacade, Scenario
from smac.main.exceptions import ConfigurationSpaceExhaustedException
from smac.runhistory import StatusType, TrialInfo, TrialValue

_PENALTY = 10.0
"""The cost of a result that breaks a constraint grows by this times its size, and more with the violation."""


class Axis:
    """A knob and its hyperparameter.

    A choice becomes its index, so that equal values of different types stay apart. Choices of numbers keep
    their order. Whole numbers are counted in steps.
    """

    def __init__(self, knob: dict[str, Any]) -> None:
        self.name = knob["name"]
        self.choices = knob.get("choices", [])
        self.step = 1
        first, last, log = 0, len(self.choices) - 1, False
        if knob["type"] == "real":
            low, high = knob["low"], max(knob["high"], math.nextafter(knob["low"], math.inf))
            self.hyperparameter: Any = UniformFloatHyperparameter(self.name, low, high, log=knob["log"])
            self.first, self.last = low, high
            return
        if knob["type"] == "integer":
            multiples = -(-knob["low"] // knob["step"]) <= knob["high"] // knob["step"]
            self.step = knob["step"] if multiples else 1
            first, last = -(-knob["low"] // self.step), knob["high"] // self.step
            log = knob["log"] and first > 0
        self.first, self.last = first, last
        words = self.choices and isinstance(self.choices[0], str | bool)
        if words or first == last:
            self.hyperparameter = CategoricalHyperparameter(self.name, list(range(first, last + 1)))
        else:
            self.hyperparameter = UniformIntegerHyperparameter(self.name, first, last, log=log)

    def encoded(self, value: Any) -> Any:
        """Returns the hyperparameter's value for one of the knob, the nearest one if it has no other."""
        if self.choices:
            return self.choices.index(value)
        if isinstance(self.hyperparameter, UniformFloatHyperparameter):
            return float(min(max(value, self.first), self.last))
        return min(max(value // self.step, self.first), self.last)

    def decoded(self, value: Any) -> Any:
        """Returns the knob's value for one of the hyperparameter."""
        if self.choices:
            return self.choices[int(value)]
        if isinstance(self.hyperparameter, UniformFloatHyperparameter):
            return float(value)
        return int(value) * self.step


class Encoding:
    """The problem's knobs as a configuration space of SMAC3, with their conditions."""

    def __init__(self, knobs: list[dict[str, Any]], seed: int) -> None:
        self.axes = {knob["name"]: Axis(knob) for knob in knobs}
        self.space = ConfigurationSpace(seed=seed)
        self.space.add([axis.hyperparameter for axis in self.axes.values()])
        for knob in knobs:
            conditions = [each for when in knob["when"] for each in self._conditions(knob["name"], when)]
            if conditions:
                self.space.add(conditions[0] if len(conditions) == 1 else AndConjunction(*conditions))

    def configuration(self, values: dict[str, Any]) -> Configuration:
        """Returns the configuration of a result."""
        return Configuration(
            self.space, values={name: self.axes[name].encoded(value) for name, value in values.items()}
        )

    def values(self, configuration: Configuration) -> dict[str, Any]:
        """Returns the values of a configuration's active knobs."""
        return {name: self.axes[name].decoded(value) for name, value in dict(configuration).items()}

    def _conditions(self, name: str, when: dict[str, Any]) -> list[Any]:
        """Returns a knob's condition on one parent."""
        parent = self.axes[when["knob"]]
        child = self.axes[name].hyperparameter
        if parent.choices:
            named = [value in when["values"] for value in parent.choices]
            values = [index for index, each in enumerate(named) if each != when["unless"]]
            return [InCondition(child, parent.hyperparameter, values)]
        values = [parent.encoded(value) for value in when["values"]]
        if when["unless"]:
            return [NotEqualsCondition(child, parent.hyperparameter, value) for value in values]
        return [InCondition(child, parent.hyperparameter, values)]


def cost_of(result: dict[str, Any], goal: dict[str, str]) -> float | None:
    """Returns the cost of a result: the figure, negated if larger is better; None without figures.

    SMAC3 knows no constraints. A result that breaks them costs more than any that keeps them, the more so the
    larger its violation.
    """
    figure, violation = result["figures"].get(goal["figure"]), result["violation"]
    if figure is None or violation is None:
        return None
    cost = -figure if goal["direction"] == "max" else figure
    return float(cost + abs(cost) * _PENALTY * (1 + violation) if violation else cost)


def value_of(cost: float | None, costs: list[float]) -> TrialValue:
    """Returns the value of a result, and adds its cost to those before it.

    One without figures costs as much as the worst of them: SMAC3's model takes no infinite cost.
    """
    if cost is None:
        return TrialValue(cost=max(costs, default=1.0), status=StatusType.CRASHED)
    costs.append(cost)
    return TrialValue(cost=cost)


def facade(
    problem: dict[str, Any], encoding: Encoding, known: list[Configuration], folder: str
) -> HyperparameterOptimizationFacade:
    """Returns SMAC3 with its initial design, of which as many configurations are left out as are known.

    A resumed search has measured those, though not with the values that rules forbid.
    """
    made = HyperparameterOptimizationFacade
    trials = max(1, int(problem["budget_s"] / problem["trial_s"] * (1 + 1e-12)))
    scenario = Scenario(
        encoding.space, deterministic=True, n_trials=trials, seed=problem["seed"], output_directory=folder
    )
    design = made.get_initial_design(scenario)
    if known:
        # One that is known is passed over.
        left = design.select_configurations()[len(known) :] or known[:1]
        design = made.get_initial_design(scenario, n_configs=0, additional_configs=left[:trials])
    return made(scenario, initial_design=design, overwrite=True, logging_level=False)


def search(lines: Any, say: Any, folder: str) -> None:
    """Answers each line with a suggestion, until SMAC3 has none or there are no more lines."""
    told = json.loads(next(lines))
    problem = told["problem"]
    goal = problem["objective"][0]
    encoding = Encoding(problem["knobs"], problem["seed"])
    measured = [encoding.configuration(result["configuration"]) for result in told["results"]]
    smac = facade(problem, encoding, measured, folder)
    asked: TrialInfo | None = None
    costs: list[float] = []
    while told:
        for result in told["results"]:
            value = value_of(cost_of(result, goal), costs)
            # SMAC3 has one seed for all trials: its own, or that of the first results it gets.
            seed = 0 if asked is None else asked.seed
            info = TrialInfo(encoding.configuration(result["configuration"]), seed=seed)
            smac.tell(info, value, save=False)
            # Rules change a configuration always alike, so that they are a part of what is searched.
            if asked is not None:
                smac.tell(asked, value, save=False)
        try:
            asked = smac.ask()
        except (StopIteration, ConfigurationSpaceExhaustedException):
            return
        say({"trials": [{"configuration": encoding.values(asked.config)}]})
        line = next(lines, "")
        told = json.loads(line) if line else {}


def main() -> None:
    """Speaks the protocol on standard input and output, and keeps what SMAC3 prints out of the latter."""
    with os.fdopen(os.dup(1), "w") as answers, tempfile.TemporaryDirectory() as folder:
        os.dup2(2, 1)

        def say(answer: dict[str, Any]) -> None:
            print(json.dumps(answer), file=answers, flush=True)

        search(iter(sys.stdin), say, folder)


if __name__ == "__main__":
    main()
