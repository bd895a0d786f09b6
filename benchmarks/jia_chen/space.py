"""Figures 4 to 6, 9 and 17 to 19 of Jia and Chen: clouds of configurations, coloured by knobs.

The extremes of the clouds are those of all configurations without noise, with intervals (`extremes`). The
drawn clouds are runs as they were measured.
"""

from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.common.claims import Claim, Settings, exactly, main, reported
from benchmarks.common.figures import Panel, lines, write_figure
from benchmarks.jia_chen.extremes import (
    DRAWS,
    Spaces,
    latency_there,
    max_latency,
    max_throughput,
    min_latency,
    seed_deviation,
    seed_errors,
    spaces,
)
from benchmarks.jia_chen.noise import FIELDS, NoiseModel, Reals
from benchmarks.jia_chen.shared import (
    LATENCY,
    TABLES,
    THROUGHPUT,
    Recorded,
    as_table,
    made_up,
    one_run_each,
)
from rocktune.table import Table, read_table

PAPER_SPREAD = 211 / 60
"""Largest throughput over the default's, figure 4."""
COLOURED = {
    "threads": "figure 17",
    "max_write_buffer_number": "figure 18",
    "max_background_compactions": "figure 19",
}


def space(settings: Settings) -> list[Claim]:
    """Draws every table as a cloud, and the exhaustive one coloured by three knobs."""
    draws = 4 if settings.quick else DRAWS
    tables = [(name, table, one_run_each(name, table)) for name, table in _tables(settings).items()]
    exhaustive = max((measured for _, _, measured in tables), key=lambda measured: len(measured.rows))
    claims = []
    for _, table, measured in tables:
        model = NoiseModel(measured)
        drawn = spaces(model, draws, settings.seed)
        claims += _extremes(measured, model, drawn, seed_errors(table, 2 * draws, settings.seed))
        claims += _deviations(measured, model, table)
        if measured is exhaustive:
            for knob, figure in COLOURED.items():
                claims += _by_value(measured, model, drawn, knob, figure)
        settings.say(f"{measured.name}: {len(measured.rows)} configurations")
    panels = [_cloud(measured) for _, _, measured in tables]
    panels += [_coloured(exhaustive, knob, figure) for knob, figure in COLOURED.items()]
    write_figure(settings, "Configurations", panels)
    return claims


def _tables(settings: Settings) -> dict[str, Table]:
    if settings.quick:
        return {"made-up": as_table(made_up())}
    return {path.stem: read_table(path) for path in sorted(Path(TABLES).glob("*.csv"))}


def _extremes(measured: Recorded, model: NoiseModel, drawn: Spaces, seed: Reals) -> list[Claim]:
    """Reports the extremes of the space, and of the runs as they were measured.

    Args:
        measured: the table.
        model: its noise.
        drawn: draws of the space.
        seed: errors by another seed of the workload, shape (2 draws, 2).
    """
    default = model.grid.index(measured.space.default())
    of_throughput, of_latency = seed[: len(seed) // 2].T
    # The default has one thread and may meet another seed otherwise than the fastest configuration does.
    of_ratio = of_throughput - seed[len(seed) // 2 :, 0]
    runs = list(measured.rows.values())
    figures = {
        "max_throughput": (drawn.interval(max_throughput, of_throughput), "operations/s", 211_000.0),
        "latency_there": (drawn.interval(latency_there, of_latency), "us", 254.0),
        "min_latency": (drawn.interval(min_latency, of_latency), "us", 49.0),
        "max_latency": (drawn.interval(max_latency, of_latency), "us", 382.0),
        "max_over_default_throughput": (
            drawn.interval(lambda logs: max_throughput(logs) - logs[..., default, 0], of_ratio),
            "ratio",
            PAPER_SPREAD,
        ),
        "max_throughput_of_a_run": (exactly(measured.max_throughput, len(runs)), "operations/s", None),
        "min_latency_of_a_run": (exactly(min(row[LATENCY] for row in runs), len(runs)), "us", None),
    }
    return [
        reported(
            f"{measured.name}_{name}",
            "Jia and Chen, figures 4 to 6 and 9",
            unit,
            value,
            paper,
            engine=measured.conditions.engine,
            device=measured.conditions.device.name,
        )
        for name, (value, unit, paper) in figures.items()
    ]


def _deviations(measured: Recorded, model: NoiseModel, table: Table) -> list[Claim]:
    """Reports the deviations that the intervals rest on."""
    between, seeds = seed_deviation(table)
    kinds = {
        "noise": ("a run's noise: deviation of its logarithm", model.noise, len(measured.rows)),
        "own": ("deviation of own terms, beyond pairs of knobs", model.own, len(measured.rows)),
        "seed": (
            "deviation between the control's workload seeds",
            dict(zip(FIELDS, between.tolist(), strict=True)),
            seeds,
        ),
    }
    return [
        reported(
            f"{measured.name}_{kind}_of_{field}",
            "the tables' noise",
            unit,
            exactly(values[field], count),
            engine=measured.conditions.engine,
            device=measured.conditions.device.name,
        )
        for kind, (unit, values, count) in kinds.items()
        for field in FIELDS
    ]


def _by_value(measured: Recorded, model: NoiseModel, drawn: Spaces, knob: str, figure: str) -> list[Claim]:
    """Reports the maximum throughput for each value of a knob, as a share of the overall maximum."""
    claims = []
    for value in sorted({each[knob] for each in measured.rows}):
        own = np.array([each[knob] == value for each in model.grid])
        share = drawn.interval(partial(_share_of_maximum, own), max_value=1.0)
        claims.append(
            reported(
                f"max_throughput_at_{knob}_{value}",
                f"Jia and Chen, {figure}",
                "share of the largest throughput",
                share,
                engine=measured.conditions.engine,
                device=measured.conditions.device.name,
            )
        )
    return claims


def _share_of_maximum(own: NDArray[np.bool_], logs: Reals) -> Reals:
    """The maximum throughput of some configurations as a share of all configurations'."""
    return max_throughput(logs[..., own, :]) - max_throughput(logs)


def _cloud(table: Recorded) -> Panel:
    points = np.array([[row[LATENCY], row[THROUGHPUT]] for row in table.rows.values()])
    marks = [lines("configurations", points[:, 0].tolist(), points[:, 1].tolist(), "markers", opacity=0.5)]
    default = table.rows.get(table.space.default())
    if default is not None:
        marks.append(lines("default", [default[LATENCY]], [default[THROUGHPUT]], "markers"))
    return Panel(table.name, "read p99 (us)", "operations/s", marks)


def _coloured(table: Recorded, knob: str, figure: str) -> Panel:
    traces = []
    for value in sorted({each[knob] for each in table.rows}):
        own = [row for each, row in table.rows.items() if each[knob] == value]
        latencies, throughputs = ([row[field] for row in own] for field in (LATENCY, THROUGHPUT))
        traces.append(lines(f"{knob} {value}", latencies, throughputs, "markers", opacity=0.5))
    return Panel(f"{figure}: {knob}", "read p99 (us)", "operations/s", traces)


if __name__ == "__main__":
    main("jia_chen.space", space)
