"""Dremel's parameters, with the values of the paper's evaluation."""

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
    """What can be chosen about Dremel; ages and windows are in seconds at full size.

    Attributes:
        buckets: quantile buckets of each feature (2 in the paper's evaluation, 3 and 4 in figure 13).
        features: those that make up an arm; leaving one out is the ablation of figure 12.
        sampling: which of an arm's configurations comes next: the smallest value of one feature first
            (section 4.6.1), or any ("random").
        heuristic_feature: that feature. Of "block_cache_hit_rate" the largest value comes first, because
            larger is better there.
        rounds: R, the rounds of UCB sampling, fewer where the budget is too small; None for as many as the
            budget allows (3 with the paper's 2,325 s).
        top_arms: k, the arms that are sampled once more in each round.
        time_points_s: the ages at which the runs are halved, the last one being where the best wins; "auto"
            to find them from the baseline's windowed variance (section 4.5.2).
        steady_window_s: with "auto", the last seconds whose throughput is looked at.
        steady_deviation: with "auto", standard deviation over mean below which throughput is steady.
        pool: valid configurations drawn from the space, which quantiles and arms are made of.
        printed_compaction_frequency: takes the formula as table 2 prints it, not as it is derived.
    """

    buckets: Annotated[int, Field(strict=True, ge=2, le=4)] = 2
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
        if not self.features or len(set(self.features)) < len(self.features):
            raise ValueError("features must be one to four different ones")
        points = self.time_points_s
        if points != "auto" and (not points or any(a >= b for a, b in itertools.pairwise(points))):
            raise ValueError("time_points_s must ascend, such as [60, 80, 100]")
        return self
