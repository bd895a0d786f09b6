"""Figures 11 and 12 of Jia and Chen: how long searches take until they are near the best, over 1,000 runs."""

from benchmarks.claims import Claim, Measured, Settings, exactly, main, reported, write_csv
from benchmarks.figures import Panel, lines, write_figure
from benchmarks.jia_chen_shared import (
    ALGORITHMS,
    DEFAULT_TABLE,
    LATENCY,
    Recorded,
    algorithm,
    answer,
    emulate,
    emulated,
    recorded,
    share_interval,
    share_within,
)
from rocktune.objective import Feasibility, Objective
from rocktune.trial import Configuration, Trial

QUANTILE = 0.9
PAPER_SHARES = {"epsilon-constraint": 37 / 108}
PAPER_OTHERS = 21 / 108
RUNS = 1000
QUICK_RUNS = 6


def jia_chen_tuning_time(settings: Settings) -> list[Claim]:
    """Emulates 1,000 searches of each algorithm on a recorded table, beside random search."""
    table = recorded(settings)
    runs = QUICK_RUNS if settings.quick else int(settings.extra["runs"])
    claims, traces, rows = [], [], []
    for name in (*ALGORITHMS, "random"):
        chosen = algorithm(table, name)
        steps = [each.steps_to_success for each in emulated(table, chosen, runs, settings.seed)]
        rows += [
            {"algorithm": name, "seed": settings.seed + run, "steps": step} for run, step in enumerate(steps)
        ]
        claims.append(_claim(table, name, steps, settings.seed))
        shares = sorted(step / len(table.rows) for step in steps)
        traces.append(lines(name, shares, [(place + 1) / runs for place in range(runs)]))
        settings.say(f"{name}: {claims[-1].measured.value:.3f} of {len(table.rows)} configurations")
    claims.append(_never_infeasible(table, runs, settings.seed))
    if settings.out is not None:
        write_csv(settings.out / "steps.csv", rows)
    write_figure(
        settings,
        f"Time until near the best ({table.name})",
        [Panel("Figure 11", "share of the exhaustive time", "share of runs", traces)],
    )
    return claims


def _claim(table: Recorded, name: str, steps: list[float], seed: int) -> Claim:
    total = len(table.rows)
    value = share_within(steps, QUANTILE, total)
    low, high = share_interval(steps, QUANTILE, total, seed)
    paper = None if name == "random" else PAPER_SHARES.get(name, PAPER_OTHERS)
    return reported(
        f"share_of_exhaustive_time_{name}",
        "Jia and Chen, figures 11 and 12",
        f"share within which {QUANTILE:.0%} of runs succeed",
        Measured(value, low, high, len(steps)),
        paper,
        engine=table.conditions.engine,
        device=table.conditions.device.name,
    )


def _never_infeasible(table: Recorded, runs: int, seed: int) -> Claim:
    """Counts searches that recommend what breaks the bound although they met what keeps it."""
    chosen = algorithm(table, "epsilon-constraint")
    budget = max(1, len(table.rows) // 20)
    wrong = 0
    for run in range(min(runs, 200)):
        order = emulate(table, chosen, budget, seed + run, until_success=False).order
        wrong += _recommends_infeasible(table, chosen.objective, order)
    claim = reported(
        "epsilon_constraint_infeasible_recommendations",
        "issue 4, must hold",
        "searches",
        exactly(wrong, min(runs, 200)),
        0,
        engine=table.conditions.engine,
        device=table.conditions.device.name,
    )
    claim.target, claim.holds = "0", wrong == 0
    return claim


def _recommends_infeasible(table: Recorded, objective: Objective, order: tuple[Configuration, ...]) -> bool:
    results = [answer(table, Trial(each, 1.0)) for each in order]
    best = results[objective.ranks(results).index(0)]
    met = any(table.rows[each][LATENCY] <= table.bound_us for each in order if each in table.rows)
    return met and objective.feasibility(best) is not Feasibility.FEASIBLE


if __name__ == "__main__":
    main(
        "jia_chen_tuning_time",
        jia_chen_tuning_time,
        extra={"table": DEFAULT_TABLE, "runs": RUNS, "interpolate": "no", "bound_us": ""},
    )
