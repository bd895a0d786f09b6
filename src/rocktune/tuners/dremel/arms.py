"""Arms: configurations whose fused features lie in the same quantile buckets (Dremel, section 4.4)."""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

import numpy as np
from numpy.typing import NDArray

from rocktune.lsm import FEATURE_NAMES, fused_features
from rocktune.lsm.arrays import Numbers
from rocktune.trial import Configuration
from rocktune.tuners.base import Problem
from rocktune.tuners.dremel.settings import DremelSettings

Buckets = tuple[int, ...]
"""A bucket from 1 for each of the settings' features, in their order; larger buckets hold larger values."""
_LARGER_IS_BETTER = "block_cache_hit_rate"


@dataclass
class Arm:
    """A cluster of configurations, and what those tried have given.

    Attributes:
        buckets: which cluster.
        untried: the others, in the order in which they will be tried.
        rewards: objective's score of each that did not fail; larger is better.
        failures: how many failed.
    """

    buckets: Buckets
    untried: deque[Configuration]
    rewards: list[float] = field(default_factory=list)
    failures: int = 0

    def add(self, reward: float) -> None:
        """Notes what a configuration has given; NaN when it failed."""
        if np.isnan(reward):
            self.failures += 1
        else:
            self.rewards.append(reward)


@dataclass(frozen=True)
class PooledConfiguration:
    """Where a configuration lies among the arms.

    Attributes:
        features: its four fused features, by name.
        buckets: the arm it belongs to.
    """

    features: dict[str, float]
    buckets: Buckets


def quantile_edges(values: NDArray[np.float64], buckets: int) -> NDArray[np.float64]:
    """Returns the values that separate buckets of equally many of `values`.

    Args:
        values: shape (n,), of the pool.
        buckets: at least 2.

    Returns:
        Ascending, shape (buckets - 1,). A bucket holds the values above the edge below it, up to its own.
    """
    return np.quantile(values, np.arange(1, buckets) / buckets)


def bucket_numbers(values: NDArray[np.float64], edges: NDArray[np.float64]) -> NDArray[np.int64]:
    """Returns each value's bucket, from 1 to `len(edges) + 1`, shape (n,)."""
    return np.searchsorted(edges, values, side="left") + 1


def make_arms(problem: Problem, settings: DremelSettings, rng: np.random.Generator) -> list[Arm]:
    """Draws the pool and groups it into arms, of which none is empty, in the order of their buckets.

    Args:
        problem: what is tuned.
        settings: Dremel's.
        rng: draws the pool, and then, with "random" sampling, the order within the arms.
    """
    pool, features = _pool(problem, settings, rng)
    numbers = _buckets(features, _edges(features, settings))
    if settings.sampling == "random":
        order = rng.permutation(len(pool))
    else:
        sign = -1 if settings.heuristic_feature == _LARGER_IS_BETTER else 1
        order = np.argsort(sign * features[settings.heuristic_feature], kind="stable")
    clusters: dict[Buckets, list[Configuration]] = {}
    for index in order:
        clusters.setdefault(numbers[index], []).append(pool[index])
    return [Arm(buckets, deque(clusters[buckets])) for buckets in sorted(clusters)]


def pooled_configurations(
    problem: Problem,
    settings: DremelSettings,
    rng: np.random.Generator,
    configurations: Sequence[Configuration],
) -> list[PooledConfiguration]:
    """Tells, for the report, where configurations lie among the arms of a search.

    Args:
        problem: the search's.
        settings: the search's.
        rng: a generator in the state in which the search began with its own.
        configurations: any, tried or not, valid or not.
    """
    if not configurations:
        return []
    _, pool_features = _pool(problem, settings, rng)
    features = _features(problem, settings, configurations)
    numbers = _buckets(features, _edges(pool_features, settings))
    return [
        PooledConfiguration({name: float(features[name][index]) for name in FEATURE_NAMES}, numbers[index])
        for index in range(len(configurations))
    ]


Features = dict[str, NDArray[np.float64]]


def _pool(
    problem: Problem, settings: DremelSettings, rng: np.random.Generator
) -> tuple[list[Configuration], Features]:
    drawn = dict.fromkeys(problem.space.sample(settings.pool, rng))
    # The baseline is measured anyway, and a probe for the time points has taken its run to another age.
    drawn.pop(problem.baseline, None)
    pool = list(drawn)
    return pool, _features(problem, settings, pool)


def _features(
    problem: Problem, settings: DremelSettings, configurations: Sequence[Configuration]
) -> Features:
    # Columns of switches and choices are among them, which no formula asks for.
    columns = cast("Mapping[str, Numbers]", problem.space.columns(configurations))
    features = fused_features(
        columns,
        expected_entries=problem.expected_entries,
        entry_bytes=problem.entry_bytes,
        memory_bytes=problem.space.memory_bytes,
        printed=settings.printed_compaction_frequency,
    )
    return {name: np.asarray(values, dtype=np.float64) for name, values in features.items()}


def _edges(pool_features: Features, settings: DremelSettings) -> Features:
    return {name: quantile_edges(pool_features[name], settings.buckets) for name in settings.features}


def _buckets(features: Features, edges: Features) -> list[Buckets]:
    columns = [bucket_numbers(features[name], edges[name]) for name in edges]
    return [tuple(int(number) for number in row) for row in zip(*columns, strict=True)]
