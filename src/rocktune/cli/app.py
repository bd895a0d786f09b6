"""The program that the commands belong to, and how each of them shows its answer."""

from collections.abc import Callable, Mapping
from importlib import metadata
from typing import Annotated, Any

import typer
from rich.console import Console

from rocktune.cli.output import print_json, print_line, stderr, stdout
from rocktune.cli.progress import ProgressDisplay

app = typer.Typer(
    help="Finds, proves and keeps the best RocksDB configuration for your workload on your hardware.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print_line(f"rocktune {metadata.version('rocktune')}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def rocktune(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001 - its callback does it
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version.")
    ] = False,
) -> None:
    """Prints the help where no command is given."""
    if context.invoked_subcommand is None:
        print_line(context.get_help())


def announced(
    estimate: Mapping[str, Any], json: bool, printer: Callable[[Console, Any], None]
) -> ProgressDisplay:
    """Returns a progress display that prints first what everything will take, once measuring begins.

    Args:
        estimate: what the API estimates, with `total_s`.
        json: whether only a JSON document is to be printed.
        printer: prints the estimate.
    """

    def announce() -> None:
        if not json:
            printer(stdout(), estimate)

    return ProgressDisplay(stderr(), estimate["total_s"], announce)


def show_result(document: Any, json: bool, printer: Callable[[Console, Any], None]) -> None:
    """Prints what a command has to say, as the user wants it."""
    if json:
        print_json(document)
    else:
        printer(stdout(), document)
