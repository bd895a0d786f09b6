"""Extremes of a space, such as its maximum throughput, from one noisy run of each or of some configurations.

The best of noisy runs is the luckiest, and a sample may lack the best configuration. So an extreme is taken
over all configurations as the noise model draws them: effects of knobs and pairs from a redrawn table, and an
own term for each configuration, of any size where no twin was measured. The few twins of a sample do not tell
whether own terms are as large with few threads as with many. So half of the draws take each group's share of
own terms from its own twins, and half from all. Workload seeds differ too, which the controls show.
They have one thread, hence few operations; we take their deviation for all configurations.
"""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from benchmarks.common.claims import Measured
from benchmarks.jia_chen.noise import FIELDS, NoiseModel
from rocktune.table import Table
from rocktune.trial import Status

DRAWS = 200

Reals = NDArray[np.float64]
Extreme = Callable[[Reals], Reals]
"""Takes the logarithms of all configurations' figures, shape (..., grid, 2), to a logarithm, shape (...)."""


@dataclass(frozen=True)
class Spaces:
    """Spaces that might be true: logarithms of both figures of all configurations.

    Attributes:
        expected: effects of knobs and pairs without own terms, shape (grid, 2).
        effects: draws of them, shape (draws, grid, 2).
        whole: the draws with own terms.
        runs: number of measured runs.
    """

    expected: Reals
    effects: Reals
    whole: Reals
    runs: int

    def interval(self, extreme: Extreme, error: Reals | float = 0.0, max_value: float = np.inf) -> Measured:
        """Returns an extreme with its 95% interval.

        An extreme of estimated effects is biased, since errors add to it. Drawn effects have these errors and
        as large ones of their own, so twice the bias that they show is taken off.

        Args:
            extreme: the extreme.
            error: a further error of its logarithm by draw, shape (draws,).
            max_value: its largest possible value.
        """
        bias = extreme(self.effects).mean() - extreme(self.expected)
        drawn = np.exp(extreme(self.whole) - 2 * bias)
        value = np.median(drawn)
        low, high = np.quantile(drawn * np.exp(error), (0.025, 0.975))
        value, low, high = (min(float(each), max_value) for each in (value, low, high))
        return Measured(value, low, high, self.runs)


def spaces(model: NoiseModel, draws: int, seed: int) -> Spaces:
    """Returns draws of the space from a table."""
    rng = np.random.default_rng(seed)
    by_group = replace(model, min_sets=2)
    effects = np.stack([model.effects(rng) for _ in range(draws)])
    own = np.stack([(by_group if number % 2 else model).own_terms(rng) for number in range(draws)])
    return Spaces(model.effects(), effects, effects + own, len(model.measured.rows))


def max_throughput(logs: Reals) -> Reals:
    """The maximum throughput."""
    return np.asarray(logs[..., 0].max(axis=-1))


def latency_there(logs: Reals) -> Reals:
    """The latency of the fastest configuration."""
    places = logs[..., 0].argmax(axis=-1)
    return np.asarray(np.take_along_axis(logs[..., 1], places[..., None], axis=-1)[..., 0])


def min_latency(logs: Reals) -> Reals:
    """The minimum latency."""
    return np.asarray(logs[..., 1].min(axis=-1))


def max_latency(logs: Reals) -> Reals:
    """The maximum latency."""
    return np.asarray(logs[..., 1].max(axis=-1))


def seed_errors(table: Table, draws: int, seed: int) -> Reals:
    """Returns draws of what another seed of the workload changes in logarithms of figures, shape (draws, 2).

    The deviation between seeds is uncertain for few seeds, hence Student's t.
    """
    deviation, seeds = seed_deviation(table)
    rng = np.random.default_rng(seed)
    return np.asarray(deviation * rng.standard_t(max(1, seeds - 1), size=(draws, len(FIELDS))))


def seed_deviation(table: Table) -> tuple[Reals, int]:
    """Returns the deviation of both figures' logarithms between workload seeds, and the number of seeds.

    It is that of the control's runs beyond the deviation between runs of equal seeds, and 0 where these are
    not to be told apart.
    """
    runs: dict[int, list[list[float]]] = defaultdict(list)
    for row in table.rows:
        if row.replicate and row.status is Status.OK:
            runs[row.replicate].append([float(np.log(row.figures[each])) for each in FIELDS])
    groups = [np.array(group) for group in runs.values()]
    counts = np.array([len(group) for group in groups])
    if len(groups) < 2 or counts.sum() == len(groups):
        return np.zeros(len(FIELDS)), len(groups)
    means = np.array([group.mean(axis=0) for group in groups])
    within = sum(((group - group.mean(axis=0)) ** 2).sum(axis=0) for group in groups)
    within = within / (counts.sum() - len(groups))
    overall = (counts[:, None] * means).sum(axis=0) / counts.sum()
    between = (counts[:, None] * (means - overall) ** 2).sum(axis=0) / (len(groups) - 1)
    mean_count = (counts.sum() - (counts**2).sum() / counts.sum()) / (len(groups) - 1)
    return np.sqrt(np.maximum(0, between - within) / mean_count), len(groups)
