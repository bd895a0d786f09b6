"""A model of the noise of a table with one run of each configuration, and of the figures without it.

A table's best run is its luckiest. The model separates what configurations do from luck: the logarithm of a
figure is a sum of effects of knobs and of pairs of knobs, plus noise. What pairs cannot explain is taken for
noise, so the noise is an upper bound.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from benchmarks.jia_chen.shared import LATENCY, THROUGHPUT, Recorded
from rocktune.space import Configuration

FIELDS = (THROUGHPUT, LATENCY)
GROUP = "threads"
"""The knob by whose values noise differs most."""

Reals = NDArray[np.float64]


@dataclass(frozen=True)
class NoiseModel:
    """A regression of both figures' logarithms on all knobs and their pairs.

    Attributes:
        measured: the table; it may hold a sample of the space.
        order: number of knobs that may act together, 2 unless the model is to be judged.
    """

    measured: Recorded
    order: int = 2

    @cached_property
    def grid(self) -> list[Configuration]:
        """All configurations of the space."""
        return self.measured.space.grid()

    @cached_property
    def _configurations(self) -> list[Configuration]:
        return list(self.measured.rows)

    @cached_property
    def _logs(self) -> Reals:
        """The measured logarithms, shape (n, 2)."""
        return np.log([[row[field] for field in FIELDS] for row in self.measured.rows.values()])

    @cached_property
    def _factors(self) -> tuple[Reals, Reals]:
        """Q and R of the design of the measured configurations."""
        q, r = np.linalg.qr(design(self.measured, self._configurations, self.order))
        return q, r

    @cached_property
    def _over_grid(self) -> Reals:
        """Matrix that turns measured logarithms into predictions for the whole grid."""
        q, r = self._factors
        return np.asarray(design(self.measured, self.grid, self.order) @ np.linalg.solve(r, q.T))

    @cached_property
    def residuals(self) -> Reals:
        """Measured less predicted logarithms, enlarged to the variance of the noise, shape (n, 2)."""
        q, _ = self._factors
        leverage = np.minimum((q**2).sum(axis=1), 0.99)
        return np.asarray((self._logs - q @ (q.T @ self._logs)) / np.sqrt(1 - leverage)[:, None])

    @cached_property
    def noise(self) -> dict[str, float]:
        """Standard deviation of one run's logarithm by figure, about the coefficient of variation."""
        q, _ = self._factors
        left = self._logs - q @ (q.T @ self._logs)
        deviations = np.sqrt((left**2).sum(axis=0) / (q.shape[0] - q.shape[1]))
        return dict(zip(FIELDS, deviations.tolist(), strict=True))

    @property
    def left_out_error(self) -> dict[str, float]:
        """Root mean square error of predictions of runs that were left out, by figure; noise included."""
        q, _ = self._factors
        leverage = (q**2).sum(axis=1)[:, None]
        errors = (self._logs - q @ (q.T @ self._logs)) / (1 - leverage)
        return dict(zip(FIELDS, np.sqrt((errors**2).mean(axis=0)).tolist(), strict=True))

    def truth(self, rng: np.random.Generator | None = None) -> Recorded:
        """Returns the predicted figures of all configurations.

        Args:
            rng: draws another table that might have been measured and predicts from it, so that draws differ
                as much as predictions err by chance. None for the measured table itself.
        """
        logs = self._logs if rng is None else self._predicted(self._configurations) + self._noise_of(rng)
        values = np.exp(self._over_grid @ logs)
        rows = {
            each: dict(zip(FIELDS, row, strict=True))
            for each, row in zip(self.grid, values.tolist(), strict=True)
        }
        return replace(self.measured, rows=rows)

    def run_of_each(self, truth: Recorded, rng: np.random.Generator) -> Recorded:
        """Returns a table that might be measured if `truth` were so: one run of each configuration."""
        groups = self._groups(list(truth.rows))
        noise = np.exp(self._drawn(groups, rng))
        rows = {
            each: {field: row[field] * factor for field, factor in zip(FIELDS, factors, strict=True)}
            for (each, row), factors in zip(truth.rows.items(), noise.tolist(), strict=True)
        }
        return replace(truth, rows=rows)

    def _predicted(self, configurations: Sequence[Configuration]) -> Reals:
        q, r = self._factors
        return np.asarray(
            design(self.measured, configurations, self.order) @ np.linalg.solve(r, q.T @ self._logs)
        )

    def _noise_of(self, rng: np.random.Generator) -> Reals:
        return self._drawn(self._groups(self._configurations), rng)

    def _groups(self, configurations: Sequence[Configuration]) -> list[object]:
        return [each[GROUP] for each in configurations]

    def _drawn(self, groups: Sequence[object], rng: np.random.Generator) -> Reals:
        """Returns residuals drawn with replacement, both figures of a run together, from each one's group."""
        own = np.array(self._groups(self._configurations))
        wanted = np.array(groups)
        drawn = np.empty((len(wanted), len(FIELDS)))
        for group in np.unique(wanted):
            residuals = self.residuals[own == group]
            places = wanted == group
            drawn[places] = residuals[rng.integers(len(residuals), size=places.sum())]
        return drawn


def design(of: Recorded, configurations: Sequence[Configuration], order: int) -> Reals:
    """Returns the design matrix of the effects of up to `order` knobs together, sums of effects being 0."""
    effects = []
    for knob in of.space.knobs:
        levels = np.array([[each[knob.name] == value for value in knob.choices] for each in configurations])
        effects.append(levels[:, 1:].astype(float) - levels[:, :1])
    columns = [np.ones((len(configurations), 1))]
    for count in range(1, order + 1):
        for together in itertools.combinations(effects, count):
            product = np.ones((len(configurations), 1))
            for each in together:
                product = (product[:, :, None] * each[:, None, :]).reshape(len(configurations), -1)
            columns.append(product)
    return np.hstack(columns)
