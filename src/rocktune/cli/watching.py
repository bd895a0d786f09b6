"""The command `rocktune watch`."""

from pathlib import Path
from typing import Annotated

import typer

from rocktune import api
from rocktune.cli import options
from rocktune.cli.app import app
from rocktune.cli.output import print_json, print_line, stdout, table
from rocktune.deploy.watch import Row
from rocktune.errors import UserError

_READ = "read"


@app.command()
def watch(
    study: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="Study of 'rocktune tune' whose settings the watch's studies have."
        ),
    ],
    log: Annotated[
        Path | None, typer.Option(metavar="DB_DIR/LOG", help="The LOG in the database's directory.")
    ] = None,
    apply: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The file that the database's program watches; dry without it."),
    ] = None,
    hours: Annotated[
        str | None,
        typer.Option(metavar="FROM-TO", help="Hours of the day in which studies may run, such as 22-06."),
    ] = None,
    budget: options.Budget = None,
    interval: Annotated[str, typer.Option(metavar="TIME", help="Time between two looks at the LOG.")] = "10m",
    once: Annotated[bool, typer.Option("--once", help="Look once, do what is due, and end.")] = False,
    journal: Annotated[
        bool, typer.Option("--journal", help="Print what the watch has done, and do nothing.")
    ] = False,
    ledger: options.Ledger = None,
    json: options.Json = False,
) -> None:
    """Watch a database, and tune it on a model when its workload changes; apply the result, or roll it back.

    Reads the LOG and writes nothing but its journal, studies, and the file given with --apply. It changes
    only options that an open database takes.
    """
    if journal:
        _print_journal(study, json)
        return
    if log is None:
        raise UserError("log: missing; name the LOG in the database's directory with --log")
    notify = (lambda _: None) if json else print_line
    passes = api.watch(
        log, study, apply=apply, hours=hours, budget=budget, interval=interval, ledger=ledger, once=once,
        notify=notify,
    )  # fmt: skip
    said = ""
    for found in passes:
        if json:
            print_json(api.watch_json(found))
        elif found.waits_for and found.waits_for != said:
            print_line(found.waits_for)
        elif once and not found.rows:
            print_line(f"Nothing to do: {found.state.phase.value} workload {found.state.current.number}.")
        said = found.waits_for


def _print_journal(study: str, json: bool) -> None:
    """Prints the steps of a watch; between them, how many intervals it has read."""
    rows = list(api.watch_journal(study))
    if json:
        print_json([row.model_dump(mode="json") for row in rows])
        return
    made = table("time (UTC)", "step", "what it rests on")
    read = 0
    for row in rows:
        read += len(row.intervals)
        if row.event == _READ:
            continue
        made.add_row(_moment(row), row.event, f"{row.text} ({read} intervals read)" if read else row.text)
        read = 0
    stdout().print(made)
    if read:
        print_line(f"{read} intervals read since.")


def _moment(row: Row) -> str:
    return row.at.replace("T", " ").removesuffix("+00:00")
