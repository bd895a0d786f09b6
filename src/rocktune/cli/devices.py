"""The commands for devices: `rocktune device measure`."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from rocktune import api
from rocktune.api.devices import DEFAULT_BYTES, DEFAULT_SECONDS, PreparedDeviceMeasurement
from rocktune.cli import options
from rocktune.cli.app import app, show_result
from rocktune.cli.output import print_line, stderr, table
from rocktune.cli.progress import ProgressDisplay
from rocktune.errors import UserError
from rocktune.report import FIGURE_LABELS, format_device_figure
from rocktune.units import format_bytes, format_seconds

devices = typer.Typer()
app.add_typer(devices, name="device")


@devices.callback(invoke_without_command=True)
def device(context: typer.Context) -> None:
    """Measure disks as devices for studies."""
    if context.invoked_subcommand is None:
        print_line(context.get_help())


@devices.command()
def measure(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="Existing directory on the disk.", show_default=False)
    ],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE.toml", help="New device file, for --device FILE.toml.")
    ] = None,
    size: Annotated[
        str, typer.Option("--bytes", metavar="SIZE", help="Maximum number of bytes written.")
    ] = DEFAULT_BYTES,
    seconds: Annotated[str, typer.Option(metavar="TIME", help="Maximum duration.")] = f"{DEFAULT_SECONDS}s",
    compare: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|FILE", help="Device to compare the figures with; see 'rocktune list devices'."
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Write to the disk without asking.")] = False,
    json: options.Json = False,
) -> None:
    """Measure what a disk gives RocksDB: bandwidth, operations per second and latencies.

    Writes into a new subdirectory, which is removed afterwards. Other programs that use the disk meanwhile
    are slowed down, and the figures are too low.
    """
    prepared = api.prepare_device_measurement(directory, out=out, size=size, seconds=seconds, compare=compare)
    if not yes:
        _ask(prepared)
    with ProgressDisplay(stderr()) as display:
        measured = prepared.run(display)
    show_result(measured, json, _print_measured)


def _ask(prepared: PreparedDeviceMeasurement) -> None:
    """Asks on the terminal whether to write to the disk; ends the command with 1 if not.

    Raises:
        UserError: there is no terminal to ask on.
    """
    request = prepared.request
    plan = (
        f"writes up to {format_bytes(request.max_bytes)} into {request.directory} "
        f"for about {format_seconds(request.seconds)}"
    )
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UserError(f"device measure: {plan}; give --yes to agree, there is no terminal to ask on")
    # On standard error, so that --json has standard output for itself.
    stderr().print(f"This {plan}. Go on? [y/N] ", end="", soft_wrap=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        print_line("Nothing was written.", error=True)
        raise typer.Exit(1)


def _print_measured(console: Console, measured: Mapping[str, Any]) -> None:
    """Prints the figures of a disk, beside those of the device that it is compared with."""
    figures, comparison = measured["device"], measured["comparison"]
    if comparison is None:
        rows = table("", measured["directory"], numbers=(measured["directory"],))
        for name, label in FIGURE_LABELS.items():
            rows.add_row(label, format_device_figure(name, figures[name]))
    else:
        heads = ("measured", measured["compared_with"], "ratio")
        rows = table("", *heads, "", numbers=heads)
        for row in comparison:
            name = row["figure"]
            ratio = "" if row["ratio"] is None else f"{row['ratio']:.2f}"
            limit = format_device_figure(name, row["device"]) if row["device"] else _absent(name)
            rows.add_row(
                FIGURE_LABELS[name],
                format_device_figure(name, row["measured"]),
                limit,
                ratio,
                "differs" if row["differs"] else "",
            )
    console.print(rows)
    for note in measured["notes"]:
        print_line(note)
    if comparison is not None:
        print_line(_verdict(measured))
    if measured["file"] is not None:
        print_line(f"Device file: {measured['file']}")


def _verdict(measured: Mapping[str, Any]) -> str:
    """Returns a sentence on the figures that differ."""
    differing = [FIGURE_LABELS[row["figure"]] for row in measured["comparison"] if row["differs"]]
    if not differing:
        return f"No figure differs from {measured['compared_with']} by more than 25%."
    return f"More than 25% from {measured['compared_with']}: {', '.join(differing)}."


def _absent(figure: str) -> str:
    """Returns what 0 means for a figure of a device."""
    return "no limit" if figure in ("bandwidth_bytes_s", "iops") else "none added"
