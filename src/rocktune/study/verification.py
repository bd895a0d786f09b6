"""Picking the winner among the search's best, and proving it (docs/design/verification.md).

Each stage is a generator of batches, run by the study's loop as a search is, and so replayed as one.
"""

import math
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from rocktune.objective import Objective
from rocktune.study.statistics import Interval, mean_interval, ratio_interval
from rocktune.trial import Batch, Configuration, Result, Status, Trial

ROCKSDB_DEFAULTS = Configuration({})
"""No knob has a value: RocksDB with nothing set."""

Returned = TypeVar("Returned")
Stage = Generator[Batch, Sequence[Result], Returned]
Runs = dict[Configuration, list[Result]]
"""Each configuration's results, in the order of the replicates."""


def interleaved(
    configurations: Iterable[Configuration], replicates: Sequence[int], age_s: float
) -> Stage[Runs]:
    """Runs every configuration once per replicate, fresh, one batch per replicate.

    Each batch begins with another configuration, so that what drifts or lingers on the machine favours none.

    Args:
        configurations: equal ones are run once.
        replicates: never used before with these configurations.
        age_s: at which each run ends.
    """
    distinct = list(dict.fromkeys(configurations))
    runs: Runs = {configuration: [] for configuration in distinct}
    for turn, replicate in enumerate(replicates):
        start = turn % len(distinct)
        order = distinct[start:] + distinct[:start]
        results = yield Batch(tuple(Trial(configuration, age_s, replicate) for configuration in order))
        for result in results:
            runs[result.trial.configuration].append(result)
    return runs


def aged(configuration: Configuration, replicate: int, ages_s: Sequence[float]) -> Stage[list[Result]]:
    """Runs one configuration from age to age and returns its result at each.

    Args:
        configuration: what to run.
        replicate: never used before with it.
        ages_s: growing.
    """
    results: list[Result] = []
    for age_s in ages_s:
        results += yield Batch((Trial(configuration, age_s, replicate),))
    return results


def paired_ratio(runs: Runs, objective: Objective, better: Configuration, than: Configuration) -> Interval:
    """Returns how many times better one configuration is than another, in the objective's first field.

    Pairs are runs of equal replicates; pairs of which either run failed are left out.
    """
    figures = [[result.figure(objective.primary) for result in runs[side]] for side in (better, than)]
    above, below = figures if objective.is_better(objective.primary) > 0 else reversed(figures)
    return ratio_interval(above, below)


def pick(
    finalists: Sequence[Configuration], objective: Objective, replicates: Sequence[int], age_s: float
) -> Stage[Configuration | None]:
    """Runs the finalists afresh and returns the best by the mean logarithm of the objective.

    Of several fields the worse rank counts, as in the search. A finalist of which a run fails is out.

    Args:
        finalists: best first, which decides between equals.
        objective: what to compare.
        replicates: of the fresh runs.
        age_s: at which each run ends.

    Returns:
        The winner, None if all are out.
    """
    if not finalists:
        return None
    runs = yield from interleaved(finalists, replicates, age_s)
    sound = [finalist for finalist in runs if all(result.status is Status.OK for result in runs[finalist])]
    ranks = objective.ranks_of(
        [
            [
                _mean_logarithm([result.figure(field) for result in runs[finalist]])
                for field in objective.fields
            ]
            for finalist in sound
        ]
    )
    return sound[ranks.index(0)] if sound else None


def _mean_logarithm(values: Sequence[float]) -> float:
    return math.fsum(math.log(value) if value > 0 else math.nan for value in values) / len(values)


@dataclass(frozen=True)
class Proof:
    """What fresh, interleaved runs say of winner, baseline and RocksDB's bare defaults.

    Attributes:
        winner: the configuration that was to be proven.
        baseline: the configuration to beat.
        runs: all results.
        ratio_to_baseline: how many times better the winner is than the baseline.
        ratio_to_rocksdb_defaults: and than RocksDB with nothing set.
    """

    winner: Configuration
    baseline: Configuration
    runs: Runs
    ratio_to_baseline: Interval
    ratio_to_rocksdb_defaults: Interval

    @property
    def recommended(self) -> str:
        """Returns "best" if the winner is proven better and none of its runs failed, else "baseline"."""
        failed = any(result.status is not Status.OK for result in self.runs[self.winner])
        return "best" if self.ratio_to_baseline.low > 1 and not failed else "baseline"

    def figure(self, configuration: Configuration, field: str) -> Interval:
        """Returns a measurement field's mean over a configuration's runs, with its interval."""
        return mean_interval([result.figure(field) for result in self.runs[configuration]])


def prove(
    winner: Configuration,
    baseline: Configuration,
    objective: Objective,
    replicates: Sequence[int],
    age_s: float,
) -> Stage[Proof]:
    """Runs winner, baseline and RocksDB's bare defaults afresh; only these runs give the study's ratios.

    Args:
        winner: the very configuration that will be exported.
        baseline: the one to beat.
        objective: its first field is what the ratios compare.
        replicates: one for each pair; never seen by search, picking or ablation.
        age_s: at which each run ends.
    """
    runs = yield from interleaved((winner, baseline, ROCKSDB_DEFAULTS), replicates, age_s)
    return Proof(
        winner,
        baseline,
        runs,
        paired_ratio(runs, objective, winner, baseline),
        paired_ratio(runs, objective, winner, ROCKSDB_DEFAULTS),
    )
