"""The commands for workload files: `rocktune workload from-ycsb`, `rocktune workload from-db-bench`."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from rocktune import api
from rocktune.api.workloads import WrittenWorkload
from rocktune.cli import options
from rocktune.cli.app import app
from rocktune.cli.output import print_json, print_line, stdout, table

workloads = typer.Typer()
app.add_typer(workloads, name="workload")
_Out = Annotated[
    Path | None,
    typer.Option(metavar="FILE.toml", help="New workload file; by default named after the source."),
]


@workloads.callback(invoke_without_command=True)
def workload(context: typer.Context) -> None:
    """Write workload files from the descriptions of other programs."""
    if context.invoked_subcommand is None:
        print_line(context.get_help())


@workloads.command(name="from-ycsb")
def from_ycsb(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="YCSB's property file of a CoreWorkload.", show_default=False),
    ],
    properties: Annotated[
        list[str] | None,
        typer.Option("-p", metavar="NAME=VALUE", help="Property that overrides the file's. May be repeated."),
    ] = None,
    out: _Out = None,
    json: options.Json = False,
) -> None:
    """Write the workload file of a YCSB property file.

    Shows what became of each property.
    """
    _show(api.workload_from_ycsb(file, properties=properties or (), out=out), json)


@workloads.command(name="from-db-bench")
def from_db_bench(
    command: Annotated[
        str,
        typer.Argument(
            metavar="COMMAND", help="The command in quotes, or its flags; it is not run.", show_default=False
        ),
    ],
    out: _Out = None,
    json: options.Json = False,
) -> None:
    """Write the workload file of a db_bench command.

    Shows what became of each flag. Options of the store are left out; --options-file reads them.
    """
    _show(api.workload_from_db_bench(command, out=out), json)


def _show(written: WrittenWorkload, json: bool) -> None:
    """Prints a written file and the account of its source."""
    if json:
        print_json(api.workload_json(written))
        return
    console, imported = stdout(), written.imported
    _print_account(console, written)
    for sentence in imported.assumed:
        console.print(f"Assumed: {sentence}", soft_wrap=True)
    for sentence in imported.warnings:
        print_line(f"Warning: {sentence}", error=True)
    print_line(f"Workload: {written.file} ({imported.source}: {imported.summary})")


def _print_account(console: Console, written: WrittenWorkload) -> None:
    rows = table("given", "use", "becomes", "why")
    for entry in written.imported.entries:
        rows.add_row(f"{entry.name}={entry.given}", str(entry.use), entry.becomes, entry.why)
    console.print(rows)
