"""The command `rocktune log`."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from rocktune import api
from rocktune.cli import options
from rocktune.cli.app import app
from rocktune.cli.output import print_line, print_text, stderr, stdout, table
from rocktune.cli.progress import ProgressDisplay
from rocktune.errors import UserError
from rocktune.importing.logs import CSV_KINDS, LogDocument
from rocktune.report.log_tables import opening_sentences, opening_tables, opening_title, reading_notes


@app.command()
def log(
    logs: options.Logs,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE.html", help="HTML page with plots to write.")
    ] = None,
    csv: Annotated[
        str | None,
        typer.Option("--csv", metavar="KIND", help=f"Print rows as CSV: {', '.join(CSV_KINDS)}."),
    ] = None,
    json: options.Json = False,
) -> None:
    """Show what RocksDB's LOG files say.

    Shows levels, stalls with their causes, flushes, compactions and errors. Reads LOG files of RocksDB 5 to
    11 and Speedb, excerpts of them, and what db_bench and the property rocksdb.stats print.
    """
    if csv is not None and json:
        raise UserError("--csv and --json: only one of them can be printed; leave one out")
    with ProgressDisplay(stderr()) as display:
        document = api.read_log(logs, out=out, observer=display)
    if csv is not None:
        text = api.log_csv(document, csv)
        print_text(text)
        if not text:
            print_line(f"The LOG has no {csv}.", error=True)
    elif json:
        for piece in api.log_json(document):
            print_text(piece)
        print_text("\n")
    else:
        _print_log(stdout(), document)
        if out is not None:
            print_line(f"Page: {out}")


def _print_log(console: Console, document: LogDocument) -> None:
    """Prints each opening with its tables, and what was not read or kept."""
    for opening in document.openings:
        console.print(opening_title(opening), style="bold", soft_wrap=True)
        for sentence in opening_sentences(opening):
            console.print(sentence, soft_wrap=True)
        for shown in opening_tables(opening):
            console.print(f"\n{shown.title}", style="bold", soft_wrap=True)
            made = table(*shown.heads, numbers=shown.numbers)
            for row in shown.rows:
                made.add_row(*row)
            console.print(made)
            if shown.note:
                console.print(shown.note, soft_wrap=True)
        console.print()
    for sentence in reading_notes(document):
        console.print(sentence, soft_wrap=True)
