"""Dremel, figures 1 and 4: why tuning is hard, and why short runs are enough."""

from typing import Any

import numpy as np
from scipy import stats

from benchmarks.common.claims import Claim, Settings, exactly, main, median_spread, reported
from benchmarks.common.curves import (
    Curve,
    extrapolated,
    kept_at_top,
    largest_first,
    pareto_front,
    price_of_one_for_all,
)
from benchmarks.common.figures import Panel, bars, lines, write_figure
from benchmarks.common.measuring import embedded_engine
from benchmarks.common.tables import write_csv
from benchmarks.dremel.shared import THROUGHPUT, Bench, Rows, bench_of, mean_figure
from rocktune.engine import Engine
from rocktune.errors import UserError
from rocktune.lsm import FEATURE_NAMES
from rocktune.measurement import READ_KINDS, WRITE_KINDS, Measurement
from rocktune.trial import Configuration
from rocktune.tuners import Problem
from rocktune.workload.dremel_settings import DremelSetting

SHORT_S, LONG_S = 100.0, 600.0
MOTIVATING = DremelSetting("dremel-n-skew0.3-30get", "dremel-n-skew0.3-30get", "ssd-100mb")
FOUR_SETTINGS = tuple(
    DremelSetting(f"{workload}-{device}", workload, device)
    for workload in ("dremel-n-skew0.3-30get", "dremel-n-skew0.3-90get")
    for device in ("ssd-100mb", "ssd-200mb")
)
# What rules 5 and 8 tie to level0_file_num_compaction_trigger.
_LEVEL0 = (
    "level0_file_num_compaction_trigger",
    "level0_slowdown_writes_trigger",
    "level0_stop_writes_trigger",
    "max_bytes_for_level_base",
)
KNOBS_OF_FEATURE = {
    "compaction_frequency": (
        "max_background_compactions",
        "max_bytes_for_level_multiplier",
        "target_file_size_base",
        "target_file_size_multiplier",
    ),
    "write_buffer_full_frequency": (
        *_LEVEL0,
        "min_write_buffer_number_to_merge",
        "write_buffer_size",
        "max_write_buffer_number",
        "max_background_flushes",
    ),
    "read_sstable_cost": (*_LEVEL0, "block_size"),
    "block_cache_hit_rate": ("max_write_buffer_number", "write_buffer_size"),
}
"""The knobs in each fused feature's equation (5, 7, 8, 9 without #Level)."""


def rate_while(measurement: Measurement, kinds: tuple[str, ...], threads: int) -> float:
    """Returns the rate at which all threads would do only some kinds of operations.

    It follows from their latency in this run. In a closed loop the mix ties the rates of reads and writes
    together, so their plain throughputs would lie on one line.
    """
    done = [found for kind, found in measurement.raw["operations"].items() if kind in kinds]
    spent_ns = sum(found["latency_sum_ns"] for found in done)
    return 1e9 * threads * sum(found["count"] for found in done) / spent_ns if spent_ns else float("nan")


def cloud(bench: Bench, settings: Settings, count: int) -> tuple[Rows, list[Configuration], list[Curve]]:
    """Runs the tuning guide's and random configurations for 600 s; those that fail are left out.

    Returns:
        Rows, configurations and curves of equal length, the tuning guide's first.
    """
    space, scale = bench.problem.space, settings.scale
    drawn = space.sample(count, np.random.default_rng(settings.seed))
    rows: Rows = []
    configurations, curves = [], []
    for configuration, (result,) in bench.fresh([bench.guide, *drawn], 1, LONG_S).items():
        measurement = result.measurement
        if measurement is None:
            if configuration == bench.guide:
                raise UserError(f"the tuning guide's configuration failed: {result.message}")
            settings.say(f"left out, {result.status}: {result.message}")
            continue
        curve = Curve.of(measurement.raw["series"], measurement.until_s)
        threads = bench.workload.threads
        rows.append(
            {
                "throughput_ops_s": measurement.figures[THROUGHPUT],
                "reads_s": rate_while(measurement, READ_KINDS, threads),
                "writes_s": rate_while(measurement, WRITE_KINDS, threads),
                "ops_s_until_100s": float(curve.mean_until(SHORT_S / scale)),
                "ops_s_until_600s": float(curve.mean_until(LONG_S / scale)),
                "ops_s_until_600s_predicted": extrapolated(curve, SHORT_S / scale, LONG_S / scale),
                **configuration,
            }
        )
        configurations.append(configuration)
        curves.append(curve)
    return rows, configurations, curves


def column(rows: Rows, name: str) -> list[float]:
    """Returns one field of all rows."""
    return [float(row[name]) for row in rows]


def figure_1a(bench: Bench, rows: Rows) -> tuple[list[Claim], list[Panel]]:
    """Compares read and write performance of random configurations."""
    points = np.column_stack([column(rows, "reads_s"), column(rows, "writes_s")])
    front = pareto_front(points)
    for row, on_front in zip(rows, front, strict=True):
        row["on_pareto_front"] = bool(on_front)
    claim = bench.reported(
        "figure_1a_share_of_configurations_on_the_pareto_front",
        "Dremel, figure 1(a)",
        "share",
        exactly(float(front.mean()), len(rows)),
        "many of about 500 configurations are not on it",
    )
    traces = [
        lines(name, points[chosen, 0], points[chosen, 1], "markers")
        for name, chosen in (("dominated", ~front), ("Pareto front", front))
    ]
    return [claim], [
        Panel("1(a) random configurations", "reads/s while reading", "writes/s while writing", traces)
    ]


def four_configurations(rows: Rows, configurations: list[Configuration]) -> list[Configuration]:
    """Returns the tuning guide's configuration and the cloud's best for reads, for writes and for both."""
    ranked = [largest_first(column(rows, name)) for name in ("reads_s", "writes_s", THROUGHPUT)]
    chosen = [configurations[0], *(configurations[order[0]] for order in ranked)]
    return list(dict.fromkeys([*chosen, *(configurations[index] for index in ranked[2])]))[:4]


def figure_1b(
    engine: Engine, settings: Settings, candidates: list[Configuration], repeats: int
) -> tuple[list[Claim], list[Panel], Rows]:
    """Measures four configurations under four settings."""
    table, claims, traces = [], [], []
    rows: Rows = []
    for setting in FOUR_SETTINGS:
        with bench_of(engine, setting, settings, part="figure-1b") as bench:
            runs = bench.fresh(candidates, repeats)
        figures = [mean_figure(runs[candidate], THROUGHPUT) for candidate in candidates]
        table.append(figures)
        rows += [
            {"setting": setting.name, "configuration": index, "throughput_ops_s": figure}
            for index, figure in enumerate(figures)
        ]
        best = max(figures)
        names = [f"configuration {index + 1}" for index in range(len(figures))]
        traces.append(bars(setting.name, names, [figure / best for figure in figures]))
    known = np.nan_to_num(np.array(table))
    distinct = len(set(known.argmax(axis=1).tolist()))
    best_counts = exactly(float(distinct), repeats)
    for name, unit, measured, paper in (
        ("distinct_best_configurations", "of 4 settings", best_counts, "more than one: none is always best"),
        ("one_for_all_in_its_worst_setting", "share of the best", exactly(price_of_one_for_all(known)), None),
    ):
        claims.append(
            reported(
                f"figure_1b_{name}",
                "Dremel, figure 1(b)",
                unit,
                measured,
                paper,
                engine=engine.version,
                device="ssd-100mb and ssd-200mb",
            )
        )
    return claims, [Panel("1(b) four configurations", "", "share of the setting's best", traces)], rows


def figure_4abc(bench: Bench, settings: Settings, rows: Rows, guide: Curve) -> list[Claim]:
    """Shows periodic drops of throughput, ranks at 100 s and 600 s, and learning curves."""
    later = guide.throughput_after(SHORT_S / settings.scale)
    drops = float((later < later.mean() / 2).mean())
    short, long, predicted = (
        np.array(column(rows, name))
        for name in ("ops_s_until_100s", "ops_s_until_600s", "ops_s_until_600s_predicted")
    )
    fit, hold = np.abs(predicted / long - 1), np.abs(short / long - 1)
    count = len(rows)
    table: list[tuple[str, str, str, Any, float | str | None]] = [
        ("a_time_below_half_of_the_mean", "a", "share of intervals after 100 s", exactly(drops, later.size),
         "periodic drops almost to 0"),
        ("a_mean_at_600s_over_mean_at_100s", "a", "ratio of throughput", exactly(long[0] / short[0]),
         "converges"),
        ("b_best_3_kept", "b", "of 3", exactly(kept_at_top(list(short), list(long), 3), count), 3.0),
        ("b_best_10_kept", "b", "of 10", exactly(kept_at_top(list(short), list(long), 10), count), 9.0),
        ("b_spearman", "b", "correlation", exactly(_spearman(short, long), count), None),
        ("c_error_of_power_law", "c", "share of throughput, median [min, max]", median_spread(fit.tolist()),
         "fits very well (another model)"),
        ("c_error_of_taking_100s_as_it_is", "c", "share of throughput, median [min, max]",
         median_spread(hold.tolist()), None),
    ]  # fmt: skip
    return [
        bench.reported(f"figure_4{name}", f"Dremel, figure 4({part})", unit, measured, paper)
        for name, part, unit, measured, paper in table
    ]


def panels_4abc(settings: Settings, rows: Rows, curves: list[Curve]) -> list[Panel]:
    """Returns the panels of figures 4a to 4c."""
    guide, long_s = curves[0], LONG_S / settings.scale
    ages = np.linspace(long_s / 100, long_s, 100)
    intervals_s = guide.throughput_after(0.0)
    full_size_s = (ages * settings.scale).tolist()
    long, predicted = column(rows, "ops_s_until_600s"), column(rows, "ops_s_until_600s_predicted")
    return [
        Panel("4(a) the tuning guide's", "s at full size", "operations/s", [
            lines("per interval", (guide.ages_s[: intervals_s.size] * settings.scale).tolist(),
                  intervals_s.tolist()),
            lines("mean since the start", full_size_s, guide.mean_until(ages).tolist()),
        ]),
        Panel("4(b) mean since the start", "s at full size", "operations/s", [
            lines(f"configuration {index}", full_size_s, curve.mean_until(ages).tolist(), showlegend=False)
            for index, curve in enumerate(curves)
        ]),
        Panel("4(c) extrapolated from 100 s", "operations/s until 600 s", "predicted",
              [lines("configurations", long, predicted, "markers")]),
    ]  # fmt: skip


def _spearman(first: Any, second: Any) -> float:
    correlation = float(stats.spearmanr(first, second).statistic)
    return 0.0 if np.isnan(correlation) else correlation


def variations(
    problem: Problem, names: tuple[str, ...], count: int, rng: np.random.Generator
) -> list[Configuration]:
    """Returns valid configurations that differ from the tuning guide's only in some knobs."""
    found: dict[Configuration, None] = {}
    while len(found) < count:
        for drawn in problem.space.sample(100 * count, rng):
            varied = problem.baseline.replaced({name: drawn[name] for name in names})
            if varied != problem.baseline and not problem.space.broken_rules(varied):
                found[varied] = None
    return list(found)[:count]


def figure_4d(bench: Bench, settings: Settings, count: int) -> tuple[list[Claim], list[Panel], Rows]:
    """Measures good, fair and poor configurations that differ only in the knobs of one feature."""
    rng = np.random.default_rng(settings.seed)
    varied = {
        feature: variations(bench.problem, KNOBS_OF_FEATURE[feature], count, rng) for feature in FEATURE_NAMES
    }
    runs = bench.fresh([each for feature in FEATURE_NAMES for each in varied[feature]], 1, SHORT_S)
    rows: Rows = []
    claims = []
    for feature in FEATURE_NAMES:
        figures = [mean_figure(runs[each], THROUGHPUT) for each in varied[feature]]
        known = [figure for figure in figures if not np.isnan(figure)]
        good, fair, poor = max(known), float(np.median(known)), min(known)
        rows.append({"feature": feature, "good_ops_s": good, "fair_ops_s": fair, "poor_ops_s": poor})
        measured = exactly(good / poor, len(known))
        name = f"figure_4d_good_over_poor_{feature}"
        claims.append(
            bench.reported(name, "Dremel, figure 4(d)", "ratio of throughput", measured, "significant")
        )
    traces = [
        bars(grade, list(FEATURE_NAMES), column(rows, f"{grade}_ops_s")) for grade in ("good", "fair", "poor")
    ]
    return claims, [Panel("4(d) one feature's knobs varied", "", "operations/s", traces)], rows


def motivation(settings: Settings) -> list[Claim]:
    """Runs random configurations for 600 s / S, four of them under four settings, and some by feature."""
    quick = settings.quick
    count = 4 if quick else int(settings.extra["configurations"])
    with embedded_engine() as engine, bench_of(engine, MOTIVATING, settings) as bench:
        rows, configurations, curves = cloud(bench, settings, count)
        claims, panels = figure_1a(bench, rows)
        candidates = four_configurations(rows, configurations)
        repeats = 1 if quick else int(settings.extra["repeats"])
        claims_1b, panels_1b, rows_1b = figure_1b(engine, settings, candidates, repeats)
        claims_4 = figure_4abc(bench, settings, rows, curves[0])
        per_feature = 2 if quick else int(settings.extra["per_feature"])
        claims_4d, panels_4d, rows_4d = figure_4d(bench, settings, per_feature)
    if settings.out is not None:
        write_csv(settings.out / "configurations.csv", rows)
        write_csv(settings.out / "four_settings.csv", rows_1b)
        write_csv(settings.out / "features.csv", rows_4d)
    write_figure(
        settings,
        "Dremel, figures 1 and 4",
        [*panels, *panels_1b, *panels_4abc(settings, rows, curves), *panels_4d],
    )
    return [*claims, *claims_1b, *claims_4, *claims_4d]


if __name__ == "__main__":
    main(
        "dremel.motivation",
        motivation,
        scale=16,
        extra={"configurations": 40, "repeats": 3, "per_feature": 8, "ledger": ""},
    )
