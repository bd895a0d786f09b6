"""Clusters of knobs with the metrics that they influence, found from measurements.

Automates Alabed and Yoneki's manual step (section 3.4.2; automation is left open in 3.4.3). From random runs
it takes the 30 metrics that correlate with the objective and with some knob. Knobs that influence the same
metrics then form a cluster.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocktune.errors import UserError
from rocktune.space import Configuration
from rocktune.tuners.bayesian.clusters import Cluster
from rocktune.tuners.bayesian.tasks import NOISE, correlations, distinct, ranks

MIN_RUNS = 50
CANDIDATES = 30
TASKS_EACH = 2

Reals = NDArray[np.float64]


def clusters_of(runs: Sequence[tuple[Configuration, Mapping[str, float]]], objective: str) -> dict[str, Any]:
    """Returns clusters of knobs with the metrics that each influences.

    Knobs that are inactive in some of the runs are left out. Correlations are Spearman's, because metrics
    have long tails.

    Args:
        runs: configuration and metrics of each run, best of random configurations (500 in the paper).
        objective: name of the metric to improve.

    Returns:
        A JSON object. `clusters`: a list of `rocktune.tuners.bayesian.clusters.Cluster`, most important
        first. `candidates`: the considered metrics, each with `metric`, `with_objective` (correlation with
        the objective), `knob` and `with_knob` (the knob of the highest correlation, and that correlation).
        `runs`: the number of runs.

    Raises:
        UserError: there are fewer than 50 runs, the objective does not vary, or no metric correlates with a
            knob.
    """
    if len(runs) < MIN_RUNS:
        raise UserError(
            f"clusters: {len(runs)} runs are too few; at least {MIN_RUNS} are needed (the paper had 500)"
        )
    knobs = _varied(runs)
    settings = ranks(np.array([[_number(run[0][name]) for name in knobs] for run in runs]))
    names, columns = _metrics(runs)
    if objective not in names:
        raise UserError(
            f"clusters: '{objective}' does not vary in these runs, or is not measured in all of them"
        )
    metrics = ranks(columns)
    with_knobs = correlations(metrics, settings)
    with_objective = correlations(metrics, metrics[:, [names.index(objective)]])[:, 0]
    chosen = _candidates(names, metrics, with_knobs, with_objective, objective)
    if not chosen:
        raise UserError(
            "clusters: no metric correlates with a knob in these runs; measure more configurations"
        )
    # Absolute values: knobs that move the same metrics in opposite directions belong together too.
    profiles = np.abs(with_knobs[chosen].T)
    clusters = [
        _cluster(
            members, knobs, [names[each] for each in chosen], profiles, with_objective[chosen], len(runs)
        )
        for members in _groups(profiles)
    ]
    clusters.sort(key=lambda each: -each[1])
    return {
        "runs": len(runs),
        "clusters": [cluster.model_dump(mode="json") for cluster, _ in clusters],
        "candidates": [
            {
                "metric": names[each],
                "with_objective": float(with_objective[each]),
                "knob": knobs[int(np.abs(with_knobs[each]).argmax())],
                "with_knob": float(with_knobs[each][np.abs(with_knobs[each]).argmax()]),
            }
            for each in chosen
        ],
    }


def _varied(runs: Sequence[tuple[Configuration, Mapping[str, float]]]) -> list[str]:
    """Returns the knobs that vary and are active in every run.

    Others are left out: where a conditional knob is inactive it has no rank among the values of the rest.
    """
    everywhere = [name for name in runs[0][0] if all(name in run[0] for run in runs)]
    return [name for name in everywhere if len({run[0][name] for run in runs}) > 1]


def _number(value: Any) -> float:
    """Returns a knob's value as a number, NaN for text, which has no order to rank."""
    return float(value) if not isinstance(value, str) else float("nan")


def _metrics(runs: Sequence[tuple[Configuration, Mapping[str, float]]]) -> tuple[list[str], Reals]:
    """Returns the names and columns of the metrics that every run has, that are finite and that vary."""
    names = [name for name in runs[0][1] if all(name in run[1] for run in runs)]
    columns = np.array([[run[1][name] for name in names] for run in runs])
    usable = np.isfinite(columns).all(axis=0) & (columns.max(axis=0) > columns.min(axis=0))
    return [name for name, use in zip(names, usable, strict=True) if use], columns[:, usable]


def _candidates(
    names: Sequence[str], metrics: Reals, with_knobs: Reals, with_objective: Reals, objective: str
) -> list[int]:
    """Returns the indexes of at most 30 metrics that correlate with the objective and a knob.

    Metrics that correlate strongly with one already chosen are left out.
    """
    worth = np.abs(with_objective) * np.abs(with_knobs).max(axis=1)
    order = np.argsort(-worth, kind="stable").tolist()
    return distinct(metrics, order, names.index(objective), CANDIDATES)


def _groups(profiles: Reals) -> list[list[int]]:
    """Returns groups of knobs that influence the same metrics.

    Uses average linkage, and the number of groups with the best silhouette.

    Args:
        profiles: one row per knob with its absolute correlations with the candidates.

    Returns:
        Indexes of the knobs in each group.
    """
    from sklearn.cluster import AgglomerativeClustering
    from sklearn.metrics import silhouette_score

    knobs = len(profiles)
    labels, best = np.zeros(knobs, dtype=int), -1.0
    # The silhouette is undefined for one group and for as many groups as knobs.
    for count in range(2, knobs):
        found = AgglomerativeClustering(count, metric="cosine", linkage="average").fit_predict(profiles)
        score = float(silhouette_score(profiles, found, metric="cosine"))
        if score > best:
            labels, best = found, score
    return [np.flatnonzero(labels == label).tolist() for label in np.unique(labels)]


def _cluster(
    members: Sequence[int],
    knobs: Sequence[str],
    candidates: Sequence[str],
    profiles: Reals,
    with_objective: Reals,
    runs: int,
) -> tuple[Cluster, float]:
    """Returns a cluster with its most influenced metrics, and its importance.

    The metrics correlate with a knob of the cluster and with the objective. The importance is the highest
    product of both correlations.
    """
    moved = profiles[list(members)].max(axis=0)
    worth = moved * np.abs(with_objective)
    noise = NOISE / np.sqrt(runs)
    tasks = [
        candidates[each]
        for each in np.argsort(-worth, kind="stable")
        if moved[each] > noise and abs(with_objective[each]) > noise
    ]
    named = tuple(knobs[each] for each in members)
    return Cluster(knobs=named, tasks=tuple(tasks[:TASKS_EACH])), float(worth.max())
