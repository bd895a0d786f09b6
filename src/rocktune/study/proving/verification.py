"""The stages that measure configurations in turn, and the proof (docs/design/verification.md).

Each stage is a generator of batches. The study's loop runs and replays it like a search.
"""

import math
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal, TypeVar

from rocktune.objective import Objective
from rocktune.outcome import StopReason
from rocktune.study.proving.bounds import bounded_by
from rocktune.study.proving.disturbed import disturbed_pairs, is_undecided
from rocktune.study.proving.sequential import Continue, Design, next_step
from rocktune.study.proving.statistics import (
    Interval,
    mean_interval,
    ratio_logarithms,
    worst_ratio,
)
from rocktune.study.specs.spec import DEFAULTS_PAIRS
from rocktune.trial import Batch, Configuration, Result, Status, Trial

ROCKSDB_DEFAULTS = Configuration({})
"""The configuration without values, which stands for RocksDB's bare defaults."""

Returned = TypeVar("Returned")
Stage = Generator[Batch, Sequence[Result], Returned]
Runs = dict[Configuration, list[Result]]
"""The results of each configuration, in the order of their replicates."""


def interleaved(
    configurations: Iterable[Configuration], replicates: Sequence[int], *ages_s: float
) -> Stage[Runs]:
    """Runs each configuration once per replicate, in one batch.

    The order of configurations rotates from replicate to replicate, so that drift favours none.

    Args:
        configurations: the configurations; equal ones are run once.
        replicates: replicates that no earlier run of these configurations used, or of runs that go on.
        *ages_s: increasing ages in seconds at which each run is measured.

    Returns:
        The results by configuration, those of a run in the order of the ages.
    """
    distinct = list(dict.fromkeys(configurations))
    runs: Runs = {configuration: [] for configuration in distinct}
    trials: list[Trial] = []
    for turn, replicate in enumerate(replicates):
        trials += (Trial(each, age_s, replicate) for each in _rotated(distinct, turn) for age_s in ages_s)
    for result in (yield Batch(tuple(trials))):
        runs[result.trial.configuration].append(result)
    return runs


def _rotated(configurations: Iterable[Configuration], turn: int) -> list[Configuration]:
    """Returns the distinct configurations in the order of a turn; each turn begins with another one."""
    distinct = list(dict.fromkeys(configurations))
    start = turn % len(distinct)
    return distinct[start:] + distinct[:start]


def aged(configuration: Configuration, replicate: int, ages_s: Sequence[float]) -> Stage[list[Result]]:
    """Measures one run at several ages and returns its result at each.

    Args:
        configuration: the run's configuration.
        replicate: a replicate that no earlier run of the configuration used.
        ages_s: increasing ages in seconds.
    """
    results: list[Result] = []
    for age_s in ages_s:
        results += yield Batch((Trial(configuration, age_s, replicate),))
    return results


def paired_ratio(
    runs: Runs, objective: Objective, better: Configuration, than: Configuration, field: str | None = None
) -> Interval:
    """Returns how many times better one configuration is than another on the worst workload.

    It has the 95% interval of `worst_ratio`. Pairs with a failed run are left out. For the arguments see
    `paired_logarithms`.
    """
    return worst_ratio(paired_logarithms(runs, objective, better, than, field))


def paired_logarithms(
    runs: Runs, objective: Objective, better: Configuration, than: Configuration, field: str | None = None
) -> list[list[float]]:
    """Returns the logarithm of how many times better one configuration is than another, for each pair.

    Pairs are runs of equal replicates. A run without a partner is left out.

    Args:
        runs: results of both configurations.
        objective: says for each field whether larger or smaller is better.
        better: the logarithm is above 0 if this configuration is the better one.
        than: the configuration to compare with.
        field: the field to compare; the objective's first field by default.

    Returns:
        For each workload that the runs were measured on, one logarithm a pair, in the order of the runs of
        `better`; NaN if a run of the pair failed.
    """
    field = field or objective.primary
    partners = {result.trial.replicate: result for result in runs[than]}
    pairs = [
        (
            _by_workload(result, objective, field),
            _by_workload(partners[result.trial.replicate], objective, field),
        )
        for result in runs[better]
        if result.trial.replicate in partners
    ]
    workloads = max((len(figures) for pair in pairs for figures in pair), default=1)
    found = []
    for number in range(workloads):
        # A failed run has no figures on any workload.
        ours, theirs = ([pair[side][number] if pair[side] else math.nan for pair in pairs] for side in (0, 1))
        # If smaller is better, the ratio is inverted, so that above 1 always means better.
        above, below = (ours, theirs) if objective.direction(field) > 0 else (theirs, ours)
        found.append(ratio_logarithms(above, below))
    return found


def _by_workload(result: Result, objective: Objective, field: str) -> list[float]:
    """Returns a result's figures on each workload; empty if the run failed."""
    return [] if result.measurement is None else objective.figures_by_workload(result.measurement, field)


def keeps_constraints(runs: Runs, objective: Objective, configuration: Configuration) -> bool:
    """Returns whether the means of a configuration's runs keep the objective's constraints."""
    means = {
        field: mean_interval([objective.figure(result, field) for result in runs[configuration]]).value
        for field in objective.all_fields
    }
    return objective.violation(means) == 0


@dataclass(frozen=True)
class Proof:
    """The result of the phase `prove`: runs of winner, baseline and RocksDB's bare defaults.

    Attributes:
        winner: the configuration to be proven.
        baseline: the configuration to beat.
        objective: the figures to improve, and the constraints with the bounds that follow from the baseline.
        runs: all results by configuration.
        ratio_to_baseline: how many times better the winner is than the baseline, with the repeated interval.
        ratio_to_rocksdb_defaults: how many times better the winner is than RocksDB's bare defaults.
        stopped: why the proof ended.
    """

    winner: Configuration
    baseline: Configuration
    objective: Objective
    runs: Runs
    ratio_to_baseline: Interval
    ratio_to_rocksdb_defaults: Interval
    stopped: StopReason

    @property
    def recommended(self) -> Literal["best", "baseline"]:
        """The recommendation: "best" if the winner is proven better, else "baseline".

        An undecided proof recommends the baseline. The winner has to keep the constraints and none of its
        runs may have failed. Then it is better if the whole interval of the ratio is above 1, or if the
        baseline breaks the constraints.
        """
        failed = _has_failed(self.runs[self.winner])
        if self.is_undecided or failed or not self.keeps_constraints(self.winner):
            return "baseline"
        # A baseline that failed has no figures, which keep no constraint and say nothing about the winner.
        breaks = not _has_failed(self.runs[self.baseline]) and not self.keeps_constraints(self.baseline)
        better = self.ratio_to_baseline.low > 1 or breaks
        return "best" if better else "baseline"

    @property
    def disturbed_pairs(self) -> int:
        """Number of pairs that stayed disturbed in all their repeats."""
        return disturbed_pairs(chain.from_iterable(self.runs.values()))

    @property
    def is_undecided(self) -> bool:
        """True if so many pairs stayed disturbed that the ratios decide nothing; see `is_undecided`."""
        return is_undecided(self.disturbed_pairs, len(self.runs[self.winner]))

    def keeps_constraints(self, configuration: Configuration) -> bool:
        """Returns whether the means of a configuration's runs keep the constraints."""
        return keeps_constraints(self.runs, self.objective, configuration)

    def figure(self, configuration: Configuration, field: str) -> Interval:
        """Returns the mean of a figure over a configuration's runs, with its interval."""
        return mean_interval([self.objective.figure(result, field) for result in self.runs[configuration]])


def _has_failed(results: Sequence[Result]) -> bool:
    """Returns whether a run failed."""
    return any(result.status is not Status.OK for result in results)


def prove(
    winner: Configuration,
    baseline: Configuration,
    objective: Objective,
    design: Design,
    replicates: Sequence[int],
    age_s: float,
) -> Stage[Proof]:
    """Measures fresh runs of winner and baseline in pairs until the design stops, and returns the ratios.

    There is one batch for each look. RocksDB's bare defaults run with the first `DEFAULTS_PAIRS` pairs.

    Args:
        winner: the configuration that will be exported.
        baseline: the configuration to beat.
        objective: the ratios compare its first field; its constraints, as stated, take part in the
            recommendation.
        design: decides when the proof ends.
        replicates: one replicate for each pair up to the design's maximum; search, pick and ablation must not
            have used them.
        age_s: age at which each run ends, seconds.
    """
    runs: Runs = {configuration: [] for configuration in (winner, baseline, ROCKSDB_DEFAULTS)}
    logarithms: list[list[float]] = [[]]
    while isinstance(step := next_step(design, logarithms, _has_failed(runs[winner])), Continue):
        trials: list[Trial] = []
        for turn in range(len(logarithms[0]), step.pairs):
            sides = (winner, baseline, ROCKSDB_DEFAULTS) if turn < DEFAULTS_PAIRS else (winner, baseline)
            trials += (Trial(side, age_s, replicates[turn]) for side in _rotated(sides, turn))
        for result in (yield Batch(tuple(trials))):
            runs[result.trial.configuration].append(result)
        logarithms = paired_logarithms(runs, objective, winner, baseline)
    to_defaults = paired_ratio(runs, objective, winner, ROCKSDB_DEFAULTS)
    bounded = bounded_by(objective, runs[baseline])
    return Proof(winner, baseline, bounded, runs, step.interval, to_defaults, step.reason)
