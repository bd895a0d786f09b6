"""The commands about FLSM stores."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from rocktune import api
from rocktune.cli import options
from rocktune.cli.app import app, show_result
from rocktune.cli.tables import table
from rocktune.units import format_bytes

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
