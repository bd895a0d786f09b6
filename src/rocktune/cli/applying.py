"""The command `rocktune apply`."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from rocktune import api
from rocktune.cli import options
from rocktune.cli.app import app, show_result
from rocktune.cli.migrating import migrate as migration
from rocktune.cli.migrating import print_migration
from rocktune.cli.output import print_line, table
from rocktune.deploy import WATCHED_FILE, Migration, PlannedChange, RolloutPlan
from rocktune.errors import UserError
from rocktune.units import format_bytes, format_seconds


@app.command("apply")
def apply_command(
    database: Annotated[
        Path, typer.Argument(metavar="DB_DIR", help="The database's directory.", show_default=False)
    ],
    *,
    options_file: Annotated[
        Path,
        typer.Option(
            "--options-file", metavar="FILE", help="The new options, all or only those that change."
        ),
    ],
    plan: Annotated[
        bool, typer.Option("--plan", help="Print how each option takes effect; write nothing.")
    ] = False,
    device: options.Device = None,
    watched_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help=f"The watched file; {WATCHED_FILE} in DB_DIR by default."),
    ] = None,
    migrate: Annotated[
        Path | None,
        typer.Option(
            "--migrate",
            metavar="NEW_DIR",
            help="Copy the closed database to this directory, with the new options; goes on where a killed "
            "copy ended.",
        ),
    ] = None,
    in_place: Annotated[
        bool,
        typer.Option(
            "--in-place", help="Rewrite the closed database in its directory, where the new options need it."
        ),
    ] = False,
    bandwidth: Annotated[
        str,
        typer.Option(
            metavar="SIZE",
            help="Bytes per second that --migrate and --in-place read and write, such as 50MiB; 0: no limit.",
        ),
    ] = "0",
    json: options.Json = False,
) -> None:
    """Bring new options to a database: live through the file its program watches, the rest at reopening.

    Prints how each option takes effect, in the order of the steps. Without --plan, writes the options that a
    running program can take into the file that an OptionsWatcher reads. Opens a database only with --migrate
    or --in-place, for which it must be closed.
    """
    ways = [
        name
        for name, given in (
            ("--plan", plan),
            ("--watched-file", watched_file is not None),
            ("--migrate", migrate is not None),
            ("--in-place", in_place),
        )
        if given
    ]
    if len(ways) > 1:
        raise UserError(f"{ways[0]} and {ways[1]} exclude each other; give one of them")
    if migrate is not None or in_place:
        migrated = migration(database, options_file, migrate, device, bandwidth)
        show_result(
            migrated.model_dump(mode="json"), json, lambda console, _: _print_migrated(console, migrated)
        )
        return
    if plan:
        found = api.plan_options(database, options_file, device=device)
    else:
        found = api.apply_options(database, options_file, device=device, watched_file=watched_file)
    show_result(found.model_dump(mode="json"), json, lambda console, _: print_plan(console, found))
    if not plan and not json:
        print_line(f"Written: {watched_file or database / WATCHED_FILE}")
        print_line(_effect(found))


def _print_migrated(console: Console, migrated: Migration) -> None:
    """Prints the plan of a migration and its end."""
    print_plan(console, migrated.plan)
    print_migration(console, migrated)


def _effect(plan: RolloutPlan) -> str:
    """Returns what happens to the watched file."""
    if plan.is_open:
        return "A program with an OptionsWatcher applies it within a second; its LOG says how it ended."
    return "No process has the database open. A program with an OptionsWatcher applies it after opening it."


def print_plan(console: Console, plan: RolloutPlan) -> None:
    """Prints the changes in the order of their steps, and what is left out."""
    console.print(f"{plan.directory}: from {plan.present} to {plan.wanted}", style="bold", soft_wrap=True)
    if plan.changes:
        made = table("step", "takes effect", "option", "old → new", "note", numbers=("step",))
        for change in plan.changes:
            made.add_row(
                str(change.step),
                f"{change.way.value} ({change.by})" if change.by else change.way.value,
                f"{change.where} {change.name}",
                f"{change.before or 'not in the file'} → {change.after}",
                _note(change),
            )
        console.print(made)
    else:
        console.print("Nothing changes: every option has its new value already.")
    for left in plan.left_out:
        place = f"{left.where} {left.name}".strip()
        console.print(f"Left out: {place}={left.given}: {left.why}", soft_wrap=True)
    if plan.refused:
        console.print(f"A running program would refuse the live options: {plan.refused}", soft_wrap=True)
    for sentence in plan.notes:
        console.print(sentence, soft_wrap=True)


def _note(change: PlannedChange) -> str:
    """Returns a change's note with the cost of rewriting data."""
    if change.rewrite is None:
        return change.note
    rewrite = change.rewrite
    levels = f" of levels {', '.join(map(str, rewrite.levels))}" if rewrite.levels else ""
    time = f", {format_seconds(rewrite.seconds)}" if rewrite.seconds is not None else ""
    cost = f"rewriting {format_bytes(rewrite.size_bytes)}{levels} needs as much space{time}"
    return "; ".join(filter(None, (change.note, cost)))
