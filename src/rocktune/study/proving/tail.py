"""The second phase of a proof: latency at an offered rate (docs/design/steady-state.md).

Operations arrive at a fixed rate, whether or not the store keeps up, and latency counts from the intended
start. So a pause shows in the latency of every operation that waited for it.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from rocktune.outcome import TailVerdict
from rocktune.study.proving.disturbed import disturbed_pairs, is_undecided
from rocktune.study.proving.latencies import Latencies, latencies_between
from rocktune.study.proving.statistics import CONFIDENCE, Interval, mean_interval
from rocktune.study.proving.verification import Runs, Stage, interleaved
from rocktune.study.specs.spec import VerificationSettings
from rocktune.trial import Configuration, Measurement, Result, Status

PERCENTILES = {"latency_us_p50": 50.0, "latency_us_p99": 99.0, "latency_us_p999": 99.9}
"""Latency figures over all operations, by name, with their percentiles."""
LONGEST_WAIT = "longest_wait_us"
"""Name of the mean of the windows' longest waits."""
BELOW = "share_below_rate"
BELOW_RATE = 0.9
"""Share of the offered rate under which an interval is below the rate; arrivals are not exactly even."""


@dataclass(frozen=True)
class Tail:
    """The result of the runs at an offered rate.

    A run has one or several windows. An aged store begins with the backlog of its closed loop, so that its
    first window lets the store settle at the rate and does not count.

    Attributes:
        winner: the configuration to be proven.
        baseline: the configuration to beat.
        offered_ops_s: the offered rate, operations per second; None if the workload has rates of its own.
        runs: results of both configurations at all ages.
        settles: whether a run's first window does not count.
        confidence: confidence level of the intervals.
    """

    winner: Configuration
    baseline: Configuration
    offered_ops_s: float | None
    runs: Runs
    settles: bool = True
    confidence: float = CONFIDENCE

    def figure(self, configuration: Configuration, name: str) -> Interval:
        """Returns a figure over all windows of a configuration, with its interval.

        Args:
            configuration: winner or baseline.
            name: a name of `PERCENTILES`, `LONGEST_WAIT`, or `BELOW`, the mean over the runs.
        """
        if name == BELOW:
            return mean_interval([self._share_below(run) for run in self._runs_of(configuration)])
        latencies = self._latencies[configuration]
        return latencies.longest_wait() if name == LONGEST_WAIT else latencies.percentile(PERCENTILES[name])

    def ratio(self, name: str) -> Interval:
        """Returns the winner's figure over the baseline's; above 1 is worse."""
        ours, theirs = self._latencies[self.winner], self._latencies[self.baseline]
        if name == LONGEST_WAIT:
            return ours.longest_wait_ratio(theirs)
        return ours.percentile_ratio(theirs, PERCENTILES[name])

    def has_failed(self, configuration: Configuration) -> bool:
        """Returns whether a run of a configuration failed."""
        return any(result.status is not Status.OK for result in self.runs[configuration])

    @property
    def is_undecided(self) -> bool:
        """True if the latencies decide nothing, because most pairs stayed disturbed by other programs.

        A run of the winner that failed decides all the same.
        """
        return self.is_disturbed and not self.has_failed(self.winner)

    @property
    def is_disturbed(self) -> bool:
        """True if most pairs stayed disturbed by other programs."""
        results = [result for side in self.runs.values() for result in side]
        return is_undecided(disturbed_pairs(results), len(self._runs_of(self.winner)))

    def verdict(self, settings: VerificationSettings) -> TailVerdict:
        """Returns whether the winner's tail is as good as the settings ask.

        "kept" if the intervals of the ratios of p99 and longest wait lie below their maximum, "worse" if one
        lies above it or a run of the winner failed, else "undecided". It is "undecided", too, if most pairs
        stayed disturbed by other programs. The ratio of p99.9 makes it "worse" if its interval lies above
        the maximum, and has no part in it otherwise.
        """
        if self.is_undecided:
            return "undecided"
        if self.has_failed(self.winner):
            return "worse"
        if self.ratio("latency_us_p999").low > settings.max_p999_ratio:
            return "worse"
        bounds = {"latency_us_p99": settings.max_p99_ratio, LONGEST_WAIT: settings.max_longest_wait_ratio}
        ratios = {name: self.ratio(name) for name in bounds}
        if all(ratios[name].high <= bound for name, bound in bounds.items()):
            return "kept"
        return "worse" if any(ratios[name].low > bound for name, bound in bounds.items()) else "undecided"

    @cached_property
    def _latencies(self) -> Mapping[Configuration, Latencies]:
        """The latencies of each configuration, by window."""
        return {
            configuration: Latencies(
                [window for run in self._runs_of(configuration) for window in self._windows(run)],
                self.confidence,
            )
            for configuration in self.runs
        }

    def _share_below(self, run: Sequence[Result]) -> float:
        """Returns the share of a run's time below the rate, without the window in which it settled."""
        measured, settled_s = run[-1].measurement, run[0].trial.until_s if self.settles else 0.0
        return math.nan if measured is None else share_below(measured, self.offered_ops_s, settled_s)

    def _runs_of(self, configuration: Configuration) -> list[list[Result]]:
        """Returns the results of each run that did not fail, in the order of their ages."""
        runs: dict[int, list[Result]] = {}
        for result in self.runs[configuration]:
            runs.setdefault(result.trial.replicate, []).append(result)
        return [
            sorted(run, key=lambda result: result.trial.until_s)
            for run in runs.values()
            if all(result.status is Status.OK for result in run)
        ]

    def _windows(self, run: Sequence[Result]) -> list[Mapping[int, int]]:
        """Returns the latencies of the windows of a run that count: operations by nanoseconds."""
        measured = [result.measurement for result in run if result.measurement is not None]
        settling = [] if self.settles else [latencies_between(None, measured[0])]
        return settling + [latencies_between(*pair) for pair in pairwise(measured)]


def share_below(measured: Measurement, offered_ops_s: float | None, settled_s: float = 0.0) -> float:
    """Returns the share of a run's intervals in which clearly fewer operations ended than were offered.

    Args:
        measured: the run from age 0.
        offered_ops_s: the offered rate; None, which gives NaN, if it varies.
        settled_s: age in seconds up to which intervals do not count.
    """
    series = measured.raw.get("series")
    if series is None or offered_ops_s is None:
        return math.nan
    # The last interval of a run is mostly shorter than the others.
    counts = series["operations"][math.ceil(settled_s / series["interval_s"]) : -1]
    least = BELOW_RATE * offered_ops_s * series["interval_s"]
    return sum(count < least for count in counts) / len(counts) if counts else math.nan


def offer(
    winner: Configuration,
    baseline: Configuration,
    offered_ops_s: float | None,
    settings: VerificationSettings,
    replicates: Sequence[int],
    ages_s: Sequence[float],
) -> Stage[Tail]:
    """Measures both configurations at the offered rate in pairs, until the tail is decided.

    There is one batch for each look; a later look continues the runs of the one before. By Bonferroni's
    inequality the intervals of all looks hold together with the usual confidence.

    Args:
        winner: the configuration that will be exported.
        baseline: the configuration to beat.
        offered_ops_s: the rate at which the study opens the runs of these replicates; see `Tail`.
        settings: the numbers of windows at the looks, and what the verdict asks for.
        replicates: one replicate for each pair.
        ages_s: ages at which the windows of a run end, seconds, increasing: one in which the store settles,
            and `settings.max_offered_windows`.
    """
    looks = settings.offered_looks
    confidence = 1 - (1 - CONFIDENCE) / len(looks)
    runs: Runs = {winner: [], baseline: []}
    tail = Tail(winner, baseline, offered_ops_s, runs, confidence=confidence)
    measured = 0
    for windows in looks:
        more = yield from interleaved((winner, baseline), replicates, *ages_s[measured : 1 + windows])
        runs = {side: runs[side] + more[side] for side in runs}
        tail, measured = replace(tail, runs=runs), 1 + windows
        if tail.is_disturbed or tail.verdict(settings) != "undecided":
            break
    return tail
