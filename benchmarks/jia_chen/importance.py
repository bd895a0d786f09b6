"""Table IV of Jia and Chen: R² of the two most important knobs, on all recorded tables.

Intervals come from runs drawn with replacement from each table, so they say what its sample allows.
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.common.claims import Claim, Measured, Settings, decided, main, reported
from benchmarks.common.figures import Panel, bars, write_figure
from benchmarks.common.tables import write_csv
from benchmarks.jia_chen.shared import LATENCY, TABLES, THROUGHPUT, as_table, made_up
from rocktune.analysis import explained_by_knobs, importance_of
from rocktune.table import Table, read_table
from rocktune.trial import Status

PAPER = {
    ("zipfian-pcie", THROUGHPUT): {"max_write_buffer_number": 0.91, "threads": 0.74},
    ("hotspot-pcie", THROUGHPUT): {"max_write_buffer_number": 0.92, "threads": 0.89},
    ("random-pcie", THROUGHPUT): {"max_write_buffer_number": 0.90, "threads": 0.96},
    ("zipfian-sata", THROUGHPUT): {"max_write_buffer_number": 0.93, "threads": 0.68},
    ("zipfian-pcie", LATENCY): {"max_write_buffer_number": 0.66, "threads": 0.89},
    ("hotspot-pcie", LATENCY): {"max_write_buffer_number": 0.84, "threads": 0.70},
    ("random-pcie", LATENCY): {"max_write_buffer_number": 0.77, "threads": 0.86},
    ("zipfian-sata", LATENCY): {"max_write_buffer_number": 0.54, "threads": 0.85},
}
"""Table IV on M3 and M4; random on M1, the only machine it was run on."""
DRAWS = 200
"""Samples that are drawn from each table for the intervals."""
Explained = Sequence[Mapping[str, Any]]
"""Knobs with their R², the most important first."""


def importance(settings: Settings) -> list[Claim]:
    """Reports R² of each knob with the paper's: the first alone, the others given the first."""
    tables = _tables(settings)
    claims, rows, panels = [], [], []
    agreed: list[NDArray[np.float64]] = []
    for name, table in tables.items():
        for field, knobs in importance_of(table, (THROUGHPUT, LATENCY), settings.seed).items():
            drawn = _drawn(table, field, 3 if settings.quick else DRAWS, settings.seed)
            for place, each in enumerate(knobs):
                r2 = each["r2"] if place == 0 else each["r2_given_first"]
                rows.append({"table": name, "field": field, **each, "given": str(each["given"])})
                if place < 2:
                    claims.append(
                        reported(
                            f"r2_{name}_{field}_{each['knob']}",
                            f"Jia and Chen, table IV; {'first' if place == 0 else 'second'} here",
                            "R²",
                            _around(
                                r2, [_r2(found, each["knob"], place) for found in drawn], len(table.rows)
                            ),
                            PAPER.get((name, field), {}).get(each["knob"], "not among the first two"),
                            engine=table.conditions.engine,
                            device=table.conditions.device.name,
                        )
                    )
            names = [each["knob"] for each in knobs]
            papers = PAPER.get((name, field), {})
            agreed += [np.array([_among_two(each, knob) for each in (knobs, *drawn)]) for knob in papers]
            shown = [each["r2"] if place == 0 else each["r2_given_first"] for place, each in enumerate(knobs)]
            traces = [bars("R²", names, shown), bars("fANOVA", names, [each["fanova"] for each in knobs])]
            panels.append(Panel(f"{name}: {field}", "", "R², the others' given the first", traces))
    if settings.out is not None:
        write_csv(settings.out / "importance.csv", rows)
    write_figure(settings, "Table IV", panels)
    conditions = [table.conditions for table in tables.values()]
    shares = np.mean(agreed, axis=0).tolist()
    agreement = reported(
        "the_papers_first_two_knobs_are_ours",
        "Jia and Chen, table IV; findings 10 and 11",
        "share of the paper's first two knobs that are among our first two, over all tables and figures",
        _around(shares[0], shares[1:], len(agreed)),
        "max_write_buffer_number and threads",
        engine=conditions[0].engine,
        device=", ".join(dict.fromkeys(each.device.name for each in conditions)),
    )
    return [decided(agreement, low=1, why="Threads are; the number of write buffers is not"), *claims]


def _drawn(table: Table, field: str, draws: int, seed: int) -> list[Explained]:
    """Returns the knobs' R² on samples of as many runs as the table has, drawn with replacement."""
    rng = np.random.default_rng(seed)
    runs = [row for row in table.rows if row.status is Status.OK and not math.isnan(row.figures[field])]
    samples = rng.integers(len(runs), size=(draws, len(runs)))
    return [explained_by_knobs([runs[index] for index in sample], field) for sample in samples.tolist()]


def _r2(found: Explained, knob: str, place: int) -> float:
    """Returns R² of a knob alone (place 0), or given the first knob; 0 if it became the first one."""
    (own,) = (each for each in found if each["knob"] == knob)
    return float((own["r2"] if place == 0 else own["r2_given_first"]) or 0.0)


def _among_two(found: Explained, knob: str) -> float:
    return float(knob in [each["knob"] for each in found[:2]])


def _around(value: float, drawn: Sequence[float], runs: int) -> Measured:
    """Returns a share with the 95% interval of the drawn samples' deviation, within 0 and 1."""
    half = 1.96 * float(np.std(drawn))
    return Measured(value, max(0.0, value - half), min(1.0, value + half), runs)


def _tables(settings: Settings) -> dict[str, Table]:
    if settings.quick:
        return {"zipfian-pcie": as_table(made_up())}
    return {path.stem: read_table(path) for path in sorted(Path(TABLES).glob("*.csv"))}


if __name__ == "__main__":
    main("jia_chen.importance", importance)
