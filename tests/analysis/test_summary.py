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


def test_configurations_with_different_active_knobs_are_shown_side_by_side() -> None:
    def measured(knobs: dict[str, int], throughput_ops_s: float, latency_us: float) -> TableRow:
        figures = UNKNOWN | {"throughput_ops_s": throughput_ops_s, "read_latency_us_p99": latency_us}
        return TableRow(Configuration(knobs), 0, Status.OK, "", figures)

    fast, quick = measured({"knob": 1, "left": 2}, 20.0, 9.0), measured({"knob": 1, "right": 3}, 10.0, 1.0)
    console = Console(width=100, force_terminal=False)
    with console.capture() as captured:
        print_sweep(console, summary_of_table(table(fast, quick)) | {"table": "t.csv"})
    cells = {line.split()[0]: line.split()[1:] for line in captured.get().splitlines() if line.strip()}
    assert cells["left"] == ["2", "–"]
    assert cells["right"] == ["–", "3"]
    assert cells["knob"] == ["1", "1"]
