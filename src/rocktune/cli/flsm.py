"""The commands about FLSM stores."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from rocktune import api
from rocktune.cli import options
from rocktune.cli.app import app, show_result
from rocktune.cli.tables import table
from rocktune.units import format_bytes, parse_bytes

_BAR = 40
"""Characters that a full level takes."""

flsm = typer.Typer()
app.add_typer(flsm, name="flsm")


@flsm.command()
def shape(
    db: Annotated[Path, typer.Argument(metavar="DB", help="The store's directory; it may be open.")],
    json: options.Json = False,
) -> None:
    """Show the levels of an FLSM store and their sorted runs."""
    show_result(api.flsm_shape(db), json, _print_shape)


@flsm.command()
def simulate(
    written: Annotated[str, typer.Argument(metavar="SIZE", help="What is written, such as 1TiB.")],
    policies: Annotated[
        str, typer.Option(metavar="NAME|K,K,...", help="A preset, or the runs of each level from the first.")
    ] = "aggressive",
    size_ratio: Annotated[int, typer.Option(metavar="T", help="A level to the one above.")] = 10,
    level1: Annotated[str, typer.Option(metavar="SIZE", help="Capacity of level 1; 0 for T buffers.")] = "0",
    levels: Annotated[int, typer.Option(metavar="N", help="At most so many levels.")] = 6,
    granularity: Annotated[
        str, typer.Option(metavar="levels|files", help="What is pushed down at a time.")
    ] = "levels",
    write_buffer: Annotated[str, typer.Option(metavar="SIZE", help="What is flushed at a time.")] = "64MiB",
    then: Annotated[
        str | None, typer.Option(metavar="NAME|K,K,...", help="Policies that it is changed to afterwards.")
    ] = None,
    transition: Annotated[
        str, typer.Option(metavar="flexible|lazy|greedy", help="How it is changed.")
    ] = "flexible",
    json: options.Json = False,
) -> None:
    """Work out what policies make of an FLSM store of any size, without one: writes, runs, levels."""
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
    show_result(api.simulate_flsm(parse_bytes(written), **asked), json, _print_simulation)


def _policies(text: str) -> str | list[int]:
    """Returns `4,2,1` as numbers, and anything else as it is: the name of a preset."""
    if not re.fullmatch(r"\d+(,\d+)*", text):
        return text
    return [int(policy) for policy in text.split(",")]


def _print_simulation(console: Console, found: Mapping[str, Any]) -> None:
    written = format_bytes(found["written_bytes"])
    console.print(
        f"{format_bytes(found['user_bytes'])} written by the user, {written} to the device: "
        f"write amplification {found['write_amplification']:.2f} without the log"
    )
    if "transition_written_bytes" in found:
        console.print(f"the change wrote {format_bytes(found['transition_written_bytes'])} at once")
    _print_shape(console, found["shape"])


def _print_shape(console: Console, found: Mapping[str, Any]) -> None:
    rows = table("level", "K", "runs", "bytes", "full", "", numbers=("level", "K", "runs", "bytes", "full"))
    rows.add_row("0", "", str(found["level0_files"]), format_bytes(found["level0_bytes"]), "", "")
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
    console.print("The newest run comes first; ▒ takes nothing more in.")


def _bar(level: Mapping[str, Any]) -> str:
    """Returns a level's runs to scale, a full level being as wide as any other."""
    runs = []
    for size, sealed in zip(level["run_bytes"], level["sealed"], strict=True):
        width = max(1, round(_BAR * size / level["capacity_bytes"]))
        runs.append(("▒" if sealed else "█") * width)
    return "│".join(runs)
