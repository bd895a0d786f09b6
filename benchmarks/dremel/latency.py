"""Dremel, figures 10, 11 and 17: tuning for p99 read latency, and for latency and throughput together."""

from collections.abc import Mapping, Sequence

from benchmarks.common.claims import Claim, Measured, Settings, main
from benchmarks.common.figures import Panel, lines, write_figure
from benchmarks.common.measuring import embedded_engine
from benchmarks.common.tables import write_csv
from benchmarks.dremel.searches import SEARCHES, over_searches, over_settings
from benchmarks.dremel.shared import (
    COMMON_SETTINGS,
    READ_LATENCY,
    THROUGHPUT,
    Bench,
    Rows,
    bench_of,
    chosen_settings,
    paired,
)
from rocktune.errors import UserError
from rocktune.trial import Configuration
from rocktune.workload.dremel_settings import DremelSetting

LATENCY_SOURCE, BOTH_SOURCE = "Dremel, figures 10 and 17", "Dremel, figure 11"
PAPER_LATENCY = "0.43 in the best case, 0.63 on 15 settings"
MIN_LATENCY, BALANCE, RANDOM = "min_latency", "balance", "random_min_latency"
OBJECTIVES = {MIN_LATENCY: READ_LATENCY, "max_throughput": THROUGHPUT, BALANCE: "balance"}
UNITS = {THROUGHPUT: "ratio of throughput", READ_LATENCY: "ratio of p99 read latency"}

Ratios = dict[str, dict[str, Measured]]
"""By who found a configuration, then by field: its ratio to the tuning guide's."""


def ratios_to_guide(bench: Bench, searches: Sequence[str], pairs: int) -> Ratios:
    """Searches for each objective, and randomly for latency, and measures the results in fresh runs."""
    found: dict[str, Configuration] = {
        name: bench.search("dremel", OBJECTIVES[name]).best for name in searches
    }
    found[RANDOM] = bench.search("random", READ_LATENCY).best
    runs = bench.fresh([bench.guide, *found.values()], pairs)
    return {
        name: {field: paired(runs, field, configuration, bench.guide) for field in UNITS}
        for name, configuration in found.items()
    }


def worse_improvement(ratios: dict[str, Measured]) -> Measured:
    """Returns the smaller of two improvements, of throughput and of latency; above 1 is better in both."""
    latency = ratios[READ_LATENCY]
    inverse = Measured(1 / latency.value, 1 / latency.high, 1 / latency.low, latency.repeats)
    return min(ratios[THROUGHPUT], inverse, key=lambda measured: measured.value)


def claims_of(bench: Bench, ratios: Ratios) -> list[Claim]:
    """Returns claims of the ratios of one setting."""
    claims = [
        bench.reported(
            f"{who}_latency_over_tuning_guide", LATENCY_SOURCE, UNITS[READ_LATENCY],
            ratios[who][READ_LATENCY], paper,
        )
        for who, paper in ((MIN_LATENCY, PAPER_LATENCY), (RANDOM, None))
    ]  # fmt: skip
    claims += [
        bench.reported(f"{who}_{field}_over_tuning_guide", BOTH_SOURCE, UNITS[field], ratios[who][field])
        for who in OBJECTIVES
        if who in ratios
        for field in UNITS
        if (who, field) != (MIN_LATENCY, READ_LATENCY)
    ]
    if BALANCE in ratios:
        claims.append(
            bench.reported(
                "balance_worse_of_both_improvements", BOTH_SOURCE, "ratio",
                worse_improvement(ratios[BALANCE]), "above 1: better in both",
            )
        )  # fmt: skip
    return claims


def in_all(found: Sequence[Ratios], engine: str, settings: Sequence[DremelSetting]) -> list[Claim]:
    """Returns the means over all settings of three ratios of p99 read latency.

    They are Dremel over the tuning guide, random search over the tuning guide, and Dremel over random search.
    """
    dremel, random = ([each[who][READ_LATENCY].value for each in found] for who in (MIN_LATENCY, RANDOM))
    over_random = [one / other for one, other in zip(dremel, random, strict=True)]
    means: Mapping[str, tuple[list[float], str | None]] = {
        f"{MIN_LATENCY}_latency_over_tuning_guide": (dremel, PAPER_LATENCY),
        f"{RANDOM}_latency_over_tuning_guide": (random, None),
        f"{MIN_LATENCY}_latency_over_random": (over_random, None),
    }
    return [
        over_settings(
            f"{name}_in_all_settings",
            LATENCY_SOURCE,
            UNITS[READ_LATENCY],
            ratios,
            paper,
            engine=engine,
            settings=settings,
        )
        for name, (ratios, paper) in means.items()
    ]


def latency(settings: Settings) -> list[Claim]:
    """Searches for each of `--objectives`, on 2,325 s / S each, per setting."""
    pairs = 1 if settings.quick else int(settings.extra["pairs"])
    searches = str(settings.extra["objectives"]).split(",")
    if unknown := set(searches) - set(OBJECTIVES):
        raise UserError(f"objectives: unknown '{min(unknown)}'; use {', '.join(OBJECTIVES)}")
    if MIN_LATENCY not in searches:
        raise UserError(f"objectives: {MIN_LATENCY} has to be among them")
    claims: list[Claim] = []
    found: list[Ratios] = []
    chosen = chosen_settings(settings)
    rows: Rows = []
    panels = []
    with embedded_engine() as engine:
        for setting in chosen:
            with bench_of(engine, setting, settings) as bench:
                ratios = ratios_to_guide(bench, searches, pairs)
            claims += claims_of(bench, ratios)
            found.append(ratios)
            rows += [
                {"setting": setting.name, "found_for": who, "field": field, **measured.__dict__}
                for who, fields in ratios.items()
                for field, measured in fields.items()
            ]
            traces = [lines("tuning guide", [1.0], [1.0], "markers")] + [
                lines(who, [fields[READ_LATENCY].value], [fields[THROUGHPUT].value], "markers")
                for who, fields in ratios.items()
            ]
            panels.append(Panel(setting.name, "p99 read latency ratio", "throughput ratio", traces))
            if settings.out is not None:
                write_csv(settings.out / "ratios.csv", rows)
    write_figure(settings, "Dremel, figures 10, 11 and 17 (tuning guide = 1)", panels)
    return [*claims, *in_all(found, engine.version, chosen)] if len(chosen) > 1 else claims


if __name__ == "__main__":
    main(
        "dremel.latency",
        over_searches(latency),
        extra={
            "settings": COMMON_SETTINGS,
            "objectives": ",".join(OBJECTIVES),
            "pairs": 6,
            "searches": SEARCHES,
            "ledger": "",
        },
    )
