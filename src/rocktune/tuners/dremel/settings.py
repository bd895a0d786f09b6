"""The settings of the tuner Dremel, with the values of the paper's evaluation as defaults."""

import itertools
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from rocktune.lsm import FEATURE_NAMES
from rocktune.spec_file import Count, Positive, Spec, Switch

Feature = Literal[
    "compaction_frequency", "write_buffer_full_frequency", "read_sstable_cost", "block_cache_hit_rate"
]
Seconds = Annotated[float, Field(gt=0)]


class DremelSettings(Spec):
    """The settings of Dremel. Ages and windows are in seconds at full size.

    Attributes:
        buckets: number of quantile buckets of each feature (2 in the paper's evaluation, 3 and 4 in figure
            13, 5 in figure 6).
        features: the fused features that define the arms; figure 12 leaves one out as an ablation.
        sampling: order of an arm's configurations: by one feature, best value first ("heuristic", section
            4.6.1), or "random".
        heuristic_feature: the feature that orders them. Larger is better only for "block_cache_hit_rate".
        rounds: R, maximum number of rounds of UCB sampling; None for as many as the budget allows (3 with the
            paper's 2,325 s).
        top_arms: k, number of arms that are sampled once more in each round.
        time_points_s: ages at which runs are ranked and halved; the best at the last one wins. "auto" finds
            them from the baseline's windowed variance (section 4.5.2).
        steady_window_s: length of the window in which "auto" checks whether throughput is steady.
        steady_deviation: standard deviation over mean below which "auto" takes throughput for steady.
        pool: number of valid configurations drawn from the space to form quantiles and arms.
        printed_compaction_frequency: whether to use the formula that table 2 prints, not the derived one.
    """

    buckets: Annotated[int, Field(strict=True, ge=2, le=5)] = 2
    features: tuple[Feature, ...] = FEATURE_NAMES  # type: ignore[assignment]
    sampling: Literal["heuristic", "random"] = "heuristic"
    heuristic_feature: Feature = "write_buffer_full_frequency"
    rounds: Count | None = None
    top_arms: Positive = 5
    time_points_s: tuple[Seconds, ...] | Literal["auto"] = (60.0, 80.0, 100.0)
    steady_window_s: Seconds = 10.0
    steady_deviation: Annotated[float, Field(gt=0, lt=1)] = 0.1
    pool: Annotated[int, Field(strict=True, ge=100, le=1_000_000)] = 20_000
    printed_compaction_frequency: Switch = False

    @model_validator(mode="after")
    def _check(self) -> Self:
        """Checks that features are different and time points ascend."""
        if not self.features or len(set(self.features)) < len(self.features):
            raise ValueError("features: name one to four different features")
        points = self.time_points_s
        if points != "auto" and (not points or any(a >= b for a, b in itertools.pairwise(points))):
            raise ValueError("time_points_s: must ascend; write them such as [60, 80, 100]")
        return self
