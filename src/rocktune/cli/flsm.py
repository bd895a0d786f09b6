"""The commands for FLSM stores: `rocktune flsm shape`, `simulate` and `map`."""

import math
import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from rocktune import api
from rocktune.api.tradeoff import SHAPES
from rocktune.cli import options
from rocktune.cli.account_table import print_account_and_notes
from rocktune.cli.app import announced, app, show_result
from rocktune.cli.output import print_line, stderr, table
from rocktune.cli.progress import ProgressDisplay
from rocktune.errors import UserError
from rocktune.units import format_bytes, format_seconds, parse_bytes

_BAR = 40
"""Width of a full level in characters."""

flsm_stores = typer.Typer()
app.add_typer(flsm_stores, name="flsm")


@flsm_stores.callback(invoke_without_command=True)
def flsm(context: typer.Context) -> None:
    """Show, simulate and compare the shapes of FLSM stores."""
    if context.invoked_subcommand is None:
        print_line(context.get_help())


@flsm_stores.command()
def shape(
    db: Annotated[
        Path,
        typer.Argument(metavar="DB", help="Directory of the store, which may be open in another process."),
    ],
    json: options.Json = False,
) -> None:
    """Show the levels of an FLSM store and their sorted runs."""
    show_result(api.flsm_shape(db), json, _print_shape)


@flsm_stores.command()
def simulate(
    written: Annotated[str, typer.Argument(metavar="SIZE", help="Bytes to write, such as 1TiB.")],
    policies: Annotated[
        str, typer.Option(metavar="NAME|K,K,...", help="Preset, or runs of each level from the first.")
    ] = "aggressive",
    size_ratio: Annotated[
        int, typer.Option(metavar="T", help="Capacity of a level over that of the level above.")
    ] = 10,
    level1: Annotated[
        str, typer.Option(metavar="SIZE", help="Capacity of level 1; 0 for T write buffers.")
    ] = "0",
    levels: Annotated[int, typer.Option(metavar="N", help="Maximum number of levels.")] = 6,
    granularity: Annotated[
        str, typer.Option(metavar="levels|files", help="Move whole levels down, or single files.")
    ] = "levels",
    write_buffer: Annotated[str, typer.Option(metavar="SIZE", help="Bytes of one flush.")] = "64MiB",
    then: Annotated[
        str | None, typer.Option(metavar="NAME|K,K,...", help="Policies to change to after writing.")
    ] = None,
    transition: Annotated[
        str, typer.Option(metavar="flexible|lazy|greedy", help="How to change the policies.")
    ] = "flexible",
    json: options.Json = False,
) -> None:
    """Compute how policies shape an FLSM store of any size.

    Needs no store and no data. Prints written bytes, levels and their sorted runs.
    """
    asked: dict[str, Any] = {
        "policies": _policies(policies),
        "size_ratio": size_ratio,
        "level1_bytes": parse_bytes(level1),
        "levels": levels,
        "granularity": granularity,
        "write_buffer_bytes": parse_bytes(write_buffer),
        "then": None if then is None else _policies(then),
        "transition": transition,
    }
    with ProgressDisplay(stderr()) as display:
        found = api.simulate_flsm(parse_bytes(written), observer=display, **asked)
    show_result(found, json, _print_simulation)


@flsm_stores.command("map")
def trade_off(
    device: options.NeededDevice,
    workload: options.Workload = None,
    scale: options.Scale = None,
    shapes: Annotated[
        str,
        typer.Option(
            metavar="K,NAME,...", help="Shapes: a K for all levels, a preset, leveled or universal."
        ),
    ] = ",".join(SHAPES),
    lookups: Annotated[
        str,
        typer.Option(
            metavar="PERCENT,...", help="Shares of lookups to measure; all other operations are puts."
        ),
    ] = "10,50,90,99",
    absent: Annotated[
        bool, typer.Option("--absent", help="Look up keys that the store does not have.")
    ] = False,
    filters: Annotated[
        str, typer.Option(metavar="uniform,monkey", help="How Bloom filters share their memory among levels.")
    ] = "uniform",
    bits: Annotated[
        str, typer.Option(metavar="N,...", help="Mean bits of Bloom filters for each key.")
    ] = "8",
    size_ratio: Annotated[
        int, typer.Option(metavar="T", help="Capacity of a level over that of the level above.")
    ] = 10,
    warm: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Load before each measurement, at full size; 1280 s by default."),
    ] = None,
    measure: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Time of each measurement, at full size; 2560 s by default, for slow devices.",
        ),
    ] = None,
    repeats: Annotated[int, typer.Option(metavar="N", help="Number of runs of each point.")] = 1,
    option: options.Assignments = None,
    options_file: options.OptionsFile = None,
    column_family: options.ColumnFamily = None,
    seed: options.Seed = None,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Directory of map.html.")] = Path("map"),
    verbose: options.Verbose = False,
    json: options.Json = False,
) -> None:
    """Measure which shape of the tree suits which mix of operations."""
    asked: dict[str, Any] = {
        "device": device,
        "workload": workload,
        "scale": scale,
        "shapes": shapes.split(","),
        # Percent on the command line, shares in the API.
        "lookups": [share / 100 for share in _numbers("--lookups", lookups)],
        "absent": absent,
        "filters": filters.split(","),
        "bits_per_key": _numbers("--bits", bits),
        "size_ratio": size_ratio,
        "warm": warm,
        "measure": measure,
        "repeats": repeats,
        "options": options.assignments("--option", option),
        "options_file": options_file,
        "column_family": column_family,
        "seed": seed,
    }
    with announced(api.estimate_map(**asked), json, _print_estimate) as display:
        found = api.map_flsm(observer=display, out=out, **asked)
    show_result(found, json, partial(_print_map, verbose=verbose))


def _numbers(name: str, text: str) -> list[float]:
    """Returns the numbers of a list with commas.

    Raises:
        UserError: a part is not a number.
    """
    try:
        return [float(number) for number in text.split(",")]
    except ValueError:
        raise UserError(f"{name}: '{text}' must be numbers with commas between them") from None


def _print_estimate(console: Console, estimate: Mapping[str, Any]) -> None:
    """Prints how long a map will take."""
    console.print(
        f"Measures for {format_seconds(estimate['total_s'])} on a model of {estimate['scale']}; "
        "loading the stores comes on top."
    )


def _print_map(console: Console, found: Mapping[str, Any], verbose: bool) -> None:
    """Prints a map's points, each with its share of the best throughput for the same mix."""
    print_account_and_notes(console, found, verbose)
    rows = table(
        "lookups", "shape", "filters", "bits", "operations/s", "of the best", "read p99 (µs)", "write ampl.",
        numbers=("lookups", "bits", "operations/s", "of the best", "read p99 (µs)", "write ampl."),
    )  # fmt: skip
    best: dict[float, float] = {}
    for row in found["summary"]:
        best[row["lookups"]] = max(best.get(row["lookups"], 0.0), row["throughput_ops_s"])
    for row in found["summary"]:
        rows.add_row(
            f"{row['lookups']:.0%}",
            row["shape"],
            row["filters"],
            f"{row['bits_per_key']:g}",
            f"{row['throughput_ops_s']:,.0f}",
            f"{row['throughput_ops_s'] / best[row['lookups']]:.0%}",
            _number(row["read_latency_us_p99"], ",.0f"),
            _number(row["write_amplification"], ".1f"),
        )
    console.print(rows)
    if "report" in found:
        print_line(f"Map: {found['report']}")


def _number(value: float, style: str) -> str:
    """Returns a number as text, a dash for NaN."""
    return "–" if math.isnan(value) else format(value, style)


def _policies(text: str) -> str | list[int]:
    """Returns `4,2,1` as a list of numbers, and any other text, a preset's name, unchanged."""
    # The API checks names, so a misspelt preset gets a suggestion there.
    if not re.fullmatch(r"\d+(,\d+)*", text):
        return text
    return [int(policy) for policy in text.split(",")]


def _print_simulation(console: Console, found: Mapping[str, Any]) -> None:
    """Prints the written bytes and the shape of a simulated store."""
    written = format_bytes(found["written_bytes"])
    console.print(
        f"{format_bytes(found['user_bytes'])} written by the user, {written} to the device: "
        f"write amplification {found['write_amplification']:.2f} without the WAL"
    )
    if "transition_written_bytes" in found:
        console.print(
            f"The change of policies wrote {format_bytes(found['transition_written_bytes'])} at once."
        )
    _print_shape(console, found["shape"])


def _print_shape(console: Console, found: Mapping[str, Any]) -> None:
    """Prints the levels of a shape with their runs as bars."""
    rows = table("level", "K", "runs", "bytes", "full", "", numbers=("level", "K", "runs", "bytes", "full"))
    rows.add_row("0", "", str(found["level0_files"]), format_bytes(found["level0_bytes"]), "", "")
    # Deeper levels are empty and would only lengthen the table.
    used = max((number for number, level in enumerate(found["levels"], 1) if level["run_bytes"]), default=1)
    for number, level in enumerate(found["levels"][:used], 1):
        held = sum(level["run_bytes"])
        rows.add_row(
            str(number),
            str(level["policy"]),
            str(len(level["run_bytes"])),
            format_bytes(held),
            f"{held / level['capacity_bytes']:.0%}",
            _bar(level),
        )
    console.print(f"{found['runs']} sorted runs, each level {found['size_ratio']} times the one above")
    console.print(rows)
    console.print("Newest run first. ▒ is sealed: it takes no more data.")


def _bar(level: Mapping[str, Any]) -> str:
    """Returns a level's runs as a bar in which every full level has the same width."""
    runs = []
    for size, sealed in zip(level["run_bytes"], level["sealed"], strict=True):
        # A run that is too small for a character would otherwise vanish, and the bar would show too few runs.
        width = max(1, round(_BAR * size / level["capacity_bytes"]))
        runs.append(("▒" if sealed else "█") * width)
    return "│".join(runs)
