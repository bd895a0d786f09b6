"""Dremel, figures 9 and 16: how good tuners' recommendations are after some time of measuring."""

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.common.claims import Claim, Measured, Settings, exactly, main, reported
from benchmarks.common.figures import Panel, lines, write_figure
from benchmarks.common.measuring import embedded_engine
from benchmarks.common.tables import write_csv
from benchmarks.dremel.searches import SEARCHES, over_searches, over_settings
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
from rocktune.workload.dremel_settings import DremelSetting

DREMEL = "dremel"
TUNERS = "dremel,random,tpe,auto"
QUICK_TUNERS = (DREMEL, "random")
SOURCE, UNIT = "Dremel, figures 9 and 16", "ratio of throughput"
PAPER_OVER_GUIDE = "up to 2.61, best of five tuners on all 18 settings"
PAPER_OVER_OTHERS = "up to 1.63 over earlier tuners"

PAPER_WINS = "all of 18"
GUIDE = "tuning_guide"

Steps = list[tuple[float, float]]
"""(seconds of measuring, value from then on), ascending."""


@dataclass(frozen=True)
class Compared:
    """The comparison of the tuners in one setting.

    Attributes:
        claims: claims about the setting.
        rows: what each tuner would have recommended after some time of measuring, for the table.
        over: Dremel's winner over each rival's and over the tuning guide, by pairs of fresh runs.
    """

    claims: list[Claim]
    rows: Rows
    over: dict[str, Measured]


def reached_s(steps: Sequence[tuple[float, float]], level: float) -> float | None:
    """Returns when a step curve reaches a level for good; None if it does not."""
    since: float | None = None
    for at_s, value in steps:
        if value < level:
            since = None
        elif since is None:
            since = at_s
    return since


def _of_setting(bench: Bench, settings: Settings, tuners: Sequence[str], pairs: int) -> Compared:
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
            f"{tuner}_over_{GUIDE}",
            SOURCE,
            UNIT,
            paired(runs, THROUGHPUT, final[tuner], bench.guide),
            PAPER_OVER_GUIDE if tuner == DREMEL else None,
        )
        for tuner in tuners
    ]
    rivals = {tuner: each for tuner, each in final.items() if tuner != DREMEL}
    over = {
        rival: paired(runs, THROUGHPUT, final[DREMEL], each)
        for rival, each in {GUIDE: bench.guide, **rivals}.items()
    }
    claims += [
        bench.reported(f"dremel_over_{rival}", SOURCE, UNIT, over[rival], _paper_over(rival))
        for rival in rivals
    ]
    claims += [_time_claim(bench, steps, rival) for rival in rivals]
    rows = [
        {"setting": bench.setting.name, "tuner": tuner, "full_size_s": at_s, "ratio_to_tuning_guide": value}
        for tuner in tuners
        for at_s, value in [*steps[tuner], (searches[tuner].measured_s * settings.scale, steps[tuner][-1][1])]
    ]
    return Compared(claims, rows, over)


def _paper_over(rival: str) -> str | None:
    """Returns what the paper has in place of Dremel over a rival; it has no `auto`."""
    return {"auto": None, GUIDE: PAPER_OVER_GUIDE}.get(rival, PAPER_OVER_OTHERS)


def in_all(found: Sequence[Compared], engine: str, settings: Sequence[DremelSetting]) -> list[Claim]:
    """Returns Dremel over each rival in all settings: the mean, and how many settings it wins and loses.

    A setting is won or lost if the interval of its pairs of fresh runs does not contain 1. A single pair has
    no interval and decides nothing.
    """
    claims = []
    for rival in found[0].over:
        over = [each.over[rival] for each in found]
        mean = over_settings(
            f"dremel_over_{rival}_in_all_settings",
            SOURCE,
            UNIT,
            [each.value for each in over],
            _paper_over(rival),
            engine=engine,
            settings=settings,
        )
        claims.append(mean)
        known = [each for each in over if each.repeats > 1]
        wins, losses = sum(each.low > 1 for each in known), sum(each.high < 1 for each in known)
        for verb, count in (("wins_over", wins), ("loses_to", losses)):
            paper = PAPER_WINS if verb == "wins_over" and rival != "auto" else None
            claim = reported(
                f"settings_where_dremel_{verb}_{rival}",
                SOURCE,
                f"settings of {len(over)}",
                exactly(count),
                paper,
                engine=engine,
                device=mean.device,
            )
            claims.append(claim)
    return claims


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
    chosen = chosen_settings(settings)
    compared: list[Compared] = []
    panels = []
    with embedded_engine() as engine:
        for setting in chosen:
            with bench_of(engine, setting, settings) as bench:
                compared.append(_of_setting(bench, settings, tuners, pairs))
            traces = []
            for tuner in tuners:
                own = [point for point in compared[-1].rows if point["tuner"] == tuner]
                x = [float(point["full_size_s"]) for point in own]
                y = [float(point["ratio_to_tuning_guide"]) for point in own]
                traces.append(lines(tuner, x, y, line={"shape": "hv"}))
            panels.append(
                Panel(setting.name, "s of measuring at full size", "throughput, tuning guide = 1", traces)
            )
            if settings.out is not None:
                rows = [row for each in compared for row in each.rows]
                write_csv(settings.out / "recommended.csv", rows)
    write_figure(settings, SOURCE, panels)
    claims = [claim for each in compared for claim in each.claims]
    return [*claims, *in_all(compared, engine.version, chosen)] if len(chosen) > 1 else claims


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
