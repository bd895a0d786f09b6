"""Tuners in space `full` compared offline: searches on models of recorded tables.

Each search has the same budget of measuring. A model of the table (docs/design/tables.md) answers for all
configurations; its held-out rank correlation is reported. A search is judged by the best figure that keeps
the default constraints, as a share of the best of all searches of that table.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from benchmarks.common.claims import (
    ROOT,
    Claim,
    Measured,
    Settings,
    decided,
    exactly,
    main,
    mean_interval,
    reported,
    spearman_interval,
)
from benchmarks.common.emulated import Emulated, held_out
from benchmarks.common.searching import Row, kept_figure, measured_search, tuner_of
from benchmarks.common.tables import read_rows, typed, write_csv
from rocktune.errors import UserError
from rocktune.study.proving import bounds
from rocktune.table import read_table
from rocktune.trial import Trial

SOURCE = "tuners on tables of space full"
TABLES = ROOT / "docs" / "evidence" / "rocktune" / "tables"
FIGURE = "sustained_throughput_ops_s"
CONSTRAINTS = (
    "mean_space_amplification<=2",
    "max_space_amplification<=2",
    "full_size_memory_bytes<={memory}",
)
"""The default constraints of the steady protocol."""
TUNERS = "auto,hand,random,dremel,tpe,ga"
CHECKPOINTS = (6, 12, 20, 30, 40, 50, 60)
"""Runs after which a search's best figure is kept."""
NEAR = 0.95


def offline(settings: Settings) -> list[Claim]:
    """Searches each table with each tuner and `--searches` seeds, `--runs` runs each, and ranks the tuners.

    `--tables` names a directory of tables (CSV). With `--out` an interrupted comparison goes on after the
    last search that is recorded there.
    """
    paths = sorted(Path(str(settings.extra["tables"])).glob("*.csv"))
    if not paths:
        raise UserError(f"tables: {settings.extra['tables']} holds no table (CSV)")
    tuners = ["auto", "hand", "random"] if settings.quick else str(settings.extra["tuners"]).split(",")
    searches, runs = (
        (1, 12) if settings.quick else (int(settings.extra[name]) for name in ("searches", "runs"))
    )
    rows = _kept(settings)
    claims: list[Claim] = []
    for path in paths[:1] if settings.quick else paths:
        table = Emulated(path, runs, objective=FIGURE, constraints=_constraints(path))
        if not settings.quick:
            claims.append(_rank_correlation(path, table))
        for seed in range(settings.seed, settings.seed + searches):
            for tuner in tuners:
                key = {"table": path.stem, "tuner": tuner, "seed": seed}
                if not any(all(row[name] == value for name, value in key.items()) for row in rows):
                    rows.append({**key, **_search(table, tuner, seed)})
            _keep(settings, rows)
            settings.say(f"{path.stem}: {seed - settings.seed + 1} of {searches} seeds")
    return claims + list(_claims(rows, tuners))


def _rank_correlation(path: Path, table: Emulated) -> Claim:
    """Returns how well a model of the table ranks rows that it has not seen."""
    return reported(
        f"rank_correlation_{path.stem}",
        SOURCE,
        "Spearman's, rows that the model has not seen",
        spearman_interval(*held_out(path, FIGURE)),
        engine=table.engine.version,
        device=table.spec.device.name,
    )


def _constraints(path: Path) -> list[str]:
    memory_bytes = read_table(path).conditions.memory_bytes
    return [each.format(memory=memory_bytes) for each in CONSTRAINTS]


def _search(table: Emulated, tuner: str, seed: int) -> Row:
    """Returns the best figure of a search after each number of runs; NaN if none keeps the constraints."""
    spec, problem = table.study(tuner=tuner, seed=seed)
    baseline = table.measured(Trial(problem.baseline, 1.0))
    problem = replace(problem, objective=bounds.searched(problem.objective, baseline))
    one_s = problem.age_s(problem.trial_age_s)
    best = dict.fromkeys(CHECKPOINTS, math.nan)
    for result, spent_s in measured_search(problem, *tuner_of(spec), table.measure):
        for count in CHECKPOINTS:
            # A sum of ages differs from its multiple by rounding.
            if spent_s < (count + 0.01) * one_s:
                best[count] = float(np.fmax(best[count], kept_figure(problem, result)))
    return {_best(count): figure for count, figure in best.items()}


def _best(count: int) -> str:
    return f"best_{count}"


def _kept(settings: Settings) -> list[Row]:
    """Returns the searches that are recorded already."""
    path = None if settings.out is None else settings.out / "searches.csv"
    figures = dict.fromkeys(map(_best, CHECKPOINTS), float)
    return read_rows(path, typed(table=str, tuner=str, seed=int, **figures))


def _keep(settings: Settings, rows: Sequence[Row]) -> None:
    if settings.out is not None:
        write_csv(settings.out / "searches.csv", rows)


def _claims(rows: Sequence[Row], tuners: Sequence[str]) -> Iterator[Claim]:
    """Yields the claims on all tables together."""
    last = _best(CHECKPOINTS[-1])
    known = {
        table: max(row[last] for row in rows if row["table"] == table and not math.isnan(row[last]))
        for table in {row["table"] for row in rows}
    }
    shares: dict[str, list[float]] = defaultdict(list)
    runs: dict[str, list[float]] = defaultdict(list)
    blocks: dict[tuple[str, int], dict[str, float]] = defaultdict(dict)
    for row in rows:
        best = known[row["table"]]
        share = float(np.nan_to_num(row[last] / best))
        near = (count for count in CHECKPOINTS if row[_best(count)] >= NEAR * best)
        shares[row["tuner"]].append(share)
        runs[row["tuner"]].append(next(near, math.inf))
        blocks[row["table"], row["seed"]][row["tuner"]] = share
    shared: Mapping[str, Any] = {"engine": "models of recorded tables", "device": "ssd-100mb"}
    ranks = _ranks(list(blocks.values()), tuners)
    for tuner in tuners:
        yield reported(f"rank_{tuner}", SOURCE, "mean rank", mean_interval(ranks[tuner]), **shared)
        yield reported(
            f"share_{tuner}", SOURCE, "of the best known, quartiles", _quartiles(shares[tuner]), **shared
        )
        near_share = float(np.isfinite(runs[tuner]).mean())
        yield reported(
            f"near_{tuner}",
            SOURCE,
            f"of searches within {NEAR:.0%}",
            exactly(near_share, len(runs[tuner])),
            **shared,
        )
    if "auto" in tuners and len(tuners) > 2:
        yield from _decisions(ranks, tuners, shared)


def _ranks(blocks: Sequence[Mapping[str, float]], tuners: Sequence[str]) -> dict[str, list[float]]:
    """Returns the ranks of each tuner over blocks of table and seed; 1 is the best, ties share theirs."""
    ranked = [stats.rankdata([-block[tuner] for tuner in tuners]) for block in blocks]
    return {tuner: [float(each[index]) for each in ranked] for index, tuner in enumerate(tuners)}


def _decisions(
    ranks: Mapping[str, Sequence[float]], tuners: Sequence[str], shared: Mapping[str, Any]
) -> Iterator[Claim]:
    """Yields Friedman's test, and the difference in rank from auto to each rival."""
    friedman = stats.friedmanchisquare(*(ranks[tuner] for tuner in tuners))
    p_value = exactly(float(friedman.pvalue), len(ranks["auto"]))
    yield reported("friedman_p", SOURCE, "probability that all tuners are equal", p_value, **shared)
    rivals = [tuner for tuner in tuners if tuner != "auto"]
    for rival in rivals:
        gaps = [own - other for own, other in zip(ranks["auto"], ranks[rival], strict=True)]
        # Bonferroni's inequality over the rivals, so that all intervals hold together.
        gap = _bootstrapped_mean(gaps, 0.05 / len(rivals))
        claim = reported(f"auto_rank_less_{rival}", SOURCE, "difference in mean rank", gap, **shared)
        yield decided(claim, high=0.0)


def _bootstrapped_mean(values: Sequence[float], error: float) -> Measured:
    """Returns a mean with its percentile interval by the bootstrap; `error` is its probability of a miss."""
    array = np.asarray(values)
    drawn = array[np.random.default_rng(1).integers(len(array), size=(4000, len(array)))].mean(axis=1)
    low, high = (float(each) for each in np.quantile(drawn, (error / 2, 1 - error / 2)))
    return Measured(float(array.mean()), low, high, len(array))


def _quartiles(values: Sequence[float]) -> Measured:
    low, middle, high = (float(each) for each in np.quantile(values, (0.25, 0.5, 0.75)))
    return Measured(middle, low, high, len(values))


if __name__ == "__main__":
    main(
        "rocktune.offline",
        offline,
        scale=256,
        quick_scale=256,
        extra={"tables": str(TABLES), "tuners": TUNERS, "searches": 50, "runs": CHECKPOINTS[-1]},
    )
