"""What sweeps and tables say, as compact text for a terminal."""

from collections.abc import Mapping
from typing import Any

from rich.console import Console

from rocktune.cli.tables import table
from rocktune.report import findings
from rocktune.units import format_seconds


def print_sweep_estimate(console: Console, estimate: Mapping[str, Any]) -> None:
    """Prints what a sweep will take, before it begins."""
    console.print(
        f"Sweep '{estimate['study']}' at scale {estimate['scale']}: {estimate['runs']:,} runs, about "
        f"{format_seconds(estimate['total_s'])} and the loading of data. Ctrl-C ends it; "
        f"'rocktune resume {estimate['study']}' goes on.",
        soft_wrap=True,
    )


def print_sweep(console: Console, summary: Mapping[str, Any]) -> None:
    """Prints what is in a table: extremes, noise, failures, and where it is."""
    console.print(
        f"{summary['workload']} on {summary['device']}, {summary['engine']}: "
        f"{summary['configurations']:,} configurations in {summary['runs']:,} runs of "
        f"{format_seconds(summary['measured_s'])}"
    )
    console.print()
    if summary["best"]:
        console.print(_extremes(summary))
        console.print()
    for status, count in summary["failures"].items():
        console.print(f"{count} runs failed: {status}")
    console.print(f"Table: {summary['table']}", soft_wrap=True)


def _extremes(summary: Mapping[str, Any]) -> Any:
    heads = [f"best {findings.field_label(field)}" for field in summary["best"]]
    made = table("", *heads, "noise", numbers=(*heads, "noise"))
    for field in summary["best"]:
        unit = findings.field_unit(field)
        cells = [findings.format_field(field, best[field]) for best in summary["best"].values()]
        noise = summary["noise"][field]
        made.add_row(
            f"{findings.field_label(field)}, {unit}", *cells, "–" if noise is None else f"{noise:.1%}"
        )
    configurations = [best["configuration"] for best in summary["best"].values()]
    for name in configurations[0]:
        made.add_row(name, *(findings.format_option(name, each[name]) for each in configurations), "")
    return made
