"""Compares how models of a sample and of the whole table rank the algorithms.

As in `tuning_time`, searches see noisy runs on tables that might be true, and success is judged without the
noise. The order of a pair of algorithms whose intervals overlap says nothing, so the target is that no pair
which both tell apart is in reverse order.
"""

from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
from scipy import stats

from benchmarks.common.claims import Claim, Measured, Settings, decided, exactly, main, reported
from benchmarks.common.tables import write_csv
from benchmarks.jia_chen.emulation import ALGORITHMS, share_interval, share_within
from benchmarks.jia_chen.noise import NoiseModel
from benchmarks.jia_chen.noisy import emulated_with_noise
from benchmarks.jia_chen.shared import (
    DEFAULT_TABLE,
    Recorded,
    as_table,
    made_up,
    one_run_each,
)
from benchmarks.jia_chen.tables import SAMPLES
from rocktune.table import Table, read_table

QUANTILE = 0.9
SOURCE = "models of a sample: the same order"
NAMES = (*ALGORITHMS, "random")


def interpolation(settings: Settings) -> list[Claim]:
    """Emulates `--searches` searches on `--tables` tables, drawn from models of the whole and of a sample."""
    table = as_table(made_up()) if settings.quick else read_table(Path(settings.extra["table"]))
    exact = one_run_each("exact", table)
    sample = one_run_each("sample", _sample(table, settings.seed))
    on_table, on_sample = (_shares(each, settings) for each in (exact, sample))
    if settings.out is not None:
        rows = [
            {"tuner": name, "on": on, "share": each.value, "low": each.low, "high": each.high}
            for on, shares in (("table", on_table), ("sample", on_sample))
            for name, each in shares.items()
        ]
        write_csv(settings.out / "shares.csv", rows)
    return _claims(exact, sample, on_table, on_sample)


def _sample(table: Table, seed: int) -> Table:
    rng = np.random.default_rng(seed)
    swept = [row for row in table.rows if row.replicate == 0]
    control = [row for row in table.rows if row.replicate]
    chosen = rng.choice(len(swept), min(SAMPLES, len(swept)), replace=False)
    return replace(table, rows=(*(swept[place] for place in sorted(chosen)), *control))


def _shares(of: Recorded, settings: Settings) -> dict[str, Measured]:
    """Returns for each algorithm the share of the exhaustive time in which nine of ten searches succeed."""
    model = NoiseModel(of)
    tables, searches = (int(settings.extra[flag]) for flag in ("tables", "searches"))
    if settings.quick:
        tables, searches = 2, 2
    made = emulated_with_noise(model, NAMES, tables, searches, settings.seed)
    found, total = {}, len(model.grid)
    for name, of_name in made.items():
        groups = [[each.search.steps_to_success for each in group] for group in of_name]
        steps = [step for group in groups for step in group]
        low, high = share_interval(groups, QUANTILE, total, settings.seed)
        found[name] = Measured(share_within(steps, QUANTILE, total), low, high, len(steps))
        settings.say(f"{of.name}, {name}: {found[name].value:.3f} [{low:.3f}, {high:.3f}]")
    return found


def _claims(
    exact: Recorded, sample: Recorded, on_table: dict[str, Measured], on_sample: dict[str, Measured]
) -> list[Claim]:
    told_apart = [pair for pair in combinations(NAMES, 2) if _order(on_table, *pair)]
    swapped = [
        (one, other)
        for one, other in told_apart
        if (on_table[one].value < on_table[other].value) != (on_sample[one].value < on_sample[other].value)
    ]
    by_both = [pair for pair in told_apart if _order(on_sample, *pair)]
    reverse = [pair for pair in by_both if _order(on_table, *pair) != _order(on_sample, *pair)]
    values, modelled = ([shares[name].value for name in NAMES] for shares in (on_table, on_sample))
    correlation = float(stats.spearmanr(np.array(values), np.array(modelled)).statistic)
    same = reported(
        "pairs_of_algorithms_in_the_same_order",
        SOURCE,
        "share of the pairs that the table tells apart (95% intervals)",
        exactly(1 - len(swapped) / max(1, len(told_apart)), len(told_apart)),
        engine=f"{exact.conditions.engine}; {sample.name}",
        device=exact.conditions.device.name,
    )
    contradicted = replace(
        same,
        name="pairs_of_algorithms_in_reverse_order",
        unit="pairs that the table and the sample tell apart (95% intervals), in opposite orders",
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
        *_reported(exact, sample, on_table, on_sample),
    ]


def _named(pairs: list[tuple[str, str]]) -> str:
    return "; ".join(f"{one} and {other}" for one, other in pairs)


def _order(shares: dict[str, Measured], one: str, other: str) -> int:
    """Returns -1 if an algorithm takes less time than another one, 1 if more, 0 if intervals overlap."""
    return (shares[one].low > shares[other].high) - (shares[one].high < shares[other].low)


def _reported(
    exact: Recorded, sample: Recorded, on_table: dict[str, Measured], on_sample: dict[str, Measured]
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
        for on, table, shares in (("table", exact, on_table), ("sample", sample, on_sample))
        for name, share in shares.items()
    ]


if __name__ == "__main__":
    main(
        "jia_chen.interpolation",
        interpolation,
        extra={"table": DEFAULT_TABLE, "tables": 20, "searches": 5},
    )
