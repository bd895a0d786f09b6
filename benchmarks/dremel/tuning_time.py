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
from rocktune.errors import UserError
from rocktune.trial import Configuration

DREMEL = "dremel"
TUNERS = "dremel,random,tpe,auto"
QUICK_TUNERS = (DREMEL, "random")
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


def _of_setting(
    bench: Bench, settings: Settings, tuners: Sequence[str], pairs: int
) -> tuple[list[Claim], Rows]:
    """Searches with each tuner, then measures all recommendations in fresh runs.

    Such a curve shows what a user would have got by stopping at each time. The search's own figures would
    not: they differ in age, and the best of many is partly luck.
    """
    searches = {tuner: bench.search(tuner) for tuner in tuners}
    led = {tuner: leaders(search.trials, search.problem.objective) for tuner, search in searches.items()}
    everybody = [configuration for steps in led.values() for _, configuration in steps]
    runs = bench.fresh([bench.guide, *everybody], pairs)

    def ratio(configuration: Configuration) -> float:
        return paired(runs, THROUGHPUT, configuration, bench.guide).value

    steps = {tuner: [(at_s * settings.scale, ratio(each)) for at_s, each in led[tuner]] for tuner in tuners}
    final = {tuner: led[tuner][-1][1] for tuner in tuners}
    claims = [
        bench.reported(
            f"{tuner}_over_tuning_guide",
            SOURCE,
            "ratio of throughput",
            paired(runs, THROUGHPUT, final[tuner], bench.guide),
            PAPER_OVER_GUIDE if tuner == DREMEL else None,
        )
        for tuner in tuners
    ]
    rivals = [tuner for tuner in tuners if tuner != DREMEL]
    for rival in rivals:
        over = paired(runs, THROUGHPUT, final[DREMEL], final[rival])
        paper = None if rival == "auto" else PAPER_OVER_OTHERS
        claims.append(bench.reported(f"dremel_over_{rival}", SOURCE, "ratio of throughput", over, paper))
    claims += [_time_claim(bench, steps, rival) for rival in rivals]
    rows = [
        {"setting": bench.setting.name, "tuner": tuner, "full_size_s": at_s, "ratio_to_tuning_guide": value}
        for tuner in tuners
        for at_s, value in [*steps[tuner], (searches[tuner].measured_s * settings.scale, steps[tuner][-1][1])]
    ]
    return claims, rows


def _time_claim(bench: Bench, steps: dict[str, Steps], rival: str) -> Claim:
    """Returns when Dremel's recommendation is for good as fast as a rival's last one."""
    at_s = reached_s(steps[DREMEL], steps[rival][-1][1])
    claim = bench.reported(
        f"dremel_measuring_until_as_good_as_{rival}_in_the_end",
        SOURCE,
        "s at full size",
        exactly(steps[DREMEL][-1][0] if at_s is None else at_s),
        "1200 s at the earliest",
    )
    if at_s is None:
        claim.why = "Dremel did not get there; the figure is when its recommendation changed last."
    return claim


def tuning_time(settings: Settings) -> list[Claim]:
    """Searches with each of `--tuners` on the same budget, 2,325 s / S, per setting."""
    tuners = QUICK_TUNERS if settings.quick else tuple(str(settings.extra["tuners"]).split(","))
    if DREMEL not in tuners or len(tuners) < 2:
        raise UserError("tuners: name dremel and at least one other")
    pairs = 1 if settings.quick else int(settings.extra["pairs"])
    claims: list[Claim] = []
    rows: Rows = []
    panels = []
    with embedded_engine() as engine:
        for setting in chosen_settings(settings):
            with bench_of(engine, setting, settings) as bench:
                found, points = _of_setting(bench, settings, tuners, pairs)
            claims += found
            rows += points
            traces = []
            for tuner in tuners:
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
        extra={
            "settings": COMMON_SETTINGS,
            "tuners": TUNERS,
            "pairs": 3,
            "searches": SEARCHES,
            "ledger": "",
        },
    )
