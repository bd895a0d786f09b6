"""Arms: configurations whose fused features lie in the same quantile buckets (Dremel, section 4.4)."""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

import numpy as np
from numpy.typing import NDArray

from rocktune.lsm import FEATURE_NAMES, fused_features, index_bytes
from rocktune.lsm.arrays import Numbers
from rocktune.objective import Objective
from rocktune.trial import Configuration, Result
from rocktune.tuners.base import Problem
from rocktune.tuners.dremel.settings import DremelSettings

Buckets = tuple[int, ...]
"""Bucket numbers, from 1, of the settings' features in their order; larger buckets hold larger values."""
_LARGER_IS_BETTER = "block_cache_hit_rate"


@dataclass
class Arm:
    """An arm of the bandit: a cluster of configurations, with the rewards of those tried.

    Attributes:
        buckets: the buckets of the cluster's features.
        untried: the untried configurations in the order in which they will be tried.
        results: results of the tried configurations at the first age.
        rewards: scores of the tried configurations that did not fail; larger is better.
        failures: number of tried configurations that failed.
    """

    buckets: Buckets
    untried: deque[Configuration]
    results: list[Result] = field(default_factory=list)
    rewards: list[float] = field(default_factory=list)
    failures: int = 0


def reward_arms(arms: Sequence[Arm], objective: Objective) -> None:
    """Sets the rewards and failures of all arms from their results.

    Rewards are the objective's scores among the results of all arms, so those of several fields change with
    each further result.
    """
    scores = iter(objective.scores([result for arm in arms for result in arm.results]))
    for arm in arms:
        own = [next(scores) for _ in arm.results]
        arm.rewards = [score for score in own if not np.isnan(score)]
        arm.failures = len(own) - len(arm.rewards)


@dataclass(frozen=True)
class PooledConfiguration:
    """A configuration's position among the arms.

    Attributes:
        features: the configuration's four fused features by name.
        buckets: buckets of the arm that it belongs to.
    """

    features: dict[str, float]
    buckets: Buckets


def quantile_edges(values: NDArray[np.float64], buckets: int) -> NDArray[np.float64]:
    """Returns the quantiles that divide values into buckets of equal size.

    Args:
        values: a feature's values in the pool, shape (n,).
        buckets: number of buckets, at least 2.

    Returns:
        The edges in ascending order, shape (buckets - 1,). A bucket includes its upper edge.
    """
    return np.quantile(values, np.arange(1, buckets) / buckets)


def bucket_numbers(values: NDArray[np.float64], edges: NDArray[np.float64]) -> NDArray[np.int64]:
    """Returns the bucket number of each value, from 1 to `len(edges) + 1`, shape (n,)."""
    return np.searchsorted(edges, values, side="left") + 1


def make_arms(problem: Problem, settings: DremelSettings, rng: np.random.Generator) -> list[Arm]:
    """Returns the nonempty arms of a pool drawn from the space, in the order of their buckets.

    Args:
        problem: the problem to solve.
        settings: Dremel's settings.
        rng: source of the pool and, with "random" sampling, of the order within the arms.
    """
    pool, features = _pool(problem, settings, rng)
    numbers = _buckets(features, _edges(features, settings))
    if settings.sampling == "random":
        order = rng.permutation(len(pool))
    else:
        # The most promising configuration of an arm is tried first.
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
    """Returns the positions of configurations among the arms of a search, for the report.

    Args:
        problem: problem of the search.
        settings: settings of the search.
        rng: a generator in the state of the search's own at its beginning, which gives the same pool.
        configurations: any configurations, valid or not.
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
    """Returns the pool, distinct valid configurations without the baseline, and their features."""
    # A dictionary as an ordered set: the pool must not depend on hashes.
    drawn = dict.fromkeys(problem.space.sample(settings.pool, rng))
    # The baseline is measured in any case, and its run may already be beyond the first time point.
    drawn.pop(problem.baseline, None)
    pool = list(drawn)
    return pool, _features(problem, settings, pool)


def _features(
    problem: Problem, settings: DremelSettings, configurations: Sequence[Configuration]
) -> Features:
    """Returns the fused features of configurations by name, an array over the configurations for each."""
    columns = problem.space.columns(configurations)
    # The cast hides columns of switches and words, which no formula reads.
    values = cast("Mapping[str, Numbers]", columns)
    budget = problem.space.budget
    metadata_bytes = budget.all_filter_bytes(values)
    if budget.filters_in_cache:
        # An index outside the cache takes memory beyond the budget.
        metadata_bytes = metadata_bytes + index_bytes(
            problem.expected_entries, problem.entry_bytes, values["block_size"]
        )
    features = fused_features(
        values,
        expected_entries=problem.expected_entries,
        entry_bytes=problem.entry_bytes,
        memory_bytes=problem.space.memory_bytes,
        metadata_bytes=metadata_bytes,
        universal=columns["compaction_style"] == "kCompactionStyleUniversal",
        printed=settings.printed_compaction_frequency,
    )
    return {name: np.asarray(numbers, dtype=np.float64) for name, numbers in features.items()}


def _edges(pool_features: Features, settings: DremelSettings) -> Features:
    """Returns the bucket edges of the settings' features by name."""
    return {name: quantile_edges(pool_features[name], settings.buckets) for name in settings.features}


def _buckets(features: Features, edges: Features) -> list[Buckets]:
    """Returns the buckets of each configuration."""
    columns = [bucket_numbers(features[name], edges[name]) for name in edges]
    return [tuple(int(number) for number in row) for row in zip(*columns, strict=True)]
