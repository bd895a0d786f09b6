"""Figures 7, 8, 10, 13 and 16 of Jia and Chen: the progress of the five algorithms on one table.

`progress` compares figures 7 and 8 with the paper's.
"""

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.common.claims import Claim, Measured, Settings, main, mean_interval, reported
from benchmarks.common.figures import Panel, lines, write_figure
from benchmarks.common.tables import write_csv
from benchmarks.jia_chen.emulation import ALGORITHMS, Algorithm, Emulation, algorithm, emulated, recommender
from benchmarks.jia_chen.shared import DEFAULT_TABLE, LATENCY, THROUGHPUT, Recorded, recorded
from rocktune.trial import Configuration

LOW = 100 / 210
"""The paper's 100,000 operations per second as a share of its largest throughput."""
PAPER_LOW_SHARE = {"ga": 0.16, "smpso": 0.26, "epsilon-constraint": 0.45, "nsga2": 0.32, "weighted-sum": 0.77}
PAPER_STEPS_OF_ECM = 23
BUDGET_SHARE = 0.2
GENERATION = 10
GENERATIONS = 30
SMOOTHED = 20


def convergence(settings: Settings) -> list[Claim]:
    """Emulates each algorithm for a fifth of the exhaustive time; figures show the first seed.

    `--algorithms` names those to emulate; all five by default.
    """
    table = recorded(settings)
    runs = 3 if settings.quick else int(settings.extra["runs"])
    budget = max(GENERATION, int(BUDGET_SHARE * len(table.rows)))
    claims, found, alleles = [], dict[str, tuple[Configuration, ...]](), list[dict[str, Any]]()
    names = str(settings.extra["algorithms"]).split(",")
    for name in names:
        chosen = algorithm(table, name)
        emulations = emulated(table, chosen, runs, settings.seed, budget)
        searches = [each.order[:budget] for each in emulations]
        found[name] = searches[0]
        if name == "ga":
            alleles = _alleles(table, emulations)
        claims += _claims(table, chosen, searches)
        settings.say(f"{name}: {claims[-1].name} {claims[-1].measured.value:.3f}")
    if alleles:
        claims += _dominance(table, alleles)
    if settings.out is not None:
        rows = [
            {"algorithm": name, "step": step, **dict(each), **table.rows[each]}
            for name, order in found.items()
            for step, each in enumerate(order, 1)
            if each in table.rows
        ]
        write_csv(settings.out / "first_seed.csv", rows)
        write_csv(settings.out / "alleles.csv", alleles)
    write_figure(settings, f"Convergence ({table.name})", _panels(table, found, alleles), columns=1)
    return claims


def _claims(table: Recorded, chosen: Algorithm, searches: list[tuple[Configuration, ...]]) -> list[Claim]:
    threshold = LOW * table.max_throughput
    low = [
        float(np.mean([table.rows[each][THROUGHPUT] < threshold for each in order if each in table.rows]))
        for order in searches
    ]
    recommenders = [(len(order), recommender(table, chosen, order)) for order in searches[:20]]
    changes = [len({after(step) for step in range(1, min(100, last) + 1)}) for last, after in recommenders]
    final = [table.rows[after(last)] for last, after in recommenders]
    engine, device = table.conditions.engine, table.conditions.device.name
    return [
        reported(
            f"final_throughput_{chosen.name}",
            "Jia and Chen, figures 7 and 8",
            "share of the largest throughput",
            mean_interval([row[THROUGHPUT] / table.max_throughput for row in final]),
            engine=engine,
            device=device,
        ),
        reported(
            f"final_latency_{chosen.name}",
            "Jia and Chen, figures 7 and 8",
            "us, p99 of reads",
            mean_interval([row[LATENCY] for row in final]),
            engine=engine,
            device=device,
        ),
        reported(
            f"intermediate_configurations_{chosen.name}",
            "Jia and Chen, figure 10",
            "configurations recommended in turn, of the first 100 measured",
            mean_interval(changes),
            PAPER_STEPS_OF_ECM if chosen.name == "epsilon-constraint" else None,
            engine=engine,
            device=device,
        ),
        reported(
            f"time_at_low_throughput_{chosen.name}",
            "Jia and Chen, figure 13",
            f"share of time below {LOW:.2f} of the largest throughput",
            Measured(*_quartiles(low), len(low)),
            PAPER_LOW_SHARE[chosen.name],
            engine=engine,
            device=device,
        ),
    ]


def _quartiles(values: list[float]) -> tuple[float, float, float]:
    low, middle, high = np.quantile(values, (0.25, 0.5, 0.75))
    return float(middle), float(low), float(high)


def _alleles(table: Recorded, searches: Sequence[Emulation]) -> list[dict[str, Any]]:
    """Returns how often each value of a knob occurs in the population after each of the first 30 generations.

    A generation breeds ten individuals, repeated ones included. Survival keeps the best of parents and
    children, so the population is the best ten found so far.
    """
    rows = []
    for generation in range(1, GENERATIONS + 1):
        bred = generation * GENERATION
        populations = [
            _fittest(table, each.order[: bisect_right(each.individuals, bred)]) for each in searches
        ]
        for knob in table.space.knobs:
            for value in knob.choices:
                shares = [
                    sum(each[knob.name] == value for each in population) / max(1, len(population))
                    for population in populations
                ]
                share = mean_interval(shares)
                rows.append(
                    {
                        "generation": generation,
                        "knob": knob.name,
                        "value": value,
                        "share": round(share.value, 3),
                        "low": round(share.low, 3),
                        "high": round(share.high, 3),
                        "runs": len(shares),
                    }
                )
    return rows


def _fittest(table: Recorded, seen: tuple[Configuration, ...]) -> list[Configuration]:
    known = [each for each in seen if each in table.rows]
    return sorted(known, key=lambda each: -table.rows[each][THROUGHPUT])[:GENERATION]


def _dominance(table: Recorded, alleles: list[dict[str, Any]]) -> list[Claim]:
    """Returns claims of the share of the most frequent value of each knob in the last population."""
    last = [row for row in alleles if row["generation"] == GENERATIONS]
    claims = []
    for knob in table.space.knobs:
        common = max((row for row in last if row["knob"] == knob.name), key=lambda row: row["share"])
        claims.append(
            reported(
                f"share_of_commonest_{knob.name}_{common['value']}",
                "Jia and Chen, figure 16",
                f"share of the fittest {GENERATION} after {GENERATIONS} generations, mean of the searches",
                Measured(common["share"], common["low"], common["high"], common["runs"]),
                engine=table.conditions.engine,
                device=table.conditions.device.name,
            )
        )
    return claims


def _panels(
    table: Recorded, found: dict[str, tuple[Configuration, ...]], alleles: list[dict[str, Any]]
) -> list[Panel]:
    run_min = table.conditions.measured_s / 60
    best, latency, instantaneous = [], [], []
    for name, order in found.items():
        minutes = [run_min * step for step in range(1, len(order) + 1)]
        after = recommender(table, algorithm(table, name), order)
        rows = [table.rows[after(step)] for step in range(1, len(order) + 1)]
        best.append(lines(name, minutes, [row[THROUGHPUT] for row in rows], line_shape="hv"))
        latency.append(lines(name, minutes, [row[LATENCY] for row in rows], line_shape="hv"))
        own = [table.rows[each][THROUGHPUT] for each in order if each in table.rows]
        means = np.convolve(own, np.ones(SMOOTHED) / SMOOTHED, "valid")
        instantaneous.append(lines(name, minutes[SMOOTHED - 1 :], means.tolist()))
    labels = list(dict.fromkeys(map(_label, alleles)))
    heat = {
        "type": "heatmap",
        "x": list(range(1, GENERATIONS + 1)),
        "y": labels,
        "z": [
            [row["share"] for row in alleles if f"{row['knob']} = {row['value']}" == label]
            for label in labels
        ],
        "colorscale": "Blues",
        "showscale": False,
    }
    time = "recorded time (min)"
    return [
        Panel("Figures 7, 8: throughput of the recommended", time, "operations/s", best),
        Panel("Figures 7, 8: its latency", time, "read p99 (us)", latency),
        Panel(f"Figure 13: every step, mean of {SMOOTHED}", time, "operations/s", instantaneous),
        Panel("Figure 16: alleles of GA, mean of all seeds", "generation", "", [heat]),
    ]


def _label(allele: dict[str, Any]) -> str:
    return f"{allele['knob']} = {allele['value']}"


if __name__ == "__main__":
    main(
        "jia_chen.convergence",
        convergence,
        extra={
            "table": DEFAULT_TABLE,
            "runs": 100,
            "interpolate": "no",
            "bound_us": "",
            "algorithms": ",".join(ALGORITHMS),
        },
    )
