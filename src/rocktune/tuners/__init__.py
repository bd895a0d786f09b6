"""Tuners, the algorithms that decide which trials a search asks for, by name.

A new tuner is a file in this package and a line in the registry below, or a file of the user's, which is
named by its path (docs/tutorials/add-a-tuner.md).
"""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from rocktune.errors import unknown_name
from rocktune.spec_file import validated
from rocktune.tuners.base import Problem, Search, Tuner
from rocktune.tuners.from_file import tuner_in

OPTUNA_PREFIX = "optuna:"

_TUNERS = {
    "auto": "auto.Auto",
    "dremel": "dremel.Dremel",
    "random": "random.RandomSearch",
    "hand": "hand.Hand",
    "tuning-guide": "tuning_guide.TuningGuide",
    "ga": "evolutionary.genetic.GeneticAlgorithmTuner",
    "nsga2": "evolutionary.genetic.Nsga2",
    "smpso": "evolutionary.smpso.Smpso",
    "epsilon-constraint": "evolutionary.genetic.EpsilonConstraint",
    "weighted-sum": "evolutionary.genetic.WeightedSum",
    "tpe": "optuna_sampler.Tpe",
    "smac": "process.smac.Smac",
    "bo": "bayesian.variants.SingleTask",
    "multitask-bo": "bayesian.variants.MultiTask",
    "clustered-bo": "bayesian.variants.Clustered",
    "additive-bo": "bayesian.variants.Additive",
}
"""Module and class of each tuner in this package. They and their libraries are imported on first use."""


def tuner_named(name: str, settings: Mapping[str, Any] | None = None) -> Tuner:
    """Returns the tuner with this name and these settings.

    Args:
        name: one of `tuner_names`, `optuna:` and a sampler's name, a Python file, which is executed, or a
            TOML file, which names a program.
        settings: values by setting; the others have their defaults.

    Raises:
        UserError: there is no such tuner or setting, a value is invalid, or the file does not define a tuner.
    """
    if name.endswith(".py"):
        tuner = tuner_in(Path(name))
    elif name.endswith(".toml"):
        tuner = import_module(f"{__name__}.process").process_tuner(Path(name))
    elif name.startswith(OPTUNA_PREFIX):
        tuner = import_module(f"{__name__}.optuna_sampler").optuna_tuner(name)
    elif name in _TUNERS:
        tuner = _imported(name)
    else:
        raise unknown_name("tuner", name, _TUNERS)
    return tuner(validated(tuner.settings_type, dict(settings or {}), f"tuner {name}"))


def tuner_names() -> dict[str, str]:
    """Returns the names of all registered tuners, each with a description in one line."""
    return {name: _imported(name).summary for name in _TUNERS}


def _imported(name: str) -> type[Tuner]:
    """Returns the class of a registered tuner."""
    module, _, class_name = _TUNERS[name].rpartition(".")
    return getattr(import_module(f"{__name__}.{module}"), class_name)  # type: ignore[no-any-return]


__all__ = ["Problem", "Search", "Tuner", "tuner_named", "tuner_names"]
