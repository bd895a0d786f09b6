"""Dremel's arms with their results, computed again from the records of a study."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rocktune.ledger import StudyRecord, TrialRecord
from rocktune.objective import Objective
from rocktune.space import Configuration
from rocktune.study.seeds import seed_of
from rocktune.study.specs.problem import problem_of
from rocktune.study.specs.spec import StudySpec
from rocktune.trial import Result
from rocktune.tuners.dremel import DremelSettings, pooled_configurations


def arm_results(study: StudyRecord, trials: Sequence[TrialRecord]) -> list[Mapping[str, Any]]:
    """Returns the arms that Dremel tried; empty for other tuners.

    Results are those at the first age, because all configurations were measured there and can be compared.

    Args:
        study: record of the study.
        trials: all recorded trials.

    Returns:
        One mapping per arm. `buckets`: bucket by feature, 1 the lowest. `trials`: number of configurations
        that were run. `value`: their best result in the objective's first field, None if all failed.
    """
    if study.spec.get("tuner") != "dremel":
        return []
    spec = StudySpec.model_validate(study.spec)
    settings, problem = DremelSettings.model_validate(spec.tuner_settings), problem_of(spec)
    first = _first_results(trials)
    # The ledger does not record arms, but the tuner's random numbers follow from the seed and can be drawn
    # again.
    found = pooled_configurations(
        problem, settings, np.random.default_rng(seed_of(spec.seed, "tuner")), list(first)
    )
    arms: dict[tuple[int, ...], list[Result]] = {}
    for place, result in zip(found, first.values(), strict=True):
        arms.setdefault(place.buckets, []).append(result)
    objective = problem.objective
    return [
        {
            "buckets": dict(zip(settings.features, buckets, strict=True)),
            "trials": len(results),
            "value": _best(results, objective),
        }
        for buckets, results in sorted(arms.items())
    ]


def _first_results(trials: Sequence[TrialRecord]) -> dict[Configuration, Result]:
    """Returns each searched configuration's result at its lowest age."""
    first: dict[Configuration, Result] = {}
    for record in trials:
        if record.phase == "search":
            first.setdefault(record.trial.configuration, record.result)
    return first


def _best(results: Sequence[Result], objective: Objective) -> float | None:
    """Returns the best known figure among results, None if all failed."""
    values = [objective.figure(result, objective.primary) for result in results]
    known = [value for value in values if not math.isnan(value)]
    best = max if objective.direction(objective.primary) > 0 else min
    return best(known) if known else None
