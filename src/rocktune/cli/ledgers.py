"""The commands for whole ledgers: `rocktune ledger copy` and `rocktune ledger check`."""

import sys
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

from rocktune import api
from rocktune.cli import options
from rocktune.cli.app import app, show_result
from rocktune.cli.output import print_line, stderr

ledgers = typer.Typer()
app.add_typer(ledgers, name="ledger")

# A bar that flashes up for a short copy only distracts.
_PATIENCE_S = 2.0


class _RowsDisplay:
    """A progress bar of rows that appears after two seconds. A context manager for one use."""

    def __init__(self, console: Console) -> None:
        self._started_s = time.monotonic()
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TaskProgressColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
            # With stdout in a pipe, redirecting it would mix the bar's control codes into the data.
            redirect_stdout=sys.stdout.isatty(),
        )
        self._task = self._progress.add_task("")

    def __enter__(self) -> "_RowsDisplay":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def __call__(self, study: str, done: int, total: int) -> None:
        """Shows that `done` of a study's `total` rows are done."""
        self._progress.update(self._task, description=study, completed=done, total=total)
        # Checked on each row, since the display has no thread until it starts.
        if time.monotonic() - self._started_s >= _PATIENCE_S:
            self._progress.start()


@ledgers.callback(invoke_without_command=True)
def ledger(context: typer.Context) -> None:
    """Copy studies between ledgers, or check a ledger for damage."""
    if context.invoked_subcommand is None:
        print_line(context.get_help())


@ledgers.command()
def copy(
    source: Annotated[
        str,
        typer.Argument(metavar="FROM", help="Ledger to read: a URL or an SQLite file.", show_default=False),
    ],
    target: Annotated[
        str,
        typer.Argument(
            metavar="TO", help="Ledger to write, of any kind; created if missing.", show_default=False
        ),
    ],
    study: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Study to copy; all by default. May be repeated.")
    ] = None,
    json: options.Json = False,
) -> None:
    """Copy studies with all their records to another ledger."""
    with _RowsDisplay(stderr()) as display:
        copied = api.copy_ledger(source, target, studies=study or None, progress=display)
    show_result(copied, json, _print_copied)


@ledgers.command()
def check(
    ledger: Annotated[
        str | None,
        typer.Argument(metavar="LEDGER", help="A URL or an SQLite file; your own ledger by default."),
    ] = None,
    json: options.Json = False,
) -> None:
    """Read a whole ledger and report damage.

    Exit code 1 means that something is damaged.
    """
    with _RowsDisplay(stderr()) as display:
        checked = api.check_ledger(ledger, progress=display)
    show_result(checked, json, _print_checked)
    if checked["problems"]:
        raise typer.Exit(1)


def _print_copied(console: Console, copied: Mapping[str, Any]) -> None:
    """Prints which studies were copied and which were already there."""
    for name in copied["copied"]:
        console.print(f"{name}: copied", soft_wrap=True)
    for name in copied["already_there"]:
        console.print(f"{name}: already there and equal", soft_wrap=True)
    if not copied["copied"] and not copied["already_there"]:
        console.print(f"{copied['from']} has no studies", soft_wrap=True)


def _print_checked(console: Console, checked: Mapping[str, Any]) -> None:
    """Prints the damage found, or the size of an undamaged ledger."""
    for problem in checked["problems"]:
        where = f"study '{problem['study']}'" if problem["study"] else "ledger"
        console.print(f"{where}: {problem['problem']}", soft_wrap=True)
    if not checked["problems"]:
        console.print(
            f"{checked['ledger']} is undamaged: {checked['studies']} studies, {checked['windows']} windows, "
            f"schema {checked['schema_version']}",
            soft_wrap=True,
        )
