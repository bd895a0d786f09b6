"""Shared code of Jia and Chen's benchmarks: recorded tables with their best values."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from benchmarks.common.claims import ROOT, Settings
from rocktune.device import DeviceSpec
from rocktune.engine.recorded.interpolation import Interpolation
from rocktune.errors import UserError
from rocktune.space import Configuration, Space, load_space, space_from_document
from rocktune.study.specs.problem import expected_entries
from rocktune.table import Conditions, Table, TableRow, read_table
from rocktune.trial import FIGURES, Status
from rocktune.workload import load_workload

THROUGHPUT = "throughput_ops_s"
LATENCY = "read_latency_us_p99"
NEAR = 0.95
TABLES = ROOT / "docs" / "evidence" / "jia_chen" / "tables"
DEFAULT_TABLE = str(TABLES / "zipfian-pcie.csv")
_NOTHING = dict.fromkeys(FIGURES, math.nan)


@dataclass(frozen=True)
class Recorded:
    """A table with one run of each configuration, and its best values.

    Attributes:
        name: name of the table.
        conditions: conditions of the measurements.
        space: space of the configurations.
        rows: figures by configuration, without failed ones.
        stated_bound_us: bound of the latency in microseconds; None for the table's own, see `bound_us`.
        parts: number of the part of the table that each configuration was measured in; empty if not known.
    """

    name: str
    conditions: Conditions
    space: Space
    rows: dict[Configuration, dict[str, float]]
    stated_bound_us: float | None = None
    parts: Mapping[Configuration, int] = field(default_factory=dict)

    @property
    def max_throughput(self) -> float:
        """The unbounded maximum of throughput in operations per second."""
        return max(row[THROUGHPUT] for row in self.rows.values())

    @property
    def bound_us(self) -> float:
        """The stated bound, else the latency at which the bounded maximum is 95% of the unbounded one."""
        if self.stated_bound_us is not None:
            return self.stated_bound_us
        near = [row for row in self.rows.values() if row[THROUGHPUT] >= NEAR * self.max_throughput]
        return min(row[LATENCY] for row in near)

    def bounded_maximum(self, bound_us: float) -> float:
        """Returns the maximum throughput with a latency of at most `bound_us`; 0 if there is none."""
        return max((row[THROUGHPUT] for row in self.rows.values() if row[LATENCY] <= bound_us), default=0.0)

    def targets(self, rows: Mapping[Configuration, Mapping[str, float]]) -> dict[Configuration, float]:
        """Returns equation 6 for each row, with the table's own maxima; larger is better."""
        throughput = self.max_throughput
        latency = max(row[LATENCY] for row in self.rows.values())
        return {each: row[THROUGHPUT] / throughput - row[LATENCY] / latency for each, row in rows.items()}


def recorded(settings: Settings) -> Recorded:
    """Returns the table that the flag `--table` names; a smoke run has formulas instead.

    Args:
        settings: with the flags `table`, and if they are there `interpolate` (yes or no) and `bound_us`.
    """
    if settings.quick:
        return made_up()
    path = Path(str(settings.extra["table"]))
    if not path.exists():
        raise UserError(f"table {path}: is not there; 'python -m benchmarks.jia_chen.tables' makes it")
    make = interpolated if settings.extra.get("interpolate") == "yes" else one_run_each
    bound_us = str(settings.extra.get("bound_us", ""))
    return replace(make(path.stem, read_table(path)), stated_bound_us=float(bound_us) if bound_us else None)


def one_run_each(name: str, table: Table) -> Recorded:
    """Returns a table without its control runs and failures."""
    swept = [row for row in table.rows if row.replicate == 0 and row.status is Status.OK]
    rows = {row.configuration: {each: row.figures[each] for each in (THROUGHPUT, LATENCY)} for row in swept}
    return Recorded(name, table.conditions, _space(table.conditions), rows, parts=_parts(table))


def _parts(table: Table) -> dict[Configuration, int]:
    """Returns the part of each configuration; each part begins with the control's first replicate."""
    parts: dict[Configuration, int] = {}
    part = last = 0
    for row in table.rows:
        if row.replicate:
            part += row.replicate <= last
            last = row.replicate
        else:
            parts[row.configuration] = part
    return parts


def interpolated(name: str, table: Table) -> Recorded:
    """Returns a table of all configurations of the space: a model's figures with the table's noise added."""
    model = Interpolation(table, (THROUGHPUT, LATENCY))
    space, seed = _space(table.conditions), table.conditions.seed
    described = f"{name}, interpolated ({model.describe()})"
    rows = {each: dict(model.figures(each, seed)) for each in space.grid()}
    return Recorded(described, table.conditions, space, rows)


def _space(conditions: Conditions) -> Space:
    entries = expected_entries(conditions.workload, conditions.device)
    return space_from_document(conditions.space, conditions.memory_bytes, entries)


def made_up() -> Recorded:
    """Returns Jia and Chen's space with formulas as figures, for smoke runs."""
    space = load_space("jia-chen", None, 1e8)
    rng = np.random.default_rng(0)
    rows = {}
    for each in space.grid():
        threads, buffers = float(each["threads"]), float(each["max_write_buffer_number"])
        compactions = float(each["max_background_compactions"])
        stalls = 1 / (1 + threads / (buffers * compactions))
        throughput = 3000 * threads**0.8 * stalls * math.exp(rng.normal(0, 0.02))
        latency = 1000 * threads**0.9 * (1.5 - stalls) * math.exp(rng.normal(0, 0.02))
        rows[each] = {THROUGHPUT: throughput, LATENCY: latency}
    conditions = Conditions(
        knobs={knob.name: "int" for knob in space.knobs},
        workload=load_workload("zipfian"),
        device=DeviceSpec(name="none"),
        space={"name": "jia-chen"},
        memory_bytes=space.memory_bytes,
        scale=64,
        seed=1,
        measured_s=180 / 64,
        engine="formulas, RocksDB 0.0",
    )
    return Recorded("made-up", conditions, space, rows)


def as_table(of: Recorded) -> Table:
    """Returns the table with one run of each configuration that `one_run_each` takes."""
    rows = (TableRow(each, 0, Status.OK, "", {**_NOTHING, **row}) for each, row in of.rows.items())
    return Table(of.conditions, tuple(rows))
