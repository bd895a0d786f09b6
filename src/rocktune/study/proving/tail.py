"""The second phase of a proof: latency at an offered rate (docs/design/steady-state.md).

Operations arrive at a fixed rate, whether or not the store keeps up, and latency counts from the intended
start. So a pause shows in the latency of every operation that waited for it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from rocktune.outcome import TailVerdict
from rocktune.study.proving.disturbed import disturbed_pairs, is_undecided
from rocktune.study.proving.statistics import Interval, mean_interval, ratio_interval
from rocktune.study.proving.verification import Runs, Stage, interleaved
from rocktune.study.specs.spec import VerificationSettings
from rocktune.trial import Configuration, Measurement, Result

PERCENTILES = {
    "latency_us_p50": 50.0,
    "latency_us_p99": 99.0,
    "latency_us_p999": 99.9,
    "longest_wait_us": 100.0,
}
"""Latency figures over all operations, by name, with their percentiles."""
BELOW = "share_below_rate"
BELOW_RATE = 0.9
"""Share of the offered rate under which an interval is below the rate; arrivals are not exactly even."""


@dataclass(frozen=True)
class Tail:
    """The result of the runs at an offered rate.

    Attributes:
        winner: the configuration to be proven.
        baseline: the configuration to beat.
        offered_ops_s: the offered rate, operations per second; None if the workload has rates of its own.
        runs: results of both configurations.
    """

    winner: Configuration
    baseline: Configuration
    offered_ops_s: float | None
    runs: Runs

    def figure(self, configuration: Configuration, name: str) -> Interval:
        """Returns a figure over a configuration's runs: the geometric mean of a latency, the mean of a share.

        Args:
            configuration: winner or baseline.
            name: a name of `PERCENTILES`, or `BELOW`.
        """
        figures = self._figures(configuration, name)
        # A latency varies by factors, so that a mean's interval could reach below 0.
        return mean_interval(figures) if name == BELOW else ratio_interval(figures, [1.0] * len(figures))

    def ratio(self, name: str) -> Interval:
        """Returns the winner's figure over the baseline's, from pairs; above 1 is worse."""
        return ratio_interval(self._figures(self.winner, name), self._figures(self.baseline, name))

    def verdict(self, settings: VerificationSettings) -> TailVerdict:
        """Returns whether the winner's tail is as good as the settings ask.

        "kept" if the intervals of both ratios lie below their maximum, "worse" if one lies above it, else
        "undecided". It is "undecided", too, if most pairs stayed disturbed by other programs.
        """
        results = [result for side in self.runs.values() for result in side]
        if is_undecided(disturbed_pairs(results), len(self.runs[self.winner])):
            return "undecided"
        bounds = {
            "latency_us_p99": settings.max_p99_ratio,
            "longest_wait_us": settings.max_longest_wait_ratio,
        }
        ratios = {name: self.ratio(name) for name in bounds}
        if all(ratios[name].high <= bound for name, bound in bounds.items()):
            return "kept"
        return "worse" if any(ratios[name].low > bound for name, bound in bounds.items()) else "undecided"

    def _figures(self, configuration: Configuration, name: str) -> list[float]:
        """Returns a figure of each run, NaN for a failed one."""
        return [self._figure(result, name) for result in self.runs[configuration]]

    def _figure(self, result: Result, name: str) -> float:
        measured = result.measurement
        if measured is None:
            return float("nan")
        if name == BELOW:
            return share_below(measured, self.offered_ops_s)
        return measured.latency_us(measured.raw["operations"], PERCENTILES[name])


def share_below(measured: Measurement, offered_ops_s: float | None) -> float:
    """Returns the share of a run's intervals in which clearly fewer operations ended than were offered.

    Args:
        measured: the run.
        offered_ops_s: the offered rate; None, which gives NaN, if it varies.
    """
    series = measured.raw.get("series")
    if series is None or offered_ops_s is None:
        return float("nan")
    # The last interval of a run is mostly shorter than the others.
    counts = series["operations"][:-1]
    least = BELOW_RATE * offered_ops_s * series["interval_s"]
    return sum(count < least for count in counts) / len(counts) if counts else float("nan")


def offer(
    winner: Configuration,
    baseline: Configuration,
    offered_ops_s: float | None,
    replicates: Sequence[int],
    age_s: float,
) -> Stage[Tail]:
    """Measures both configurations at the offered rate, in pairs.

    Args:
        winner: the configuration that will be exported.
        baseline: the configuration to beat.
        offered_ops_s: the rate at which the study opens the runs of these replicates; see `Tail`.
        replicates: one replicate for each pair.
        age_s: age at which each run ends, seconds.
    """
    runs = yield from interleaved((winner, baseline), replicates, age_s)
    return Tail(winner, baseline, offered_ops_s, runs)
