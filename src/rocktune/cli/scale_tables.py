"""Results of scale checks as text for a terminal."""

from collections.abc import Mapping
from typing import Any

from rich.console import Console

from rocktune.cli.output import print_json, stdout, table
from rocktune.cli.tables import print_notes
from rocktune.outcome import ScaleCheck
from rocktune.report.findings import field_label, format_field
from rocktune.report.scale import check_notes, check_statement
from rocktune.units import format_seconds


def print_estimate(console: Console, estimate: Mapping[str, Any], verbose: bool = False) -> None:
    """Prints the number of runs of a scale check and their estimated time."""
    console.print(
        f"Scale check '{estimate['study']}': {estimate['configurations']} configurations at "
        f"{estimate['scale']} and {estimate['larger_scale']}, at most {estimate['runs']} runs, about "
        f"{format_seconds(estimate['total_s'])} plus loading. Ctrl-C stops it; "
        f"'rocktune resume {estimate['study']}' continues.",
        soft_wrap=True,
    )
    print_notes(console, estimate, verbose)


def show(check: ScaleCheck, json: bool) -> None:
    """Prints the result of a scale check, as a JSON document if `json`."""
    if json:
        print_json(check.to_json())
    else:
        print_check(stdout(), check)


def print_check(console: Console, check: ScaleCheck) -> None:
    """Prints the verdict, and the configurations that the checked model ranks highest."""
    console.print()
    console.print(_capital(check_statement(check)), style="bold", soft_wrap=True)
    console.print()
    if check.foremost:
        heads = (
            f"at {check.scale}",
            f"rank at {check.larger_scale}",
            f"at {check.larger_scale}",
            "mean of more runs",
        )
        first = f"{field_label(check.figure)}, rank at {check.scale}"
        made = table(first, *heads, numbers=(first, *heads))
        for each in check.foremost:
            figures = (each.figure, each.larger_figure, each.larger_mean)
            small, larger, mean = (format_field(check.figure, figure) for figure in figures)
            made.add_row(str(each.rank), small, str(each.larger_rank), larger, mean)
        console.print(made)
        console.print()
    for note in check_notes(check):
        console.print(note, soft_wrap=True)


def _capital(sentence: str) -> str:
    """Returns a sentence with a capital at its beginning."""
    return sentence[:1].upper() + sentence[1:]
