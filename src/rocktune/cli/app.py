"""The program that all commands belong to, and how commands show their results."""

from collections.abc import Callable, Mapping
from importlib import metadata
from typing import Annotated, Any

import typer
from rich.console import Console

from rocktune.cli.output import print_json, print_line, stderr, stdout
from rocktune.cli.progress import ProgressDisplay

app = typer.Typer(
    help="Finds a better RocksDB configuration for your workload on your hardware, and proves the gain.",
    # The two options that install shell completion would only lengthen the help.
    add_completion=False,
    # Brackets in help texts, such as metavars, must not be taken for markup.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    """Prints the version and exits, if the option was given."""
    if wanted:
        print_line(f"rocktune {metadata.version('rocktune')}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def rocktune(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001 - its callback prints it
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version.")
    ] = False,
) -> None:
    """Prints the help if no command is given."""
    if context.invoked_subcommand is None:
        print_line(context.get_help())


def announced(
    estimate: Mapping[str, Any], json: bool, printer: Callable[[Console, Any], None]
) -> ProgressDisplay:
    """Returns a progress display that prints the estimate once measuring begins.

    It prints no sooner, so that wrong input gets its error first and nothing else.

    Args:
        estimate: the API's estimate, with `total_s`.
        json: whether only a JSON document may be printed.
        printer: function that prints the estimate.
    """

    def announce() -> None:
        if not json:
            printer(stdout(), estimate)

    return ProgressDisplay(stderr(), estimate["total_s"], announce)


def show_result(document: Any, json: bool, printer: Callable[[Console, Any], None]) -> None:
    """Prints a result as JSON if `json`, else with `printer`."""
    if json:
        print_json(document)
    else:
        printer(stdout(), document)
