"""Figures 7 and 8 of Jia and Chen at the paper's time: 318 and 324 of an exhaustive search's 6,480 minutes.

Searches see noisy runs on tables that might be true (`NoiseModel`); what they recommend by then is judged
without the noise. So the intervals include the noise, the searches' luck and the error of the model.
"""

from collections.abc import Mapping

from benchmarks.common.claims import Claim, Settings, main, mean_interval, reported
from benchmarks.common.tables import write_csv
from benchmarks.jia_chen.emulation import ALGORITHMS
from benchmarks.jia_chen.noise import NoiseModel
from benchmarks.jia_chen.noisy import emulated_with_noise
from benchmarks.jia_chen.shared import DEFAULT_TABLE, recorded

FASTER, SLOWER = "jia-chen-pcie", "jia-chen-sata"
EXHAUSTIVE_MIN = 6480
PAPER_MIN = {FASTER: 318, SLOWER: 324}
"""Time by which the paper's searches have converged in figures 7 and 8."""
PAPER: Mapping[str, Mapping[str, float]] = {
    FASTER: dict.fromkeys(("ga", "nsga2", "smpso", "epsilon-constraint"), round(205 / 211, 2))
    | {"weighted-sum": round(78 / 211, 2)},
    SLOWER: dict.fromkeys(("ga", "nsga2", "smpso", "weighted-sum"), 1.0),
}
"""Share of the maximum throughput by then. On the slower device epsilon-constraint reaches 62 of 150 thousand
operations/s under the bound of the faster one, which no configuration keeps here, so it is not compared."""
TABLES = 20


def progress(settings: Settings) -> list[Claim]:
    """Emulates a search of each algorithm on each of `--tables` tables, until the paper's time."""
    measured = recorded(settings)
    device = measured.conditions.device.name
    minutes = PAPER_MIN.get(device, PAPER_MIN[FASTER])
    model = NoiseModel(measured)
    steps = round(minutes / EXHAUSTIVE_MIN * len(model.grid))
    tables = 2 if settings.quick else int(settings.extra["tables"])
    until = dict.fromkeys(ALGORITHMS, steps)
    found = emulated_with_noise(model, ALGORITHMS, tables, 1, settings.seed, until, steps)
    shares = {
        name: [each.best.throughput_share for (each,) in groups if each.best is not None]
        for name, groups in found.items()
    }
    if settings.out is not None:
        rows = [
            {"algorithm": name, "table": table, "share": round(share, 4)}
            for name, own in shares.items()
            for table, share in enumerate(own)
        ]
        write_csv(settings.out / "shares.csv", rows)
    return [
        reported(
            f"throughput_after_{steps}_{name}",
            f"Jia and Chen, figure {8 if device == SLOWER else 7}",
            f"share of the maximum throughput after {minutes / EXHAUSTIVE_MIN:.1%} of the exhaustive time",
            mean_interval(own),
            PAPER.get(device, {}).get(name),
            engine=measured.conditions.engine,
            device=device,
        )
        for name, own in shares.items()
    ]


if __name__ == "__main__":
    main("jia_chen.progress", progress, extra={"table": DEFAULT_TABLE, "tables": TABLES})
