"""Figures 14 and 15 of Jia and Chen: SMPSO's leader size and NSGA-II's mutation rate.

As in `tuning_time`, searches see noisy runs on tables that might be true, and success is judged without the
noise.
"""

from benchmarks.common.claims import Claim, Measured, Settings, main, reported
from benchmarks.common.figures import Panel, lines, write_figure
from benchmarks.common.tables import write_csv
from benchmarks.jia_chen.emulation import share_interval, share_within
from benchmarks.jia_chen.noise import NoiseModel
from benchmarks.jia_chen.noisy import emulated_with_noise
from benchmarks.jia_chen.shared import DEFAULT_TABLE, recorded

LEADERS = (4, 8, 16, 32, 64)
MUTATION_RATES = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64)
STUDIES = {
    "figure 14": ("smpso", "leaders", LEADERS),
    "figure 15": ("nsga2", "mutation_rate", MUTATION_RATES),
    "beyond the paper": ("nsga2", "population", (5, 10, 20, 50, 100)),
    "beyond the paper, SMPSO": ("smpso", "swarm_size", (5, 10, 20, 50, 100)),
}
PAPER = {("mutation_rate", 0.01): 15.9 / 108, ("mutation_rate", 0.64): 28 / 108} | {
    ("leaders", leaders): 25.6 / 108 for leaders in LEADERS
}
"""Hours within which 90% of runs were near the best, over the 108 of an exhaustive search."""
QUANTILE = 0.9


def hyperparameters(settings: Settings) -> list[Claim]:
    """Emulates `--searches` searches on each of `--tables` tables with each value of a hyper-parameter.

    The others have their defaults.
    """
    table = recorded(settings)
    model = NoiseModel(table)
    tables, searches = (
        (2, 2) if settings.quick else (int(settings.extra[flag]) for flag in ("tables", "searches"))
    )
    runs, total = tables * searches, len(model.grid)
    claims, panels, rows = [], [], []
    for source, (name, parameter, values) in STUDIES.items():
        traces = []
        for value in values[:2] if settings.quick else values:
            found = emulated_with_noise(
                model, [name], tables, searches, settings.seed, tuner_settings={parameter: value}
            )
            groups = [[each.search.steps_to_success for each in group] for group in found[name]]
            steps = [step for group in groups for step in group]
            rows += [
                {"tuner": name, parameter: value, "table": number, "steps": step}
                for number, group in enumerate(groups)
                for step in group
            ]
            share = share_within(steps, QUANTILE, total)
            low, high = share_interval(groups, QUANTILE, total, settings.seed)
            claims.append(
                reported(
                    f"share_of_exhaustive_time_{name}_{parameter}_{value:g}",
                    f"Jia and Chen, {source}" if source.startswith("figure") else source,
                    f"share within which {QUANTILE:.0%} of runs succeed",
                    Measured(share, low, high, runs),
                    PAPER.get((parameter, value)),
                    engine=table.conditions.engine,
                    device=table.conditions.device.name,
                )
            )
            shares = sorted(step / total for step in steps)
            traces.append(lines(f"{parameter} {value:g}", shares, [(n + 1) / runs for n in range(runs)]))
            settings.say(f"{name}, {parameter} {value:g}: {share:.3f}")
        panels.append(Panel(f"{name}: {parameter}", "share of the exhaustive time", "share of runs", traces))
    if settings.out is not None:
        for name, parameter, _ in STUDIES.values():
            own = [row for row in rows if parameter in row]
            write_csv(settings.out / f"steps_{name}_{parameter}.csv", own)
    write_figure(settings, f"Hyper-parameters ({table.name})", panels)
    return claims


if __name__ == "__main__":
    main(
        "jia_chen.hyperparameters",
        hyperparameters,
        extra={"table": DEFAULT_TABLE, "tables": 20, "searches": 5},
    )
