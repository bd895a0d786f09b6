"""Tuners: what to try next and for how long. A new one is one file here and one line below.

Or a file anywhere, which is named instead (docs/tutorials/add-a-tuner.md).
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
    "dremel": "dremel.Dremel",
    "random": "random.RandomSearch",
    "tuning-guide": "tuning_guide.TuningGuide",
    "ga": "evolutionary.genetic.GeneticAlgorithmTuner",
    "nsga2": "evolutionary.genetic.Nsga2",
    "smpso": "evolutionary.smpso.Smpso",
    "epsilon-constraint": "evolutionary.genetic.EpsilonConstraint",
    "weighted-sum": "evolutionary.genetic.WeightedSum",
    "tpe": "optuna_sampler.Tpe",
    "bo": "bayesian.search.SingleTask",
    "multitask-bo": "bayesian.search.MultiTask",
    "clustered-bo": "bayesian.search.Clustered",
    "additive-bo": "bayesian.search.Additive",
}
"""Where each tuner is, under this package; imported, with the library that it stands on, when asked for."""


def tuner_named(name: str, settings: Mapping[str, Any] | None = None) -> Tuner:
    """Returns a tuner.

    Args:
        name: one of `tuner_names`, `optuna:` and the name of a sampler, or a Python file, which is executed.
        settings: by name, those that differ from the tuner's defaults.

    Raises:
        UserError: there is no such tuner or setting (the nearest is suggested), a value is out of bounds, or
            the file is no tuner's.
    """
    if name.endswith(".py"):
        tuner = tuner_in(Path(name))
    elif name.startswith(OPTUNA_PREFIX):
        tuner = import_module(f"{__name__}.optuna_sampler").optuna_tuner(name)
    elif name in _TUNERS:
        tuner = _imported(name)
    else:
        raise unknown_name("tuner", name, _TUNERS)
    return tuner(validated(tuner.settings_type, dict(settings or {}), f"tuner {name}"))


def tuner_names() -> dict[str, str]:
    """Returns every tuner's name with one line about it."""
    return {name: _imported(name).summary for name in _TUNERS}


def _imported(name: str) -> type[Tuner]:
    module, _, class_name = _TUNERS[name].rpartition(".")
    return getattr(import_module(f"{__name__}.{module}"), class_name)  # type: ignore[no-any-return]


__all__ = ["Problem", "Search", "Tuner", "tuner_named", "tuner_names"]
