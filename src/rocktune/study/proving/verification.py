"""Picking the winner among the search's best, and proving it (docs/design/verification.md).

Each stage is a generator of batches, run by the study's loop as a search is, and so replayed as one.
"""

import math
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from rocktune.objective import Objective, Row
from rocktune.study.proving.statistics import Interval, mean_interval, ratio_interval
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
    """Runs every configuration once per replicate, fresh, replicate after replicate in one batch.

    Each replicate begins with another configuration, so that what drifts or lingers on the machine favours
    none.

    Args:
        configurations: equal ones are run once.
        replicates: never used before with these configurations.
        age_s: at which each run ends.
    """
    distinct = list(dict.fromkeys(configurations))
    runs: Runs = {configuration: [] for configuration in distinct}
    trials: list[Trial] = []
    for turn, replicate in enumerate(replicates):
        start = turn % len(distinct)
        order = distinct[start:] + distinct[:start]
        trials += (Trial(configuration, age_s, replicate) for configuration in order)
    for result in (yield Batch(tuple(trials))):
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


def paired_ratio(
    runs: Runs, objective: Objective, better: Configuration, than: Configuration, field: str | None = None
) -> Interval:
    """Returns how many times better one configuration is than another, in the objective's first field.

    Pairs are runs of equal replicates; pairs of which either run failed are left out.

    Args:
        runs: of both.
        objective: says what "better" means.
        better: the one to be above 1 if it is better.
        than: the other one.
        field: another field of the objective.
    """
    field = field or objective.primary
    figures = [[result.figure(field) for result in runs[side]] for side in (better, than)]
    above, below = figures if objective.direction(field) > 0 else reversed(figures)
    return ratio_interval(above, below)


def keeps_constraints(runs: Runs, objective: Objective, configuration: Configuration) -> bool:
    """Returns whether a configuration keeps the objective's constraints, by the means of its runs."""
    means = {
        field: mean_interval([result.figure(field) for result in runs[configuration]]).value
        for field in objective.all_fields
    }
    return objective.violation(means) == 0


@dataclass(frozen=True)
class Picked:
    """What the finalists' fresh runs say.

    Attributes:
        winner: the best finalist; None if all are out. Where it breaks constraints, all do.
        rows: figures of each finalist that is not out, geometric means over its runs.
    """

    winner: Configuration | None
    rows: Mapping[Configuration, Row]

    def keeps_constraints(self, objective: Objective) -> bool:
        """Returns whether the winner does; where it does not, no finalist does."""
        return self.winner is not None and objective.violation(self.rows[self.winner]) == 0


def pick(
    finalists: Sequence[Configuration], objective: Objective, replicates: Sequence[int], age_s: float
) -> Stage[Picked]:
    """Runs the finalists afresh and returns the best by the geometric mean of the objective.

    Constraints and several fields count as in the search. A finalist of which a run fails is out.

    Args:
        finalists: best first, which decides between equals.
        objective: what to compare.
        replicates: of the fresh runs.
        age_s: at which each run ends.

    """
    if not finalists:
        return Picked(None, {})
    runs = yield from interleaved(finalists, replicates, age_s)
    sound = [finalist for finalist in runs if all(result.status is Status.OK for result in runs[finalist])]
    rows = {
        finalist: {
            field: _geometric_mean([result.figure(field) for result in runs[finalist]])
            for field in objective.all_fields
        }
        for finalist in sound
    }
    ranks = objective.ranks_of(list(rows.values()))
    return Picked(sound[ranks.index(0)] if sound else None, rows)


def _geometric_mean(values: Sequence[float]) -> float:
    return math.exp(math.fsum(math.log(value) if value > 0 else math.nan for value in values) / len(values))


@dataclass(frozen=True)
class Proof:
    """What fresh, interleaved runs say of winner, baseline and RocksDB's bare defaults.

    Attributes:
        winner: the configuration that was to be proven.
        baseline: the configuration to beat.
        objective: what was to be improved, and what must hold.
        runs: all results.
        ratio_to_baseline: how many times better the winner is than the baseline.
        ratio_to_rocksdb_defaults: and than RocksDB with nothing set.
    """

    winner: Configuration
    baseline: Configuration
    objective: Objective
    runs: Runs
    ratio_to_baseline: Interval
    ratio_to_rocksdb_defaults: Interval

    @property
    def recommended(self) -> Literal["best", "baseline"]:
        """Returns "best" if the winner is proven better and none of its runs failed, else "baseline".

        Better is also what keeps the constraints where the baseline does not; what breaks them never is.
        """
        failed = any(result.status is not Status.OK for result in self.runs[self.winner])
        if failed or not self.keeps_constraints(self.winner):
            return "baseline"
        better = self.ratio_to_baseline.low > 1 or not self.keeps_constraints(self.baseline)
        return "best" if better else "baseline"

    def keeps_constraints(self, configuration: Configuration) -> bool:
        """Returns whether a configuration keeps the constraints, by the means of its runs."""
        return keeps_constraints(self.runs, self.objective, configuration)

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
        objective: its first field is what the ratios compare; its constraints decide what is recommended.
        replicates: one for each pair; never seen by search, picking or ablation.
        age_s: at which each run ends.
    """
    runs = yield from interleaved((winner, baseline, ROCKSDB_DEFAULTS), replicates, age_s)
    return Proof(
        winner,
        baseline,
        objective,
        runs,
        paired_ratio(runs, objective, winner, baseline),
        paired_ratio(runs, objective, winner, ROCKSDB_DEFAULTS),
    )
