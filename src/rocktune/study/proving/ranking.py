"""Compares the rankings of a model and of a larger one (docs/design/scale.md)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rocktune.objective import LARGER_IS_BETTER
from rocktune.outcome import Interval, RankedConfiguration
from rocktune.study import seeds
from rocktune.study.proving.statistics import geometric_interval, spearman_interval
from rocktune.trial import Configuration, Result

FOREMOST = 5
"""Number of configurations that each model may choose from."""
ROUNDS = 3
"""Number of further runs of each of these."""


@dataclass(frozen=True)
class Ranking:
    """The configurations of a check at both models, by one figure.

    Attributes:
        figure: the measurement field.
        small: each configuration's figure at the checked model; NaN if the run failed.
        larger: the same at the larger model.
    """

    figure: str
    small: Mapping[Configuration, float]
    larger: Mapping[Configuration, float]

    @classmethod
    def of(cls, figure: str, results: Sequence[Result]) -> "Ranking":
        """Returns the ranking from the results of one run of each configuration at both models."""
        found: tuple[dict[Configuration, float], ...] = ({}, {})
        for result in results:
            trial = result.trial
            found[seeds.is_larger(trial.replicate)][trial.configuration] = result.figure(figure)
        return cls(figure, *found)

    @property
    def compared(self) -> list[Configuration]:
        """The configurations whose runs ended well at both models."""
        return [each for each in self.small if not math.isnan(self.small[each] + self.larger[each])]

    @property
    def correlation(self) -> Interval:
        """Spearman's correlation of both rankings."""
        both = self.compared
        found = spearman_interval([self.small[each] for each in both], [self.larger[each] for each in both])
        return Interval(**found.to_json())

    def foremost(self, larger: bool = False) -> list[Configuration]:
        """Returns the best configurations of the checked or of the larger model, the best first."""
        return self._ordered(larger)[:FOREMOST]

    def described(self, chosen: Sequence[Result]) -> tuple[RankedConfiguration, ...]:
        """Returns the foremost configurations of the checked model with their ranks at both.

        Args:
            chosen: results of the further runs.
        """
        orders, runs = (self._ordered(False), self._ordered(True)), _by_round(self.figure, chosen, True)
        described = []
        for configuration in self.foremost():
            mean = float(np.mean(runs[configuration]))
            described.append(
                RankedConfiguration(
                    configuration=dict(configuration),
                    rank=orders[0].index(configuration) + 1,
                    figure=self.small[configuration],
                    larger_rank=orders[1].index(configuration) + 1,
                    larger_figure=self.larger[configuration],
                    larger_mean=None if math.isnan(mean) else mean,
                )
            )
        return tuple(described)

    def _ordered(self, larger: bool) -> list[Configuration]:
        """Returns the compared configurations, the best first."""
        figures = self.larger if larger else self.small
        return sorted(self.compared, key=figures.__getitem__, reverse=self.figure in LARGER_IS_BETTER)


def regret(figure: str, results: Sequence[Result]) -> Interval:
    """Returns the share of a figure that is lost at the larger model by the checked model's choice.

    Both models choose by the geometric mean of further runs of their own, as a study picks among its
    finalists. The larger model's choice is compared in each round by the mean of its other rounds, so that
    luck in a round cannot both choose a configuration and count for it.

    Args:
        figure: the measurement field.
        results: results of the further runs, `ROUNDS` of each configuration. At the larger model these are
            the foremost configurations of both models.

    Returns:
        The regret with the t interval of its logarithm, for a figure of which smaller is better as the share
        above the best. Below 0 if the checked model chose better. Undefined if runs failed in each round or
        the figure is not above 0.
    """
    sign = 1.0 if figure in LARGER_IS_BETTER else -1.0
    small, larger = (_goodness(figure, results, sign, is_larger) for is_larger in (False, True))
    chosen = _best(small, range(ROUNDS))
    losses = []
    for number in range(ROUNDS):
        best = _best(larger, [other for other in range(ROUNDS) if other != number])
        if chosen is not None and best is not None:
            losses.append(larger[best][number] - larger[chosen][number])
    ratio = geometric_interval([-sign * loss for loss in losses])
    # The ratio of the chosen to the best is below 1 if larger is better, and above 1 otherwise.
    value, *ends = (sign * (1 - each) for each in (ratio.value, ratio.low, ratio.high))
    low, high = sorted(ends)
    document = {"value": value, "low": low, "high": high}
    known = {name: end if math.isfinite(end) else None for name, end in document.items()}
    return Interval(**known, repeats=ratio.repeats)


def _by_round(figure: str, results: Sequence[Result], larger: bool) -> dict[Configuration, list[float]]:
    """Returns the figures of each configuration at one of the models, in the order of the rounds."""
    found: dict[Configuration, list[float]] = {}
    for result in sorted(results, key=lambda result: result.trial.replicate):
        if seeds.is_larger(result.trial.replicate) == larger:
            found.setdefault(result.trial.configuration, []).append(result.figure(figure))
    return found


def _goodness(
    figure: str, results: Sequence[Result], sign: float, larger: bool
) -> dict[Configuration, list[float]]:
    """Returns the logarithms of figures by round, so that larger is better; NaN where there is none."""
    return {
        configuration: [sign * math.log(value) if value > 0 else math.nan for value in values]
        for configuration, values in _by_round(figure, results, larger).items()
    }


def _best(goodness: Mapping[Configuration, Sequence[float]], rounds: Sequence[int]) -> Configuration | None:
    """Returns the configuration with the best mean in some rounds; None if each lacks one of them."""
    means = {each: float(np.mean([values[number] for number in rounds])) for each, values in goodness.items()}
    known = {each: mean for each, mean in means.items() if not math.isnan(mean)}
    return max(known, key=known.__getitem__) if known else None
