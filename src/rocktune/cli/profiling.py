"""The command `rocktune profile`."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from rocktune import api
from rocktune.api.profiling import StoreProfile
from rocktune.cli import options
from rocktune.cli.app import app
from rocktune.cli.output import print_json, print_line, stderr, stdout, table
from rocktune.cli.progress import ProgressDisplay


@app.command()
def profile(
    sources: Annotated[
        list[Path],
        typer.Argument(
            metavar="DB_DIR|LOG|TRACE...",
            help="A database's directory, LOG files of it, a trace of its operations, or several of these.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.toml", help="New study file; workload and device go into the same directory."
        ),
    ] = None,
    json: options.Json = False,
) -> None:
    """Make a study file of what a store shows of its load.

    Reads LOG, OPTIONS file and the properties of tables, never the database's keys or values. Nothing is
    written to its directory, and it may be in use. A trace tells the operations best. Shows what each number
    rests on.
    """
    with ProgressDisplay(stderr()) as display:
        made = api.profile(sources, out=out, observer=display)
    if json:
        print_json(api.profile_json(made))
        return
    _print_profile(stdout(), made)


def _print_profile(console: Console, made: StoreProfile) -> None:
    rows = table("", "value", "basis", "why")
    for finding in made.profile.findings:
        rows.add_row(finding.what, finding.value, str(finding.basis), finding.why)
    console.print(rows)
    for sentence in made.profile.left_out:
        console.print(f"Left out: {sentence}", soft_wrap=True)
    if made.disk is None:
        print_line(
            "Device: no disk of this file system was measured; 'rocktune device measure DIR --out disk.toml' "
            "does, and --device disk.toml names it."
        )
    else:
        print_line(f"Device: as measured in {made.disk.directory} on {made.disk.date}")
    if made.study_file is None:
        print_line("Nothing was written; --out study.toml writes a study file.")
    else:
        print_line(f"Study: {made.study_file}; run it with: rocktune tune {made.study_file}")
