"""The findings of a comparison of tuners: time to near the best, ranks, wins and losses."""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rocktune.analysis.progress import NEAR_BEST, Progress, progress_of
from rocktune.ledger import Ledger, TrialRecord
from rocktune.objective import Objective, Row
from rocktune.outcome import Outcome
from rocktune.study import kept_trials, recorded_outcome
from rocktune.study.comparison import ComparedStudy, ComparisonSpec
from rocktune.study.proving.bounds import recorded_bounds
from rocktune.study.proving.hypervolume import Bounds, bounds_of, hypervolume
from rocktune.study.proving.statistics import ratio_interval
from rocktune.study.specs.problem import objective_of
from rocktune.trial import Status

TIE = 0.01
"""Relative difference up to which two verified results count as equal."""
# SciPy's test needs three tuners, and its chi-square approximation is poor with fewer than three blocks.
_MIN_FOR_FRIEDMAN = 3


@dataclass(frozen=True)
class ComparedRun:
    """A finished study of a comparison.

    Attributes:
        setting: name of the setting that was measured.
        tuner: name of the tuner.
        seed: seed; runs of different tuners with equal seeds are paired.
        study: name of the study in the ledger.
        verified: result in fresh runs, larger is better: the ratio to the baseline, or the hypervolume of the
            front. NaN if nothing was found that keeps the constraints.
        progress: best result of the search over time.
    """

    setting: str
    tuner: str
    seed: int
    study: str
    verified: float
    progress: Progress = field(repr=False)


def compared_runs(spec: ComparisonSpec, ledger: Ledger) -> list[ComparedRun]:
    """Returns the finished studies of a comparison, in its order.

    Hypervolumes of one setting share their bounds: the worst and the best that any of its searches measured.
    """
    found: list[ComparedRun] = []
    for setting in dict.fromkeys(each.setting for each in spec.studies):
        finished = [each for each in spec.studies if each.setting == setting and _is_finished(each, ledger)]
        found += _runs_of_setting(finished, ledger)
    return found


def _is_finished(compared: ComparedStudy, ledger: Ledger) -> bool:
    """Returns whether a study is in the ledger and has an outcome."""
    names = {record.name for record in ledger.studies()}
    return compared.study.name in names and ledger.outcome(ledger.study(compared.study.name)) is not None


def _runs_of_setting(finished: Sequence[ComparedStudy], ledger: Ledger) -> list[ComparedRun]:
    """Returns the runs of the finished studies of one setting."""
    records = {each.study.name: kept_trials(ledger, ledger.study(each.study.name)) for each in finished}
    bounds: dict[str, Bounds | None] = {}
    for each in finished:
        objective = _objective(each, records)
        # All studies of a setting share the objective, so one pass gives the common bounds.
        if objective.seeks_front and not bounds:
            rows = [
                objective.row(record.result)
                for found in records.values()
                for record in found
                if record.phase == "search" and record.status is Status.OK
            ]
            bounds = {"common": bounds_of(rows, objective)}
    common = bounds.get("common")
    return [
        ComparedRun(
            each.setting,
            each.tuner,
            each.study.seed,
            each.study.name,
            _verified(
                recorded_outcome(ledger, ledger.study(each.study.name)), _objective(each, records), common
            ),
            progress_of(records[each.study.name], _objective(each, records), common),
        )
        for each in finished
    ]


def _objective(compared: ComparedStudy, records: Mapping[str, Sequence[TrialRecord]]) -> Objective:
    """Returns the objective of a study with the bounds of its search; `records` holds trials by study."""
    stated = objective_of(compared.study, compared.study.scale)
    return recorded_bounds(stated, records[compared.study.name])


def _verified(outcome: Outcome | None, objective: Objective, bounds: Bounds | None) -> float:
    """Returns the ratio to the baseline, or the hypervolume of a front; NaN without a feasible result."""
    if outcome is None:
        return math.nan
    if objective.seeks_front:
        # JSON has no NaN, so an outcome holds None instead.
        points: list[Row] = [
            {name: math.nan if value is None else value for name, value in point.figures.items()}
            for point in outcome.front
        ]
        return hypervolume(points, objective, bounds) if points and bounds else math.nan
    # A winner that breaks the constraints in fresh runs counts as no result, however fast it is.
    kept = outcome.best is not None and outcome.best.keeps_constraints
    return outcome.ratio.value if kept and outcome.ratio.value is not None else math.nan


def findings_of(runs: Sequence[ComparedRun]) -> dict[str, Any]:
    """Returns the findings of a comparison.

    Args:
        runs: runs of several tuners, paired by setting and seed.

    Returns:
        A JSON object. `tuners`, best average rank first, has by name: `average_rank`; `verified` (median and
        range over its runs); `near_best_share` (share of its runs that came within 95% of the best known);
        `near_best_s` (median and range of the seconds of measuring until then, None for never). `friedman`
        has `statistic`, `p` and `blocks`; it is None for fewer than three tuners or blocks. `pairs` has for
        each two tuners the `ratio` of the verified results with its 95% interval, `wins`, `ties` and
        `losses`. `runs` has each study's name, figures and time to near the best.
    """
    tuners = list(dict.fromkeys(run.tuner for run in runs))
    blocks = _blocks(runs, tuners)
    ranks = {tuner: [block[tuner] for block in map(_ranks, blocks)] for tuner in tuners}
    near = near_best_times(runs)
    summaries = {tuner: _summary(tuner, runs, ranks[tuner], near) for tuner in tuners}
    ordered = sorted(tuners, key=lambda tuner: summaries[tuner]["average_rank"] or math.inf)
    return {
        "tuners": {tuner: summaries[tuner] for tuner in ordered},
        "friedman": _friedman(blocks, tuners),
        "pairs": [_pair(one, other, blocks) for one, other in itertools.combinations(ordered, 2) if blocks],
        "runs": [
            {
                "study": run.study,
                "setting": run.setting,
                "tuner": run.tuner,
                "seed": run.seed,
                "verified": run.verified,
                "search_best": run.progress.final,
                "near_best_s": near[run.study],
                "search_s": run.progress.total_s,
            }
            for run in runs
        ],
    }


def near_best_times(runs: Sequence[ComparedRun]) -> dict[str, float]:
    """Returns by study the seconds of measuring until its search came within 95% of the best known.

    The best known of a setting is the best result of any of its searches. Infinity means never.
    """
    best = {
        setting: max(run.progress.final for run in runs if run.setting == setting)
        for setting in {run.setting for run in runs}
    }
    return {run.study: run.progress.time_to(NEAR_BEST * best[run.setting]) for run in runs}


def _blocks(runs: Sequence[ComparedRun], tuners: Sequence[str]) -> list[dict[str, float]]:
    """Returns the verified results by tuner, for each setting and seed that all tuners have finished."""
    grouped: dict[tuple[str, int], dict[str, float]] = {}
    for run in runs:
        grouped.setdefault((run.setting, run.seed), {})[run.tuner] = run.verified
    return [block for block in grouped.values() if len(block) == len(tuners)]


def _ranks(block: Mapping[str, float]) -> dict[str, float]:
    """Returns each tuner's rank in a block, 1 the best; ties share ranks, and no result ranks last."""
    from scipy.stats import rankdata  # imported here, because it takes a second

    # rankdata would spread NaN to all ranks.
    values = [-math.inf if math.isnan(value) else value for value in block.values()]
    return dict(zip(block, rankdata(-np.array(values)).tolist(), strict=True))


def _friedman(blocks: Sequence[Mapping[str, float]], tuners: Sequence[str]) -> dict[str, float] | None:
    """Returns Friedman's test on the blocks, or None if there are too few tuners or blocks."""
    if len(tuners) < _MIN_FOR_FRIEDMAN or len(blocks) < _MIN_FOR_FRIEDMAN:
        return None
    from scipy.stats import friedmanchisquare

    ranked = [_ranks(block) for block in blocks]
    columns = [[ranks[tuner] for ranks in ranked] for tuner in tuners]
    # SciPy divides by zero if all ranks are tied.
    if all(len(set(ranks.values())) == 1 for ranks in ranked):
        return {"statistic": 0.0, "p": 1.0, "blocks": len(blocks)}
    result = friedmanchisquare(*columns)
    return {"statistic": float(result.statistic), "p": float(result.pvalue), "blocks": len(blocks)}


def _summary(
    tuner: str, runs: Sequence[ComparedRun], ranks: Sequence[float], near: Mapping[str, float]
) -> dict[str, Any]:
    """Returns the entry of one tuner in `tuners` of `findings_of`."""
    own = [run for run in runs if run.tuner == tuner]
    times = [near[run.study] for run in own]
    return {
        "average_rank": float(np.mean(ranks)) if ranks else None,
        "verified": _spread([run.verified for run in own]),
        "near_best_share": sum(map(math.isfinite, times)) / len(times),
        "near_best_s": _spread(times),
        "runs": len(own),
    }


def _spread(values: Sequence[float]) -> dict[str, float | None]:
    """Returns the median, the lowest and the highest value; None for one that is infinite or unknown."""
    known = [value for value in values if not math.isnan(value)]
    if not known:
        return {"median": None, "low": None, "high": None}
    ordered = sorted(known)
    figures = {"median": _median(ordered), "low": ordered[0], "high": ordered[-1]}
    return {name: value if math.isfinite(value) else None for name, value in figures.items()}


def _median(ordered: Sequence[float]) -> float:
    """Returns the median of ascending values, which may include infinity."""
    lower, upper = ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]
    # np.median would compute infinity minus infinity, which is NaN.
    return lower if lower == upper else (lower + upper) / 2


def _pair(one: str, other: str, blocks: Sequence[Mapping[str, float]]) -> dict[str, Any]:
    """Returns the entry of two tuners in `pairs` of `findings_of`."""
    values = [(block[one], block[other]) for block in blocks]
    compared = [_compare(*pair) for pair in values]
    return {
        "tuner": one,
        "other": other,
        "ratio": ratio_interval([first for first, _ in values], [second for _, second in values]).to_json(),
        "wins": compared.count(1),
        "ties": compared.count(0),
        "losses": compared.count(-1),
    }


def _compare(one: float, other: float) -> int:
    """Returns 1 if the first result is better, -1 if the second is, 0 if they are equal within `TIE`.

    A NaN, which stands for no result, is worse than any number.
    """
    if math.isnan(one) or math.isnan(other):
        return int(math.isnan(other)) - int(math.isnan(one))
    if abs(one - other) <= TIE * max(abs(one), abs(other)):
        return 0
    return 1 if one > other else -1
