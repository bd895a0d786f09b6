"""The outcome's part on the workloads of a robust study."""

import math

from rocktune.outcome import Interval, WorkloadRatio
from rocktune.study.proving.statistics import geometric_interval
from rocktune.study.proving.verification import Proof, paired_logarithms
from rocktune.study.specs.spec import StudySpec


def workload_ratios(spec: StudySpec, proof: Proof) -> tuple[WorkloadRatio, ...]:
    """Returns the ratios of winner to baseline on each workload, the worst first; empty for one workload."""
    if not spec.neighbours:
        return ()
    names = [workload.name for workload in (spec.workload, *spec.neighbours)]
    logarithms = paired_logarithms(proof.runs, proof.objective, proof.winner, proof.baseline)
    # With failed runs alone there is one list, and no ratio to show.
    intervals = [geometric_interval(of_one) for of_one in logarithms]
    found = zip(names, intervals, strict=False)
    return tuple(
        WorkloadRatio(workload=name, ratio=Interval(**interval.to_json()))
        for name, interval in sorted(found, key=lambda pair: _known_first(pair[1].value))
    )


def _known_first(value: float) -> float:
    """Returns a value, and infinity for NaN, which has no order."""
    return math.inf if math.isnan(value) else value
