import math

import pytest
from rich.console import Console

from rocktune.analysis import summary_of_table
from rocktune.cli.research_tables import print_sweep
from rocktune.device import DeviceSpec
from rocktune.table import Conditions, Table, TableRow
from rocktune.trial import FIGURES, Configuration, Status
from rocktune.workload import load_workload

UNKNOWN = dict.fromkeys(FIGURES, math.nan)


def row(knob: int, throughput_ops_s: float, replicate: int = 0) -> TableRow:
    figures = UNKNOWN | {"throughput_ops_s": throughput_ops_s}
    return TableRow(Configuration({"knob": knob}), replicate, Status.OK, "", figures)


def failed(knob: int, status: Status, message: str) -> TableRow:
    return TableRow(Configuration({"knob": knob}), 0, status, message, UNKNOWN)


def table(*rows: TableRow) -> Table:
    conditions = Conditions(
        knobs={"knob": "int"},
        workload=load_workload("zipfian"),
        device=DeviceSpec(name="none"),
        space={"name": "mine"},
        memory_bytes=1 << 30,
        scale=64,
        seed=1,
        measured_s=1.5,
        engine="RocksDB 0.0",
    )
    return Table(conditions, rows)


def test_a_table_tells_its_best_its_noise_and_why_runs_failed() -> None:
    summary = summary_of_table(
        table(
            row(1, 100.0),
            row(2, 110.0, 1),
            row(2, 90.0, 2),
            failed(3, Status.INVALID, "no such option"),
            failed(4, Status.INVALID, "no such option"),
            failed(5, Status.INVALID, "something else"),
            failed(6, Status.CRASHED, ""),
        )
    )
    assert summary["runs"] == 7
    assert summary["configurations"] == 6
    assert summary["failures"] == {"crashed": 1, "invalid": 3}
    assert summary["reasons"] == {"crashed": "", "invalid": "no such option"}
    assert summary["best"]["throughput_ops_s"]["throughput_ops_s"] == 110.0
    # Of logarithms: (ln 110 - ln 90) / sqrt(2)
    assert summary["noise"]["throughput_ops_s"] == pytest.approx(math.log(110 / 90) / math.sqrt(2))


def test_a_sweep_of_which_everything_failed_says_why() -> None:
    summary = summary_of_table(table(failed(1, Status.INVALID, "no such option"))) | {"table": "t.csv"}
    console = Console(width=100, force_terminal=False)
    with console.capture() as captured:
        print_sweep(console, summary)
    assert "1 runs failed: invalid, no such option\n" in captured.get()
