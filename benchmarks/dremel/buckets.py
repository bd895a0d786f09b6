"""Dremel, figures 13 and 14: two, three or four quantile buckets of each feature."""

from benchmarks.common.claims import Claim, Settings, exactly, main
from benchmarks.common.figures import Panel, bars, write_figure
from benchmarks.common.measuring import embedded_engine
from benchmarks.common.tables import write_csv
from benchmarks.dremel.searches import SEARCHES, over_searches
from benchmarks.dremel.shared import THROUGHPUT, Bench, Rows, bench_of, chosen_settings, paired
from rocktune.lsm import FEATURE_NAMES
from rocktune.trial import Configuration
from rocktune.tuners.dremel import DremelSettings
from rocktune.tuners.halving import halving_cost_s

ROUNDS = 3
FIGURE_13 = ",".join(f"dremel-n-skew0.9-{gets}get-200mb" for gets in (30, 60, 90))
PAPER_TIME = {3: 5.0, 4: 16.0}
SOURCE = "Dremel, figures 13 and 14"


def budget_s(buckets: int, features: int, rounds: int) -> float:
    """Returns the seconds of measuring at full size in which every arm and all rounds have their turn."""
    settings = DremelSettings()
    assert settings.time_points_s != "auto"
    return halving_cost_s(buckets**features + rounds * settings.top_arms, settings.time_points_s)


def buckets_compared(
    bench: Bench, settings: Settings, numbers: list[int], pairs: int
) -> tuple[list[Claim], Rows]:
    """Searches with each number of buckets, and measures the results in fresh runs."""
    features, rounds = (FEATURE_NAMES[:2], 0) if settings.quick else (FEATURE_NAMES, ROUNDS)
    found: dict[int, Configuration] = {}
    measured_s: dict[int, float] = {}
    for buckets in numbers:
        chosen = {"buckets": buckets, "features": list(features), "rounds": rounds}
        search = bench.search(budget_s=budget_s(buckets, len(features), rounds), tuner_settings=chosen)
        found[buckets], measured_s[buckets] = search.best, search.measured_s
    runs = bench.fresh([bench.guide, *found.values()], pairs)
    fewest = numbers[0]
    claims = []
    rows: Rows = []
    for buckets in numbers:
        ratio = paired(runs, THROUGHPUT, found[buckets], bench.guide)
        name = f"{buckets}_buckets"
        claims.append(bench.reported(f"{name}_over_tuning_guide", SOURCE, "ratio of throughput", ratio))
        time_ratio = measured_s[buckets] / measured_s[fewest]
        rows.append(
            {
                "setting": bench.setting.name,
                "buckets": buckets,
                "full_size_s": measured_s[buckets] * settings.scale,
                "ratio_to_tuning_guide": ratio.value,
            }
        )
        if buckets != fewest:
            over = paired(runs, THROUGHPUT, found[buckets], found[fewest])
            versus = f"{name}_over_{fewest}"
            claims += [
                bench.reported(versus, SOURCE, "ratio of throughput", over, "above 1"),
                bench.reported(
                    f"{versus}_time", SOURCE, "ratio of measuring time", exactly(time_ratio),
                    PAPER_TIME.get(buckets),
                ),
            ]  # fmt: skip
    return claims, rows


def buckets(settings: Settings) -> list[Claim]:
    """Searches with every arm and three rounds of UCB sampling for each number of buckets, per setting."""
    numbers = sorted({int(number) for number in str(settings.extra["buckets"]).split(",")})
    pairs = 1 if settings.quick else int(settings.extra["pairs"])
    claims: list[Claim] = []
    rows: Rows = []
    with embedded_engine() as engine:
        for setting in chosen_settings(settings):
            with bench_of(engine, setting, settings) as bench:
                found, points = buckets_compared(bench, settings, numbers, pairs)
            claims, rows = claims + found, rows + points
            if settings.out is not None:
                write_csv(settings.out / "buckets.csv", rows)
    ratios, times = (
        [
            bars(
                f"{buckets} buckets",
                [row["setting"] for row in rows if row["buckets"] == buckets],
                [row[field] for row in rows if row["buckets"] == buckets],
            )
            for buckets in numbers
        ]
        for field in ("ratio_to_tuning_guide", "full_size_s")
    )
    panels = [
        Panel("Throughput", "", "tuning guide = 1", ratios),
        Panel("Measuring", "", "s at full size", times),
    ]
    write_figure(settings, SOURCE, panels)
    return claims


if __name__ == "__main__":
    main(
        "dremel.buckets",
        over_searches(buckets),
        extra={"settings": FIGURE_13, "buckets": "2,3,4", "pairs": 6, "searches": SEARCHES, "ledger": ""},
    )
