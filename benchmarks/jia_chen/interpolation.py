"""Compares how an interpolated sample and the whole table rank the algorithms.

Only a handful of configurations are within 95% of the best, on the table and on a model of it, and noise
decides which. So the model's noise is drawn several times, and only pairs of algorithms that differ on the
table itself are compared. The models' order of a pair whose intervals overlap says nothing, so the target is
that no pair which both tell apart is in reverse order.
"""

from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
from scipy import stats

from benchmarks.common.claims import Claim, Measured, Settings, decided, exactly, main, reported
from benchmarks.common.tables import write_csv
from benchmarks.jia_chen.emulation import ALGORITHMS, algorithm, emulated, share_interval, share_within
from benchmarks.jia_chen.shared import (
    DEFAULT_TABLE,
    Recorded,
    as_table,
    interpolated_often,
    made_up,
    one_run_each,
)
from benchmarks.jia_chen.tables import SAMPLES
from rocktune.table import Table, read_table

QUANTILE = 0.9
SOURCE = "models of a sample: the same order"
NAMES = (*ALGORITHMS, "random")


def interpolation(settings: Settings) -> list[Claim]:
    """Emulates on the exhaustive table and on models of a sample of it, and compares the orders."""
    table = as_table(made_up()) if settings.quick else read_table(Path(settings.extra["table"]))
    runs, draws = (4, 2) if settings.quick else (int(settings.extra["runs"]), int(settings.extra["draws"]))
    exact = one_run_each("exact", table)
    models = interpolated_often("sample", _sample(table, settings.seed), draws)
    on_table = _shares([exact], runs, settings)
    on_models = _shares(models, runs, settings)
    if settings.out is not None:
        rows = [
            {"tuner": name, "on": on, "share": each.value, "low": each.low, "high": each.high}
            for on, shares in (("table", on_table), ("models", on_models))
            for name, each in shares.items()
        ]
        write_csv(settings.out / "shares.csv", rows)
    return _claims(exact, models[0], on_table, on_models)


def _sample(table: Table, seed: int) -> Table:
    rng = np.random.default_rng(seed)
    swept = [row for row in table.rows if row.replicate == 0]
    control = [row for row in table.rows if row.replicate]
    chosen = rng.choice(len(swept), min(SAMPLES, len(swept)), replace=False)
    return replace(table, rows=(*(swept[place] for place in sorted(chosen)), *control))


def _shares(tables: list[Recorded], runs: int, settings: Settings) -> dict[str, Measured]:
    """Returns for each algorithm the share of the exhaustive time in which nine of ten searches succeed.

    Each table has equally many searches.
    """
    each_runs = max(1, runs // len(tables))
    found = {}
    for name in NAMES:
        steps = [
            search.steps_to_success
            for number, table in enumerate(tables)
            for search in emulated(
                table, algorithm(table, name), each_runs, settings.seed + number * each_runs
            )
        ]
        total = len(tables[0].rows)
        low, high = share_interval([[step] for step in steps], QUANTILE, total, settings.seed)
        found[name] = Measured(share_within(steps, QUANTILE, total), low, high, len(steps))
        settings.say(f"{tables[0].name}, {name}: {found[name].value:.3f} [{low:.3f}, {high:.3f}]")
    return found


def _claims(
    exact: Recorded, model: Recorded, on_table: dict[str, Measured], on_models: dict[str, Measured]
) -> list[Claim]:
    told_apart = [pair for pair in combinations(NAMES, 2) if _order(on_table, *pair)]
    swapped = [
        (one, other)
        for one, other in told_apart
        if (on_table[one].value < on_table[other].value) != (on_models[one].value < on_models[other].value)
    ]
    by_both = [pair for pair in told_apart if _order(on_models, *pair)]
    reverse = [pair for pair in by_both if _order(on_table, *pair) != _order(on_models, *pair)]
    values, modelled = ([shares[name].value for name in NAMES] for shares in (on_table, on_models))
    correlation = float(stats.spearmanr(np.array(values), np.array(modelled)).statistic)
    same = reported(
        "pairs_of_algorithms_in_the_same_order",
        SOURCE,
        "share of the pairs that the table tells apart (95% intervals)",
        exactly(1 - len(swapped) / max(1, len(told_apart)), len(told_apart)),
        engine=f"{exact.conditions.engine}; {model.name}",
        device=exact.conditions.device.name,
    )
    contradicted = replace(
        same,
        name="pairs_of_algorithms_in_reverse_order",
        unit="pairs that the table and the models tell apart (95% intervals), in opposite orders",
        measured=exactly(len(reverse), len(by_both)),
    )
    ranks = replace(
        same,
        name="rank_correlation_of_algorithms",
        unit="Spearman's correlation of the algorithms' shares of the exhaustive time",
        measured=exactly(correlation, len(NAMES)),
    )
    return [
        decided(contradicted, high=0, why=_named(reverse)),
        replace(same, why=_named(swapped)),
        ranks,
        *_reported(exact, model, on_table, on_models),
    ]


def _named(pairs: list[tuple[str, str]]) -> str:
    return "; ".join(f"{one} and {other}" for one, other in pairs)


def _order(shares: dict[str, Measured], one: str, other: str) -> int:
    """Returns -1 if an algorithm takes less time than another one, 1 if more, 0 if intervals overlap."""
    return (shares[one].low > shares[other].high) - (shares[one].high < shares[other].low)


def _reported(
    exact: Recorded, model: Recorded, on_table: dict[str, Measured], on_models: dict[str, Measured]
) -> list[Claim]:
    return [
        reported(
            f"share_of_exhaustive_time_{name}_{on}",
            SOURCE,
            f"share within which {QUANTILE:.0%} of runs succeed",
            share,
            engine=f"{exact.conditions.engine}; {table.name}",
            device=exact.conditions.device.name,
        )
        for on, table, shares in (("table", exact, on_table), ("models", model, on_models))
        for name, share in shares.items()
    ]


if __name__ == "__main__":
    main(
        "jia_chen.interpolation",
        interpolation,
        extra={"table": DEFAULT_TABLE, "runs": 240, "draws": 8},
    )
