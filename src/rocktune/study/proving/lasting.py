"""The outcome's parts on aged stores and on latency at an offered rate."""

import math
from collections.abc import Sequence

from rocktune.outcome import AgedStores, Interval, TailProof, TailSide
from rocktune.space import Configuration
from rocktune.study.proving import statistics
from rocktune.study.proving.tail import BELOW, LONGEST_WAIT, PERCENTILES, Tail
from rocktune.study.proving.verification import ROCKSDB_DEFAULTS, Proof
from rocktune.study.specs.spec import StudySpec
from rocktune.trial import Result

SUSTAINED = "sustained_throughput_ops_s"


def offered_ops_s(spec: StudySpec, baseline: Sequence[Result]) -> float | None:
    """Returns the rate at which tails are measured; None if the workload has rates of its own.

    Args:
        spec: the study.
        baseline: runs of the baseline, which show what it sustains.
    """
    if spec.rate_ops_s is not None:
        return spec.rate_ops_s
    if any(session.arrival.kind != "closed" for session in spec.workload.sessions):
        return None
    sustained = statistics.mean_interval([result.figure(SUSTAINED) for result in baseline]).value
    if math.isnan(sustained):
        sustained = statistics.mean_interval([result.figure("throughput_ops_s") for result in baseline]).value
    return spec.verification.offered_share * sustained


def rate_warning(spec: StudySpec, baseline: Result) -> str:
    """Returns a sentence if the baseline cannot sustain the rate that the user gave; "" if it can."""
    sustained, rate = baseline.figure(SUSTAINED), spec.rate_ops_s
    if rate is None or not rate > sustained:
        return ""
    return (
        f"The baseline sustains about {sustained:,.0f} operations per second, less than the offered "
        f"{rate:,.0f}. Its tail at that rate will be without bound; give a lower --rate."
    )


def keeps_tail(spec: StudySpec, tail: Tail) -> bool:
    """Returns whether the winner's tail is shown to be as good as the study asks."""
    return tail.verdict(spec.verification) == "kept"


def tail_proof(spec: StudySpec, tail: Tail) -> TailProof:
    """Returns the outcome's part on the runs at an offered rate."""

    def side(configuration: Configuration) -> TailSide:
        """Returns the latency of a configuration."""
        names = (*PERCENTILES, LONGEST_WAIT, BELOW)
        return TailSide(**{name: interval_of(tail.figure(configuration, name)) for name in names})

    settings = spec.verification
    is_share = spec.rate_ops_s is None and tail.offered_ops_s is not None
    return TailProof(
        offered_ops_s=tail.offered_ops_s,
        offered_share=settings.offered_share if is_share else None,
        best=side(tail.winner),
        baseline=side(tail.baseline),
        p99_ratio=interval_of(tail.ratio("latency_us_p99")),
        longest_wait_ratio=interval_of(tail.ratio(LONGEST_WAIT)),
        p999_ratio=interval_of(tail.ratio("latency_us_p999")),
        max_p99_ratio=settings.max_p99_ratio,
        max_longest_wait_ratio=settings.max_longest_wait_ratio,
        max_p999_ratio=settings.max_p999_ratio,
        verdict=tail.verdict(settings),
    )


def interval_of(interval: statistics.Interval) -> Interval:
    """Returns an interval as the outcome has it."""
    return Interval(**interval.to_json())


def aged_stores(proof: Proof) -> dict[str, AgedStores]:
    """Returns how the stores of each side were aged; empty in a proof without aged stores."""
    sides = {"best": proof.winner, "baseline": proof.baseline, "rocksdb_defaults": ROCKSDB_DEFAULTS}
    found = {}
    for name, configuration in sides.items():
        measured = [each.measurement for each in proof.runs[configuration] if each.measurement is not None]
        aged = [each.raw["ageing"] for each in measured if "ageing" in each.raw]
        if aged:
            found[name] = AgedStores(
                stores=len(aged),
                steady=sum(each["is_steady"] for each in aged),
                load_s=math.fsum(each["load_s"] for each in aged) / len(aged),
                changes=tuple(each["changes"] for each in aged if not each["is_steady"]),
            )
    return found
