"""Dremel, figures 9 and 16: how good tuners' recommendations are after some time of measuring."""

from collections.abc import Sequence

from benchmarks.common.claims import Claim, Settings, exactly, main
from benchmarks.common.figures import Panel, lines, write_figure
from benchmarks.common.measuring import embedded_engine
from benchmarks.common.tables import write_csv
from benchmarks.dremel.searches import SEARCHES, over_searches
from benchmarks.dremel.shared import (
    COMMON_SETTINGS,
    THROUGHPUT,
    Bench,
    Rows,
    bench_of,
    chosen_settings,
    leaders,
    paired,
)
from rocktune.trial import Configuration

TUNERS = ("dremel", "random")
SOURCE = "Dremel, figures 9 and 16"
PAPER_OVER_GUIDE = "up to 2.61, best of five tuners on all 18 settings"
PAPER_OVER_OTHERS = "up to 1.63 over earlier tuners"

Steps = list[tuple[float, float]]
"""(seconds of measuring, value from then on), ascending."""


def reached_s(steps: Sequence[tuple[float, float]], level: float) -> float | None:
    """Returns when a step curve reaches a level for good; None if it does not."""
    since: float | None = None
    for at_s, value in steps:
        if value < level:
            since = None
        elif since is None:
            since = at_s
    return since


def _of_setting(bench: Bench, settings: Settings, pairs: int) -> tuple[list[Claim], Rows]:
    """Searches with each tuner, then measures all recommendations in fresh runs.

    Such a curve shows what a user would have got by stopping at each time. The search's own figures would
    not: they differ in age, and the best of many is partly luck.
    """
    searches = {tuner: bench.search(tuner) for tuner in TUNERS}
    led = {tuner: leaders(search.trials, search.problem.objective) for tuner, search in searches.items()}
    everybody = [configuration for steps in led.values() for _, configuration in steps]
    runs = bench.fresh([bench.guide, *everybody], pairs)

    def ratio(configuration: Configuration) -> float:
        return paired(runs, THROUGHPUT, configuration, bench.guide).value

    steps = {tuner: [(at_s * settings.scale, ratio(each)) for at_s, each in led[tuner]] for tuner in TUNERS}
    final = {tuner: led[tuner][-1][1] for tuner in TUNERS}
    claims = [
        bench.reported(
            f"{tuner}_over_tuning_guide",
            SOURCE,
            "ratio of throughput",
            paired(runs, THROUGHPUT, final[tuner], bench.guide),
            PAPER_OVER_GUIDE if tuner == "dremel" else None,
        )
        for tuner in TUNERS
    ]
    over = paired(runs, THROUGHPUT, final["dremel"], final["random"])
    claims.append(
        bench.reported("dremel_over_random", SOURCE, "ratio of throughput", over, PAPER_OVER_OTHERS)
    )
    claims.append(_time_claim(bench, steps))
    rows = [
        {"setting": bench.setting.name, "tuner": tuner, "full_size_s": at_s, "ratio_to_tuning_guide": value}
        for tuner in TUNERS
        for at_s, value in [*steps[tuner], (searches[tuner].measured_s * settings.scale, steps[tuner][-1][1])]
    ]
    return claims, rows


def _time_claim(bench: Bench, steps: dict[str, Steps]) -> Claim:
    at_s = reached_s(steps["dremel"], steps["random"][-1][1])
    claim = bench.reported(
        "dremel_measuring_until_as_good_as_random_in_the_end",
        SOURCE,
        "s at full size",
        exactly(steps["dremel"][-1][0] if at_s is None else at_s),
        "1200 s at the earliest",
    )
    if at_s is None:
        claim.why = "Dremel did not get there; the figure is when its recommendation changed last."
    return claim


def tuning_time(settings: Settings) -> list[Claim]:
    """Searches with Dremel and at random on the same budget, 2,325 s / S, per setting."""
    pairs = 1 if settings.quick else int(settings.extra["pairs"])
    claims: list[Claim] = []
    rows: Rows = []
    panels = []
    with embedded_engine() as engine:
        for setting in chosen_settings(settings):
            with bench_of(engine, setting, settings) as bench:
                found, points = _of_setting(bench, settings, pairs)
            claims += found
            rows += points
            traces = []
            for tuner in TUNERS:
                own = [point for point in points if point["tuner"] == tuner]
                x = [float(point["full_size_s"]) for point in own]
                y = [float(point["ratio_to_tuning_guide"]) for point in own]
                traces.append(lines(tuner, x, y, line={"shape": "hv"}))
            panels.append(
                Panel(setting.name, "s of measuring at full size", "throughput, tuning guide = 1", traces)
            )
            if settings.out is not None:
                write_csv(settings.out / "recommended.csv", rows)
    write_figure(settings, SOURCE, panels)
    return claims


if __name__ == "__main__":
    main(
        "dremel.tuning_time",
        over_searches(tuning_time),
        extra={"settings": COMMON_SETTINGS, "pairs": 3, "searches": SEARCHES, "ledger": ""},
    )
