"""The proof at one scale: its sides, its ratios, its tails and its aged stores."""

from typing import Literal

from pydantic import Field

from rocktune.outcome.recorded import NOT_MEASURED, Interval, Recorded
from rocktune.outcome.sides import Baseline, Side

StopReason = Literal["fixed", "failed", "better", "worse", "equal", "maximum", "futile"]
"""Why a proof ended. "fixed": its number of pairs was given. "failed": a run of the winner failed. "better",
"worse": the interval lies above or below 1. "equal": the interval lies within the tolerated difference around
1. "maximum": the maximum number of pairs was run. "futile": the remaining pairs could not have shown the
winner to be better."""


TailVerdict = Literal["kept", "worse", "undecided"]
"""Whether the winner's tail at the offered rate is as good as asked: shown, refuted, or neither."""


class Bound(Recorded):
    """A constraint with the bound by which the runs were judged.

    Attributes:
        constraint: the constraint as stated, such as "read_latency_us_p99<=1.25x".
        field: name of the measurement field.
        at_most: whether `bound` is an upper bound; otherwise it is a lower one.
        bound: the bound in the field's unit; null if it is a multiple of a figure that the baseline does not
            have, so that nothing keeps it.
        is_default: whether rocktune set the constraint.
        has_yielded: whether the baseline breaks the default, so that `bound` is 1.05 times its own figure.
    """

    constraint: str
    field: str
    at_most: bool
    bound: float | None
    is_default: bool
    has_yielded: bool


class TailSide(Recorded):
    """The latency of a configuration at the offered rate, over all operations, from their intended starts.

    `repeats` of the intervals is the number of windows, of `share_below_rate` the number of runs.

    Attributes:
        latency_us_p50: median, microseconds.
        latency_us_p99: 99th percentile, microseconds.
        latency_us_p999: 99.9th percentile, microseconds.
        longest_wait_us: the longest time that an operation took in a window, the mean over the windows,
            microseconds. In older documents the longest time of all.
        share_below_rate: share of the time in which the store did clearly less than the rate asked; null
            where the workload's own rate varies.
    """

    latency_us_p50: Interval
    latency_us_p99: Interval
    latency_us_p999: Interval
    longest_wait_us: Interval
    share_below_rate: Interval


class TailProof(Recorded):
    """The second phase of a proof: winner and baseline at the same offered rate.

    Attributes:
        offered_ops_s: the offered rate in operations per second; null for the workload's own arrivals.
        offered_share: the rate as a share of what the baseline sustains; null if the user gave the rate.
        best: the winner's latency.
        baseline: the baseline's latency.
        p99_ratio: the winner's 99th percentile over the baseline's; above 1 is worse.
        longest_wait_ratio: the winner's longest wait over the baseline's; above 1 is worse.
        p999_ratio: the winner's 99.9th percentile over the baseline's; null in older documents.
        max_p99_ratio: maximum of the upper end of `p99_ratio` for a recommendation.
        max_longest_wait_ratio: the same for `longest_wait_ratio`.
        max_p999_ratio: maximum of the lower end of `p999_ratio`; null in older documents.
        verdict: "kept" if the first two ratios' intervals lie below their maximum; "worse" if one of the
            three lies above it; else "undecided".
    """

    offered_ops_s: float | None
    offered_share: float | None
    best: TailSide
    baseline: TailSide
    p99_ratio: Interval
    longest_wait_ratio: Interval
    p999_ratio: Interval | None = None
    max_p99_ratio: float
    max_longest_wait_ratio: float
    max_p999_ratio: float | None = None
    verdict: TailVerdict


class AgedStores(Recorded):
    """The aged stores on which the runs of one side of a proof began.

    Attributes:
        stores: number of stores.
        steady: number of those that became steady.
        load_s: mean seconds of load until then, at the scale of the model.
        changes: what still changed in the stores that did not become steady, in words, one each.
    """

    stores: int
    steady: int
    load_s: float
    changes: tuple[str, ...] = ()


class WorkloadRatio(Recorded):
    """The ratio of winner to baseline on one of a robust study's workloads.

    Attributes:
        workload: name of the workload; that of the study, or how another one differs from it.
        ratio: how many times better the winner is in the objective's first field, with the plain 95% t
            interval of this workload alone.
    """

    workload: str
    ratio: Interval


class Verification(Recorded):
    """The proof at one scale: the winner compared with the baseline and RocksDB's bare defaults.

    Attributes:
        verified_at_scale: "1/S", or "1" for full size; null if nothing was proven.
        device_busy_share: share of the device's bandwidth that the winner used; null without a limit.
        best: the tuned configuration; null if there was nothing to prove.
        baseline: the configuration to beat.
        rocksdb_defaults: RocksDB's bare defaults; null if nothing was proven.
        ratio_to_baseline: how many times better `best` is than `baseline` in the objective's first field.
        ratio_to_rocksdb_defaults: how many times better `best` is than `rocksdb_defaults` in that field.
        bounds: the constraints with their bounds; empty without constraints and in older documents.
        workloads: the ratios to the baseline on each workload of a robust study, the worst first; empty in
            other studies. `ratio_to_baseline` and the figures of the sides are those of the worst workload.
        proof_pairs: number of pairs of runs behind the ratio; pairs with a failed run do not count.
        stopped: why the proof ended after these pairs; see `StopReason`. "fixed" if nothing was proven, and
            in older documents.
        tail: the phase at an offered rate; null in a short proof, and if the winner is not proven better.
        aged: the aged stores of each side, by its field name; empty in a short proof.
        disturbed_pairs: number of pairs during which other programs took the processors, in all repeats.
        reason: "undecided: the machine was busy" if that were more than half of the pairs, of the ratio or of
            the tail; else "".
        recommended: the configuration to use: "best" or "baseline".
    """

    verified_at_scale: str | None
    device_busy_share: float | None = None
    best: Side | None
    baseline: Baseline
    rocksdb_defaults: Side | None
    ratio_to_baseline: Interval | None
    ratio_to_rocksdb_defaults: Interval | None
    bounds: tuple[Bound, ...] = ()
    workloads: tuple[WorkloadRatio, ...] = ()
    proof_pairs: int = 0
    stopped: StopReason = "fixed"
    tail: TailProof | None = None
    aged: dict[str, AgedStores] = Field(default={})
    disturbed_pairs: int = 0
    reason: str = ""
    recommended: Literal["best", "baseline"]

    @property
    def ratio(self) -> Interval:
        """The ratio to the baseline; `NOT_MEASURED` if nothing was proven."""
        return self.ratio_to_baseline or NOT_MEASURED

    @property
    def sides(self) -> dict[str, Side]:
        """The compared configurations that are not null, by field name, `best` first."""
        found = {"best": self.best, "baseline": self.baseline, "rocksdb_defaults": self.rocksdb_defaults}
        return {name: side for name, side in found.items() if side is not None}
