"""Table IV of Jia and Chen: R² of the two most important knobs, on all recorded tables."""

from pathlib import Path

import numpy as np

from benchmarks.common.claims import Claim, Settings, decided, exactly, main, reported, write_csv
from benchmarks.common.figures import Panel, bars, write_figure
from benchmarks.jia_chen.shared import LATENCY, TABLES, THROUGHPUT, as_table, made_up
from rocktune.analysis import importance_of
from rocktune.table import Table, read_table

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


def importance(settings: Settings) -> list[Claim]:
    """Reports R² of each knob with the paper's: the first alone, the others given the first."""
    tables = _tables(settings)
    claims, rows, panels, agreed = [], [], [], []
    for name, table in tables.items():
        for field, knobs in importance_of(table, (THROUGHPUT, LATENCY), settings.seed).items():
            for place, each in enumerate(knobs):
                r2 = each["r2"] if place == 0 else each["r2_given_first"]
                rows.append({"table": name, "field": field, **each, "given": str(each["given"])})
                if place < 2:
                    claims.append(
                        reported(
                            f"r2_{name}_{field}_{each['knob']}",
                            f"Jia and Chen, table IV; {'first' if place == 0 else 'second'} here",
                            "R²",
                            exactly(r2, len(table.rows)),
                            PAPER.get((name, field), {}).get(each["knob"], "not among the first two"),
                            engine=table.conditions.engine,
                            device=table.conditions.device.name,
                        )
                    )
            names = [each["knob"] for each in knobs]
            agreed += [float(knob in names[:2]) for knob in PAPER.get((name, field), {})]
            shown = [each["r2"] if place == 0 else each["r2_given_first"] for place, each in enumerate(knobs)]
            traces = [bars("R²", names, shown), bars("fANOVA", names, [each["fanova"] for each in knobs])]
            panels.append(Panel(f"{name}: {field}", "", "R², the others' given the first", traces))
    if settings.out is not None:
        write_csv(settings.out / "importance.csv", rows)
    write_figure(settings, "Table IV", panels)
    conditions = [table.conditions for table in tables.values()]
    agreement = reported(
        "the_papers_first_two_knobs_are_ours",
        "Jia and Chen, table IV; findings 10 and 11",
        "share of the paper's first two knobs that are among our first two, over all tables and figures",
        exactly(float(np.mean(agreed)), len(agreed)),
        "max_write_buffer_number and threads",
        engine=conditions[0].engine,
        device=", ".join(dict.fromkeys(each.device.name for each in conditions)),
    )
    return [decided(agreement, low=1, why="Threads are; the number of write buffers is not"), *claims]


def _tables(settings: Settings) -> dict[str, Table]:
    if settings.quick:
        return {"zipfian-pcie": as_table(made_up())}
    return {path.stem: read_table(path) for path in sorted(Path(TABLES).glob("*.csv"))}


if __name__ == "__main__":
    main("jia_chen.importance", importance)
