"""Measures how well the process of tuner `auto` predicts rows of tables, with and without its features.

On each table the process learns from random rows and predicts all others. Some rows differ by the luck of a
run, so that an error of 0 cannot be reached.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.common.claims import Claim, Settings, decided, main, mean_interval, ratio_interval, reported
from benchmarks.common.emulated import table_study
from benchmarks.rocktune.offline import FIGURE, TABLES
from rocktune.errors import UserError
from rocktune.space import Configuration
from rocktune.study.specs.problem import problem_of
from rocktune.table import read_table
from rocktune.trial import Status
from rocktune.tuners.auto.features import Features
from rocktune.tuners.auto.surrogate import Model

SOURCE = "the process of tuner auto on tables of space full"
PICKED = 5
"""Number of rows that the process predicts to be the best, and whose figures are compared with the best."""
CHOSEN = "auto"

Reals = NDArray[np.float64]
FeaturesOf = Callable[[Sequence[Configuration]], Reals]
Errors = dict[str, list[float]]
"""The error of each draw, by what the process knew."""


def auto_model(settings: Settings) -> list[Claim]:
    """Predicts the rows of each table from `--rows` random ones, `--draws` times."""
    paths = sorted(Path(str(settings.extra["tables"])).glob("*.csv"))
    if not paths:
        raise UserError(f"tables: {settings.extra['tables']} holds no table (CSV)")
    draws = 2 if settings.quick else int(settings.extra["draws"])
    squared: Errors = {}
    missed: Errors = {}
    for path in paths[:1] if settings.quick else paths:
        configurations, gains = _rows(path)
        sets = _feature_sets(Features(problem_of(table_study(path, objective=FIGURE))))
        for draw in range(draws):
            order = np.random.default_rng([settings.seed, draw]).permutation(len(gains))
            learned, unseen = np.split(order, [int(settings.extra["rows"])])
            for name, features_of in sets.items():
                model = Model(features_of, [configurations[row] for row in learned], gains[learned])
                predicted = model.mean([configurations[row] for row in unseen])
                squared.setdefault(name, []).append(_error(predicted, gains[unseen]))
                missed.setdefault(name, []).append(_missed(predicted, gains[unseen]))
        settings.say(f"{path.stem}: {draws} draws of {len(gains)} rows")
    return list(_claims(squared, missed))


def _rows(path: Path) -> tuple[list[Configuration], Reals]:
    """Returns the configurations of a table's sound rows, and the logarithms of their figures."""
    space = problem_of(table_study(path, objective=FIGURE)).space
    rows = [row for row in read_table(path).rows if row.status is Status.OK and row.figures[FIGURE] > 0]
    return [space.activated(row.configuration) for row in rows], np.log([row.figures[FIGURE] for row in rows])


def _feature_sets(features: Features) -> Mapping[str, FeaturesOf]:
    """Returns the tuner's features, and those without one or both of the features that are no knobs."""

    def without_curvature(configurations: Sequence[Configuration]) -> Reals:
        return np.column_stack([features.of_knobs(configurations), features.of_all(configurations)[:, -1]])

    return {
        CHOSEN: features.of_all,
        "no_moved_bytes": features.of_quick,
        "no_curvature": without_curvature,
        "knobs_only": features.of_knobs,
    }


def _error(predicted: Reals, gains: Reals) -> float:
    """Returns the root mean square error of logarithms."""
    return math.sqrt(float(((predicted - gains) ** 2).mean()))


def _missed(predicted: Reals, gains: Reals) -> float:
    """Returns by how much the rows that look best are below the best ones, the mean of logarithms."""
    picked = gains[np.argsort(-predicted)[:PICKED]]
    return float(np.sort(gains)[-PICKED:].mean() - picked.mean())


def _claims(squared: Errors, missed: Errors) -> Iterator[Claim]:
    """Yields the errors of each set of features, and the gain of those that the tuner has."""
    shared: Mapping[str, Any] = {"engine": "recorded tables", "device": "ssd-100mb"}
    for name, errors in squared.items():
        unit = "root mean square error of the figure's logarithm"
        yield reported(f"error_{name}", SOURCE, unit, mean_interval(errors), **shared)
        unit = f"logarithm by which {PICKED} picked rows are below the best"
        yield reported(f"missed_{name}", SOURCE, unit, mean_interval(missed[name]), **shared)
    for name in squared:
        if name != CHOSEN:
            ratios = [own / other for own, other in zip(squared[CHOSEN], squared[name], strict=True)]
            claim = reported(
                f"error_over_{name}", SOURCE, "ratio of errors", ratio_interval(ratios), **shared
            )
            yield decided(claim, high=1.0)


if __name__ == "__main__":
    main(
        "rocktune.auto_model",
        auto_model,
        scale=256,
        quick_scale=256,
        extra={"tables": str(TABLES), "rows": 50, "draws": 8},
    )
