"""Figures 11 and 12 of Jia and Chen: the time of searches until they are near the best, over 1,000 runs."""

from benchmarks.common.claims import Claim, Measured, Settings, decided, main, reported, write_csv
from benchmarks.common.figures import Panel, lines, write_figure
from benchmarks.jia_chen.shared import (
    ALGORITHMS,
    DEFAULT_TABLE,
    Recorded,
    algorithm,
    emulated,
    recorded,
    share_interval,
    share_within,
)

QUANTILE = 0.9
PAPER_SHARES = {"epsilon-constraint": 37 / 108}
PAPER_OTHERS = 21 / 108
RUNS = 1000
QUICK_RUNS = 6


def tuning_time(settings: Settings) -> list[Claim]:
    """Emulates 1,000 searches of each algorithm, and of random search, on a recorded table."""
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
    claim = reported(
        f"share_of_exhaustive_time_{name}",
        "Jia and Chen, figures 11 and 12",
        f"share within which {QUANTILE:.0%} of runs succeed",
        Measured(value, low, high, len(steps)),
        paper,
        engine=table.conditions.engine,
        device=table.conditions.device.name,
    )
    return claim if paper is None else decided(claim, high=paper)


if __name__ == "__main__":
    main(
        "jia_chen.tuning_time",
        tuning_time,
        extra={"table": DEFAULT_TABLE, "runs": RUNS, "interpolate": "no", "bound_us": ""},
    )
