"""The result of a scale check: how well a model ranks configurations."""

from typing import Literal

from rocktune.outcome.recorded import Interval, Protocol, Recorded
from rocktune.space.configuration import Value

ScaleVerdict = Literal["ranks", "does not rank", "undecided"]
"""Whether studies may rely on a model. "undecided" if too many runs failed, or the figure has
no correlation or regret."""

LARGER_FACTOR = 4
"""How many times larger than the checked model the one is that it is compared with."""
MIN_CORRELATION = 0.5
"""Minimum of the lower end of the correlation's interval. With 20 configurations that takes a correlation of
0.80, which the benchmark `scale_model` asks for."""
MAX_REGRET = 0.05
"""Maximum of the regret."""
MIN_COMPARED = 10
"""Minimum number of configurations without a failed run; fewer decide nothing."""


class RankedConfiguration(Recorded):
    """One of the configurations that the checked model ranks highest.

    Attributes:
        configuration: values by knob.
        rank: its rank at the checked model, from 1 for the best.
        figure: its figure there, in one run.
        larger_rank: its rank at the larger model.
        larger_figure: its figure there, in one run.
        larger_mean: mean of its further runs there; null if one failed.
    """

    configuration: dict[str, Value]
    rank: int
    figure: float
    larger_rank: int
    larger_figure: float
    larger_mean: float | None


class ScaleCheck(Recorded):
    """How well a 1/S model ranks configurations, in comparison with a model four times larger.

    Attributes:
        workload: name of the workload.
        device: name of the device.
        space: name of the space.
        engine: name and version of the system that was measured.
        protocol: the protocol under which studies get the same figures.
        figure: the measurement field by which both models rank.
        scale: "1/S" of the checked model.
        larger_scale: the scale of the larger model, "1" for full size.
        configurations: number of configurations whose runs ended well at both models.
        failed: number of the others.
        disturbed: number of runs during which other programs took the processors, in all repeats.
        correlation: Spearman's correlation of both rankings, with its 95% interval.
        regret: share of the figure that is lost at the larger model by the choice of the checked one.
        foremost: the configurations that the checked model ranks highest; empty if only the verdict is known.
    """

    workload: str
    device: str
    space: str
    engine: str
    protocol: Protocol
    figure: str
    scale: str
    larger_scale: str
    configurations: int
    failed: int = 0
    disturbed: int = 0
    correlation: Interval
    regret: Interval
    foremost: tuple[RankedConfiguration, ...] = ()

    @property
    def verdict(self) -> ScaleVerdict:
        """Whether studies may rely on the model; regret and the correlation's lower end decide."""
        too_few = self.configurations < MIN_COMPARED
        if too_few or self.correlation.low is None or self.regret.value is None:
            return "undecided"
        ranks = self.regret.value <= MAX_REGRET and self.correlation.low >= MIN_CORRELATION
        return "ranks" if ranks else "does not rank"

    def to_json(self) -> dict[str, object]:
        """Returns the document with `verdict`."""
        return self.model_dump(mode="json") | {"verdict": self.verdict}
