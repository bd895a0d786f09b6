"""Which knobs go together, and which metrics they drive: clusters from measurements.

What Alabed and Yoneki did by hand (section 3.4.2) and left open for a machine (section 3.4.3): of everything
that was counted in random runs the 30 metrics that go with the objective and with some knob; then knobs that
move the same metrics form a cluster.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocktune.errors import UserError
from rocktune.space import Configuration
from rocktune.tuners.bayesian.clusters import Cluster

MIN_RUNS = 50
CANDIDATES = 30
TASKS_EACH = 2
_SAME = 0.95
"""Two metrics with a higher correlation than this say the same."""
_NOISE = 3.0
"""Correlations below this many standard errors, 1 / sqrt(runs), are taken for noise."""

Reals = NDArray[np.float64]


def clusters_of(runs: Sequence[tuple[Configuration, Mapping[str, float]]], objective: str) -> dict[str, Any]:
    """Returns clusters of knobs with the metrics that each drives.

    Correlations are Spearman's, for metrics have long tails.

    Args:
        runs: configurations, best drawn at random (the paper: 500), each with what was measured.
        objective: the metric that is sought.

    Returns:
        `clusters`: a list of `rocktune.tuners.bayesian.clusters.Cluster` as JSON, the one whose knobs matter
        most first. `candidates`: the metrics that were considered, each with `metric`, `with_objective` (its
        correlation with the objective), `knob` and `with_knob` (the knob it goes with most). `runs`.

    Raises:
        UserError: there are fewer than 50 runs, or nothing goes with any knob.
    """
    if len(runs) < MIN_RUNS:
        raise UserError(f"clusters: {len(runs)} runs; it takes at least {MIN_RUNS}, the paper had 500")
    knobs = [name for name in runs[0][0] if len({run[0][name] for run in runs}) > 1]
    settings = _ranks(np.array([[_number(run[0][name]) for name in knobs] for run in runs]))
    names, columns = _metrics(runs)
    if objective not in names:
        raise UserError(f"clusters: no variation in '{objective}' in these runs")
    metrics = _ranks(columns)
    with_knobs = _correlations(metrics, settings)
    with_objective = _correlations(metrics, metrics[:, [names.index(objective)]])[:, 0]
    chosen = _candidates(names, metrics, with_knobs, with_objective, objective)
    if not chosen:
        raise UserError("clusters: no metric goes with any knob in these runs")
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


def _number(value: Any) -> float:
    return float(value) if not isinstance(value, str) else float("nan")


def _metrics(runs: Sequence[tuple[Configuration, Mapping[str, float]]]) -> tuple[list[str], Reals]:
    """Returns the metrics that every run has, finite, and that vary."""
    names = [name for name in runs[0][1] if all(name in run[1] for run in runs)]
    columns = np.array([[run[1][name] for name in names] for run in runs])
    usable = np.isfinite(columns).all(axis=0) & (columns.max(axis=0) > columns.min(axis=0))
    return [name for name, use in zip(names, usable, strict=True) if use], columns[:, usable]


def _ranks(columns: Reals) -> Reals:
    from scipy.stats import rankdata

    return np.asarray(rankdata(columns, axis=0), dtype=np.float64)


def _correlations(first: Reals, second: Reals) -> Reals:
    """Returns Pearson's correlation of each column of `first` with each of `second`."""
    first, second = first - first.mean(axis=0), second - second.mean(axis=0)
    norms = np.outer(np.linalg.norm(first, axis=0), np.linalg.norm(second, axis=0))
    return np.asarray(first.T @ second / norms)


def _candidates(
    names: Sequence[str], metrics: Reals, with_knobs: Reals, with_objective: Reals, objective: str
) -> list[int]:
    """Returns at most 30 metrics: those that go with the objective and a knob, and not with each other."""
    worth = np.abs(with_objective) * np.abs(with_knobs).max(axis=1)
    chosen: list[int] = []
    taken = [names.index(objective)]
    for each in np.argsort(-worth, kind="stable").tolist():
        if len(chosen) == CANDIDATES:
            break
        if np.abs(_correlations(metrics[:, [each]], metrics[:, taken])).max() < _SAME:
            chosen.append(each)
            taken.append(each)
    return chosen


def _groups(profiles: Reals) -> list[list[int]]:
    """Returns knobs grouped by what they move: average linkage, as many groups as separate best.

    Args:
        profiles: a row for each knob, its absolute correlations with the candidates.
    """
    from sklearn.cluster import AgglomerativeClustering
    from sklearn.metrics import silhouette_score

    knobs = len(profiles)
    labels, best = np.zeros(knobs, dtype=int), -1.0
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
    """Returns a cluster with the metrics that its knobs move most and that go with the objective."""
    moved = profiles[list(members)].max(axis=0)
    worth = moved * np.abs(with_objective)
    least = _NOISE / np.sqrt(runs)
    tasks = [
        candidates[each]
        for each in np.argsort(-worth, kind="stable")
        if moved[each] > least and abs(with_objective[each]) > least
    ]
    named = tuple(knobs[each] for each in members)
    return Cluster(knobs=named, tasks=tuple(tasks[:TASKS_EACH])), float(worth.max())
