"""Whether an interpolated sample orders the algorithms as the whole table does."""

from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy import stats

from benchmarks.claims import Claim, Settings, exactly, main, reported, write_csv
from benchmarks.jia_chen_shared import (
    ALGORITHMS,
    DEFAULT_TABLE,
    Recorded,
    algorithm,
    as_table,
    emulated,
    interpolated,
    made_up,
    one_run_each,
    share_within,
)
from benchmarks.jia_chen_tables import SAMPLES
from rocktune.table import Table, read_table

QUANTILE = 0.9


def jia_chen_interpolation(settings: Settings) -> list[Claim]:
    """Emulates on the exhaustive table and on a model of a sample of it, and compares the orders."""
    table = as_table(made_up()) if settings.quick else read_table(Path(settings.extra["table"]))
    exact, model = one_run_each("exact", table), interpolated("sample", _sample(table, settings.seed))
    runs = 3 if settings.quick else int(settings.extra["runs"])
    shares = {each.name: _shares(each, runs, settings) for each in (exact, model)}
    return _claims(exact, model, shares, settings)


def _sample(table: Table, seed: int) -> Table:
    rng = np.random.default_rng(seed)
    swept = [row for row in table.rows if row.replicate == 0]
    control = [row for row in table.rows if row.replicate]
    chosen = rng.choice(len(swept), min(SAMPLES, len(swept)), replace=False)
    return replace(table, rows=(*(swept[place] for place in sorted(chosen)), *control))


def _shares(table: Recorded, runs: int, settings: Settings) -> dict[str, float]:
    found = {}
    for name in (*ALGORITHMS, "random"):
        steps = [
            each.steps_to_success for each in emulated(table, algorithm(table, name), runs, settings.seed)
        ]
        found[name] = share_within(steps, QUANTILE, len(table.rows))
        settings.say(f"{table.name}, {name}: {found[name]:.3f}")
    return found


def _claims(
    exact: Recorded, model: Recorded, shares: dict[str, dict[str, float]], settings: Settings
) -> list[Claim]:
    names = list(shares[exact.name])
    values = [[shares[each.name][name] for name in names] for each in (exact, model)]
    if settings.out is not None:
        rows = [
            {"tuner": name, "exact": first, "interpolated": second}
            for name, first, second in zip(names, *values, strict=True)
        ]
        write_csv(settings.out / "shares.csv", rows)
    correlation = float(stats.spearmanr(np.array(values[0]), np.array(values[1])).statistic)
    claim = reported(
        "rank_correlation_of_algorithms",
        "issue 4, must hold: the same order",
        "Spearman's correlation of the algorithms' shares of the exhaustive time",
        exactly(correlation, len(names)),
        engine=f"{exact.conditions.engine}; {model.name}",
        device=exact.conditions.device.name,
    )
    claim.target, claim.holds = "1", correlation > 1 - 1e-9
    return [claim]


if __name__ == "__main__":
    main(
        "jia_chen_interpolation",
        jia_chen_interpolation,
        extra={"table": DEFAULT_TABLE, "runs": 300},
    )
