"""Dremel, table 3 and figure 12: the benefit of fused features."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from benchmarks.common.claims import Claim, Measured, Settings, exactly, main, mean_interval
from benchmarks.common.figures import Panel, bars, write_figure
from benchmarks.common.measuring import embedded_engine
from benchmarks.common.tables import write_csv
from benchmarks.dremel.searches import SEARCHES, over_searches
from benchmarks.dremel.shared import THROUGHPUT, Bench, Rows, bench_of, mean_figure, paired
from rocktune.engine import Engine
from rocktune.lsm import FEATURE_NAMES
from rocktune.trial import Configuration
from rocktune.tuners.dremel import DremelSettings
from rocktune.tuners.dremel.arms import make_arms
from rocktune.workload.dremel_settings import DremelSetting, dremel_settings

REGROUPINGS = 200
PAPER_TABLE_3 = {30: (34065, 1322.76, 7407.66), 60: (29319, 1148.48, 6058.23), 90: (17937, 877.81, 3137.99)}
"""By percentage of gets: mean operations per second, deviation within arms, deviation regardless of arms."""

RATIO = "ratio of standard deviations"
FOLLOWED = "Spearman's correlation with throughput less its arm's mean; the knob with the strongest one"

Reals = NDArray[np.float64]


def within_over_across(arms: Sequence[Reals], rng: np.random.Generator) -> tuple[Measured, float, float]:
    """Returns the spread of configurations within an arm over the spread regardless of arms.

    For the latter the paper took one sample of five. We shuffle all measured configurations into arms many
    times, so the result does not depend on one sample's luck.

    Args:
        arms: throughput of each arm's configurations, at least two known ones per arm; NaN is left out.
        rng: random numbers of the shuffles.

    Returns:
        The ratio of standard deviations with its 95% interval over the arms, the mean deviation within an
        arm, and the mean deviation regardless of arms.
    """
    known = [arm[~np.isnan(arm)] for arm in arms]
    known = [arm for arm in known if arm.size > 1]
    within = np.array([arm.std(ddof=1) for arm in known])
    everything = np.concatenate(known)
    cuts = np.cumsum([arm.size for arm in known])[:-1]
    across = float(
        np.mean(
            [
                group.std(ddof=1)
                for _ in range(REGROUPINGS)
                for group in np.split(rng.permutation(everything), cuts)
            ]
        )
    )
    return mean_interval((within / across).tolist()), float(within.mean()), across


def explained_by_arms(arms: Sequence[Reals]) -> float:
    """Returns the share of the variance of all configurations that lies between arms, from 0 to 1.

    Args:
        arms: throughput of each arm's configurations.
    """
    everything = np.concatenate(arms)
    within = sum(float(((arm - arm.mean()) ** 2).sum()) for arm in arms)
    return 1 - within / float(((everything - everything.mean()) ** 2).sum())


def leading_knob(chosen: Sequence[Sequence[Configuration]], arms: Sequence[Reals]) -> tuple[str, float]:
    """Returns the knob that throughput follows most within arms.

    Args:
        chosen: each arm's configurations, all with the same numeric knobs.
        arms: their throughput.

    Returns:
        The knob, and Spearman's correlation of it with the throughput less the mean of its arm.
    """
    residuals = np.concatenate([arm - arm.mean() for arm in arms])
    values = {name: [float(each[name]) for arm in chosen for each in arm] for name in chosen[0][0]}
    found = {
        name: float(stats.spearmanr(column, residuals).statistic)
        for name, column in values.items()
        if len(set(column)) > 1
    }
    knob = max(found, key=lambda name: abs(found[name]))
    return knob, found[knob]


def table_3(engine: Engine, settings: Settings, gets: int, per_arm: int) -> tuple[list[Claim], Rows]:
    """Runs some random configurations of each arm for 120 s."""
    name = f"dremel-n-skew0.3-{gets}get"
    rng = np.random.default_rng(settings.seed)
    with bench_of(engine, DremelSetting(name, name, "ssd-100mb"), settings) as bench:
        arms = make_arms(bench.problem, DremelSettings(sampling="random"), rng)
        arms = arms[:4] if settings.quick else arms
        chosen = [list(arm.untried)[:per_arm] for arm in arms]
        runs = bench.fresh([each for arm in chosen for each in arm], 1)
    rows: Rows = [
        {"setting": name, "arm": index, "throughput_ops_s": mean_figure(runs[each], THROUGHPUT), **dict(each)}
        for index, arm in enumerate(chosen)
        for each in arm
    ]
    figures = [np.array([mean_figure(runs[each], THROUGHPUT) for each in arm]) for arm in chosen]
    return _table_3_claims(bench, gets, chosen, figures, rng), rows


def _table_3_claims(
    bench: Bench,
    gets: int,
    chosen: Sequence[Sequence[Configuration]],
    figures: Sequence[Reals],
    rng: np.random.Generator,
) -> list[Claim]:
    """Returns the claims on configurations of arms and their throughput; failures are NaN."""
    paper_mean, paper_within, paper_across = PAPER_TABLE_3[gets]
    ratio, within, across = within_over_across(figures, rng)
    mean = float(np.nanmean(np.concatenate(figures)))
    pairs = [list(zip(arm, own, strict=True)) for arm, own in zip(chosen, figures, strict=True)]
    succeeded = [[pair for pair in arm if not np.isnan(pair[1])] for arm in pairs]
    # An arm whose runs all failed has no mean.
    succeeded = [arm for arm in succeeded if arm]
    sound = [[each for each, _ in arm] for arm in succeeded]
    known = [np.array([figure for _, figure in arm]) for arm in succeeded]
    knob, followed = leading_knob(sound, known)
    count = sum(map(len, sound))
    return [
        bench.reported(f"table_3_{label}", "Dremel, table 3", unit, measured, paper)
        for label, unit, measured, paper in (
            ("mean", "operations/s", exactly(mean, count), float(paper_mean)),
            ("deviation_within_arms", "operations/s", exactly(within, len(figures)), paper_within),
            ("deviation_across_arms", "operations/s", exactly(across, count), paper_across),
            ("within_over_across", RATIO, ratio, round(paper_within / paper_across, 3)),
            ("explained_by_arms", "share of the variance", exactly(explained_by_arms(known), count), None),
            (f"{knob}_within_arms", FOLLOWED, exactly(followed, count), None),
        )
    ]


def figure_12(bench: Bench, settings: Settings, pairs: int) -> tuple[list[Claim], Rows]:
    """Searches with all features, then without each in turn, with three rounds of UCB sampling each."""
    left_out = (None, *(FEATURE_NAMES[:1] if settings.quick else FEATURE_NAMES))
    found: dict[str | None, Configuration] = {}
    measured_s: dict[str | None, float] = {}
    for without in left_out:
        features = [name for name in FEATURE_NAMES if name != without]
        rounds = 0 if settings.quick else 3
        search = bench.search(tuner_settings={"features": features, "rounds": rounds})
        found[without], measured_s[without] = search.best, search.measured_s * settings.scale
    runs = bench.fresh([bench.guide, *found.values()], pairs)
    rows: Rows = [
        {
            "setting": bench.setting.name,
            "without": without or "nothing",
            "full_size_s": measured_s[without],
            "ratio_to_tuning_guide": paired(runs, THROUGHPUT, found[without], bench.guide).value,
        }
        for without in left_out
    ]
    return [
        bench.reported(
            f"figure_12_all_features_over_all_but_{without}",
            "Dremel, figure 12",
            "ratio of throughput",
            paired(runs, THROUGHPUT, found[None], found[without]),
            "above 1",
        )
        for without in left_out[1:]
    ], rows


def fusion(settings: Settings) -> list[Claim]:
    """Compares configurations within and across arms, and searches without each of the features."""
    gets = (30, 60, 90)[: 1 if settings.quick else None]
    pairs, per_arm = (
        (1, 2) if settings.quick else (int(settings.extra[name]) for name in ("pairs", "per_arm"))
    )
    claims: list[Claim] = []
    rows_3: Rows = []
    rows_12: Rows = []
    by_name = {setting.name: setting for setting in dremel_settings()}
    with embedded_engine() as engine:
        for share in gets:
            found, rows = table_3(engine, settings, share, per_arm)
            claims, rows_3 = claims + found, rows_3 + rows
        for share in gets:
            setting = by_name[f"dremel-n-skew0.9-{share}get-200mb"]
            with bench_of(engine, setting, settings) as bench:
                found, rows = figure_12(bench, settings, pairs)
            claims, rows_12 = claims + found, rows_12 + rows
    if settings.out is not None:
        write_csv(settings.out / "arms.csv", rows_3)
        write_csv(settings.out / "features.csv", rows_12)
    write_figure(settings, "Dremel, table 3 and figure 12", _panels(rows_3, rows_12))
    return claims


def _panels(rows_3: Rows, rows_12: Rows) -> list[Panel]:
    throughputs = [
        {
            "type": "box", "name": name, "boxpoints": "all",
            "x": [row["arm"] for row in rows_3 if row["setting"] == name],
            "y": [row["throughput_ops_s"] for row in rows_3 if row["setting"] == name],
        }
        for name in dict.fromkeys(row["setting"] for row in rows_3)
    ]  # fmt: skip
    ratios = [
        bars(
            f"without {without}",
            [row["setting"] for row in rows_12 if row["without"] == without],
            [row["ratio_to_tuning_guide"] for row in rows_12 if row["without"] == without],
        )
        for without in dict.fromkeys(row["without"] for row in rows_12)
    ]
    return [
        Panel("Table 3: configurations of each arm", "arm", "operations/s", throughputs),
        Panel("Figure 12: a feature left out", "", "throughput, tuning guide = 1", ratios),
    ]


if __name__ == "__main__":
    main(
        "dremel.fusion",
        over_searches(fusion),
        extra={"pairs": 6, "per_arm": 5, "searches": SEARCHES, "ledger": ""},
    )
