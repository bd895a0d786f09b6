"""Figures 4 to 6, 9 and 17 to 19 of Jia and Chen: clouds of configurations, coloured by knobs."""

from pathlib import Path

import numpy as np

from benchmarks.common.claims import Claim, Settings, exactly, main, reported
from benchmarks.common.figures import Panel, lines, write_figure
from benchmarks.jia_chen.shared import LATENCY, TABLES, THROUGHPUT, Recorded, made_up, one_run_each
from rocktune.table import read_table

PAPER_SPREAD = 211 / 60
"""Largest throughput over the default's, figure 4."""
COLOURED = {
    "threads": "figure 17",
    "max_write_buffer_number": "figure 18",
    "max_background_compactions": "figure 19",
}


def space(settings: Settings) -> list[Claim]:
    """Draws every table as a cloud, and the exhaustive one coloured by three knobs."""
    tables = _tables(settings)
    claims = [claim for table in tables for claim in _extremes(table)]
    panels = [_cloud(table) for table in tables]
    exhaustive = max(tables, key=lambda table: len(table.rows))
    for knob, figure in COLOURED.items():
        panels.append(_coloured(exhaustive, knob, figure))
        claims += _by_value(exhaustive, knob, figure)
    write_figure(settings, "Configurations", panels)
    return claims


def _tables(settings: Settings) -> list[Recorded]:
    if settings.quick:
        return [made_up()]
    return [one_run_each(path.stem, read_table(path)) for path in sorted(Path(TABLES).glob("*.csv"))]


def _extremes(table: Recorded) -> list[Claim]:
    rows = list(table.rows.values())
    default = table.rows.get(table.space.default())
    fastest = max(rows, key=lambda row: row[THROUGHPUT])
    figures = {
        "max_throughput": (fastest[THROUGHPUT], "operations/s", 211_000.0),
        "latency_there": (fastest[LATENCY], "us", 254.0),
        "min_latency": (min(row[LATENCY] for row in rows), "us", 49.0),
        "max_latency": (max(row[LATENCY] for row in rows), "us", 382.0),
    }
    if default is not None:
        figures["max_over_default_throughput"] = (
            fastest[THROUGHPUT] / default[THROUGHPUT],
            "ratio",
            PAPER_SPREAD,
        )
    return [
        reported(
            f"{table.name}_{name}",
            "Jia and Chen, figures 4 and 9",
            unit,
            exactly(value, len(rows)),
            paper,
            engine=table.conditions.engine,
            device=table.conditions.device.name,
        )
        for name, (value, unit, paper) in figures.items()
    ]


def _by_value(table: Recorded, knob: str, figure: str) -> list[Claim]:
    """Reports the maximum throughput for each value of a knob, as a share of the overall maximum."""
    claims = []
    for value in sorted({each[knob] for each in table.rows}):
        own = [row[THROUGHPUT] for each, row in table.rows.items() if each[knob] == value]
        claims.append(
            reported(
                f"max_throughput_at_{knob}_{value}",
                f"Jia and Chen, {figure}",
                "share of the largest throughput",
                exactly(max(own) / table.max_throughput, len(own)),
                engine=table.conditions.engine,
                device=table.conditions.device.name,
            )
        )
    return claims


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
