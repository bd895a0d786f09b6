"""A model of the noise of a table with one run of each configuration, and of the figures without it.

A table's best run is its luckiest. The model separates what configurations do from luck. The logarithm of a
figure is the sum of four terms: effects of knobs and of pairs of knobs, the effect of the part of the table
(the machine drifts between parts), an own term of the configuration beyond pairs, and the noise of a run.
Configurations that differ only in `IDLE` are twins and share their own term, so the agreement of twins'
residuals tells own terms from noise.
"""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from benchmarks.jia_chen.shared import LATENCY, THROUGHPUT, Recorded
from rocktune.space import Configuration

FIELDS = (THROUGHPUT, LATENCY)
GROUP = "threads"
"""The knob by whose values noise differs most."""
IDLE = "max_background_flushes"
"""The knob that makes no difference."""
MAX_OWN_SHARE = 0.95
MIN_SETS = 100

Reals = NDArray[np.float64]
Places = NDArray[np.intp]


@dataclass(frozen=True)
class Twins:
    """The residuals of one group, in units of their deviation, summed over each set of twins.

    Attributes:
        counts: measured configurations of each set, shape (sets,); 0 for a set without any.
        means: means of their residuals, shape (sets, 2).
        squares: sums of the squared residuals, shape (sets, 2).
    """

    counts: Reals
    means: Reals
    squares: Reals

    def own_share(self, rng: np.random.Generator | None = None) -> Reals:
        """Returns the share of own terms in the variance by figure: the intraclass correlation, at least 0.

        Args:
            rng: draws the sets with replacement, so that draws differ as much as the share is uncertain.
        """
        (several,) = np.nonzero(self.counts > 1)
        if len(several) < 2:
            return np.zeros(len(FIELDS))
        if rng is not None:
            several = rng.choice(several, len(several))
        counts, means, squares = self.counts[several, None], self.means[several], self.squares[several]
        runs, sets = counts.sum(), len(several)
        within = (squares - counts * means**2).sum(axis=0) / (runs - sets)
        overall = (counts * means).sum(axis=0) / runs
        between = (counts * (means - overall) ** 2).sum(axis=0) / (sets - 1)
        mean_count = (runs - (counts**2).sum() / runs) / (sets - 1)
        share = (between - within) / (between + (mean_count - 1) * within)
        return np.asarray(np.clip(share, 0, MAX_OWN_SHARE))


@dataclass(frozen=True)
class NoiseModel:
    """A regression of both figures' logarithms on all knobs, their pairs and the table's parts.

    Attributes:
        measured: the table; it may hold a sample of the space.
        order: number of knobs that may act together, 2 unless the model is to be judged.
        min_sets: a group with fewer sets of twins takes the share of own terms from all groups together.
    """

    measured: Recorded
    order: int = 2
    min_sets: int = MIN_SETS

    @cached_property
    def grid(self) -> list[Configuration]:
        """All configurations of the space."""
        return self.measured.space.grid()

    @cached_property
    def _configurations(self) -> list[Configuration]:
        return list(self.measured.rows)

    @cached_property
    def _places(self) -> Places:
        """The places of the measured configurations in the grid, shape (n,)."""
        place_of = {each: place for place, each in enumerate(self.grid)}
        return np.array([place_of[each] for each in self._configurations])

    @cached_property
    def _groups(self) -> Reals:
        """The groups of all configurations of the grid."""
        return np.array([float(each[GROUP]) for each in self.grid])

    @cached_property
    def _sets(self) -> Places:
        """The numbers of the sets of twins of all configurations of the grid; no set is in two groups."""
        number_of: dict[tuple[object, ...], int] = {}
        kinds = [tuple(item for item in sorted(each.items()) if item[0] != IDLE) for each in self.grid]
        return np.array([number_of.setdefault(kind, len(number_of)) for kind in kinds])

    @cached_property
    def _logs(self) -> Reals:
        """The measured logarithms, shape (n, 2)."""
        return np.log([[row[field] for field in FIELDS] for row in self.measured.rows.values()])

    @cached_property
    def _factors(self) -> tuple[Reals, Reals]:
        """Q and R of the design of the measured configurations, parts included."""
        knobs = design(self.measured, self._configurations, self.order)
        q, r = np.linalg.qr(np.hstack([knobs, _part_effects(self.measured)]))
        return q, r

    @cached_property
    def _over_grid(self) -> Reals:
        """Matrix that turns measured logarithms into predictions for the whole grid in the mean part."""
        q, r = self._factors
        knobs = design(self.measured, self.grid, self.order)
        return np.asarray(knobs @ np.linalg.solve(r, q.T)[: knobs.shape[1]])

    @cached_property
    def _fitted(self) -> Reals:
        q, _ = self._factors
        return np.asarray(q @ (q.T @ self._logs))

    @cached_property
    def residuals(self) -> Reals:
        """Measured less predicted logarithms, enlarged to the variance of a run, shape (n, 2)."""
        q, _ = self._factors
        leverage = np.minimum((q**2).sum(axis=1), 0.99)
        return np.asarray((self._logs - self._fitted) / np.sqrt(1 - leverage)[:, None])

    @cached_property
    def _deviations(self) -> Reals:
        """The deviation of each configuration's residual, which is its group's, over the grid."""
        own = self._groups[self._places]
        deviations = np.empty((len(self.grid), len(FIELDS)))
        for group in np.unique(self._groups):
            deviations[self._groups == group] = self.residuals[own == group].std(axis=0)
        return deviations

    @cached_property
    def _standardised(self) -> Reals:
        return np.asarray(self.residuals / self._deviations[self._places])

    @cached_property
    def twins(self) -> dict[float, Twins]:
        """By group the residuals of its twins. Each has all sets of the grid; those of others are empty."""
        sets, groups = self._sets[self._places], self._groups[self._places]
        size = int(self._sets.max()) + 1
        found = {}
        for group in np.unique(self._groups).tolist():
            own, values = sets[groups == group], self._standardised[groups == group]
            counts = np.bincount(own, minlength=size).astype(float)
            sums, squares = (
                np.stack([np.bincount(own, column, size) for column in each.T], axis=1).astype(float)
                for each in (values, values**2)
            )
            found[group] = Twins(counts, sums / np.maximum(counts, 1)[:, None], squares)
        return found

    @cached_property
    def _judged(self) -> dict[float, Twins]:
        """The twins that tell each group's share of own terms."""
        every = [self.twins[group] for group in self.twins]
        counts, means, squares = (
            sum(getattr(each, field) for each in every) for field in ("counts", "means", "squares")
        )
        together = Twins(counts, means, squares)
        return {
            group: twins if (twins.counts > 1).sum() >= self.min_sets else together
            for group, twins in self.twins.items()
        }

    @cached_property
    def _own_shares(self) -> dict[float, Reals]:
        return {group: twins.own_share() for group, twins in self._judged.items()}

    @cached_property
    def noise(self) -> dict[str, float]:
        """Standard deviation of one run's logarithm by figure, about the coefficient of variation."""
        return self._mean_deviation(lambda share: 1 - share)

    @cached_property
    def own(self) -> dict[str, float]:
        """Standard deviation of the configurations' own terms by figure."""
        return self._mean_deviation(lambda share: share)

    def _mean_deviation(self, taken: Callable[[Reals], Reals]) -> dict[str, float]:
        """Returns the root mean square over the runs of the deviations' taken shares, by figure."""
        shares = np.array([taken(self._own_shares[group]) for group in self._groups[self._places]])
        means = np.sqrt((shares * self._deviations[self._places] ** 2).mean(axis=0))
        return dict(zip(FIELDS, means.tolist(), strict=True))

    @property
    def left_out_error(self) -> dict[str, float]:
        """Root mean square error of predictions of runs that were left out, by figure; noise included."""
        q, _ = self._factors
        leverage = (q**2).sum(axis=1)[:, None]
        errors = (self._logs - self._fitted) / (1 - leverage)
        return dict(zip(FIELDS, np.sqrt((errors**2).mean(axis=0)).tolist(), strict=True))

    def effects(self, rng: np.random.Generator | None = None) -> Reals:
        """Returns the logarithms of all configurations' figures without own terms, shape (grid, 2).

        Args:
            rng: draws another table that might have been measured and predicts from it, so that draws differ
                as much as predictions err by chance. None for the measured table itself.
        """
        if rng is None:
            return np.asarray(self._over_grid @ self._logs)
        own = np.zeros((len(self.grid), len(FIELDS)))
        for group, share in self._own_shares.items():
            members = self._groups == group
            own[members] = (np.sqrt(share) * self._normals(rng)[self._sets])[members]
        drawn = (own * self._deviations)[self._places] + self._noise_at(self._places, rng)
        return np.asarray(self._over_grid @ (self._fitted + drawn))

    def own_terms(self, rng: np.random.Generator | None = None) -> Reals:
        """Returns the own terms of all configurations given their twins' residuals, shape (grid, 2).

        Args:
            rng: draws them, and their share; a set that was not measured has a term of any size. None for
                their expectation.
        """
        terms = np.empty((len(self.grid), len(FIELDS)))
        for group, twins in self.twins.items():
            share, counts = self._judged[group].own_share(rng), twins.counts[:, None]
            kept = counts * share / (1 + (counts - 1) * share)
            own = kept * twins.means
            if rng is not None:
                own = own + np.sqrt(share * (1 - kept)) * self._normals(rng)
            members = self._groups == group
            terms[members] = own[self._sets][members]
        return terms * self._deviations

    def truth(self, rng: np.random.Generator | None = None) -> Recorded:
        """Returns the figures of all configurations without noise: drawn with `rng`, else the expected."""
        values = np.exp(self.effects(rng) + self.own_terms(rng))
        rows = {
            each: dict(zip(FIELDS, row, strict=True))
            for each, row in zip(self.grid, values.tolist(), strict=True)
        }
        return replace(self.measured, rows=rows)

    def run_of_each(self, truth: Recorded, rng: np.random.Generator) -> Recorded:
        """Returns a table that might be measured if `truth` were so: one run of each configuration."""
        noise = np.exp(self._noise_at(np.arange(len(self.grid)), rng))
        rows = {
            each: {field: row[field] * factor for field, factor in zip(FIELDS, factors, strict=True)}
            for (each, row), factors in zip(truth.rows.items(), noise.tolist(), strict=True)
        }
        return replace(truth, rows=rows)

    def _noise_at(self, places: Places, rng: np.random.Generator) -> Reals:
        """Returns noise for places of the grid: residuals less the share of own terms, drawn by group.

        They are drawn with replacement, both figures of a run together.
        """
        own, wanted = self._groups[self._places], self._groups[places]
        drawn = np.empty((len(places), len(FIELDS)))
        for group, share in self._own_shares.items():
            residuals = self.residuals[own == group] * np.sqrt(1 - share)
            members = wanted == group
            drawn[members] = residuals[rng.integers(len(residuals), size=members.sum())]
        return drawn

    def _normals(self, rng: np.random.Generator) -> Reals:
        """Returns standard normal values for each set of twins, correlated as the figures' residuals are."""
        correlation = np.corrcoef(self._standardised.T)
        return rng.multivariate_normal(np.zeros(len(FIELDS)), correlation, int(self._sets.max()) + 1)


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


def _part_effects(of: Recorded) -> Reals:
    """Returns the columns of the effects of the table's parts, their sum being 0; no columns for one part."""
    parts = np.array([of.parts.get(each, 0) for each in of.rows])
    levels = parts[:, None] == np.unique(parts)
    return np.asarray(levels[:, 1:].astype(float) - levels[:, :1])
