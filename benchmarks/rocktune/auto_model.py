"""How well the process of tuner `auto` predicts rows of recorded tables, with and without its own features.

On each table the process learns from random rows and predicts all others. Some rows differ by the luck of a
run, so that an error of 0 cannot be reached.
"""

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler

from benchmarks.common.claims import Claim, Settings, decided, main, mean_interval, ratio_interval, reported
from benchmarks.common.emulated import table_problem
from benchmarks.rocktune.offline import FIGURE, TABLES
from rocktune.errors import UserError
from rocktune.gaussian_process import fitted_process
from rocktune.table import read_table
from rocktune.trial import Status
from rocktune.tuners.auto.features import Features

SOURCE = "the process of tuner auto on tables of space full"
PICKED = 5
"""Number of rows that the process predicts to be the best, and whose figures are compared with the best."""
CHOSEN = "auto"

Reals = NDArray[np.float64]
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
        sets, gains = _features(path)
        for draw in range(draws):
            order = np.random.default_rng([settings.seed, draw]).permutation(len(gains))
            learned, unseen = np.split(order, [int(settings.extra["rows"])])
            for name, features in sets.items():
                predicted = _predicted(features, gains, learned, unseen)
                squared.setdefault(name, []).append(_error(predicted, gains[unseen]))
                missed.setdefault(name, []).append(_missed(predicted, gains[unseen]))
        settings.say(f"{path.stem}: {draws} draws of {len(gains)} rows")
    return list(_claims(squared, missed))


def _features(path: Path) -> tuple[Mapping[str, Reals], Reals]:
    """Returns features of a table's sound rows by what they hold, and the logarithms of the rows' figures."""
    problem = table_problem(path, FIGURE)
    rows = [row for row in read_table(path).rows if row.status is Status.OK and row.figures[FIGURE] > 0]
    configurations = [problem.space.activated(row.configuration) for row in rows]
    features = Features(problem)
    whole, knobs = features.of_all(configurations), features.of_knobs(configurations)
    sets = {
        CHOSEN: whole,
        "no_moved_bytes": features.of_quick(configurations),
        "no_curvature": np.column_stack([knobs, whole[:, -1]]),
        "knobs_only": knobs,
    }
    return sets, np.log([row.figures[FIGURE] for row in rows])


def _predicted(features: Reals, gains: Reals, learned: NDArray[np.intp], unseen: NDArray[np.intp]) -> Reals:
    """Returns what a process that learned from some rows predicts for others, shape (unseen,)."""
    scaler = StandardScaler()
    process = fitted_process(scaler.fit_transform(features[learned]), gains[learned])
    return np.asarray(process.predict(scaler.transform(features[unseen])))


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
