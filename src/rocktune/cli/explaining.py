"""The command `rocktune explain`."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from rocktune import api
from rocktune.analysis.explain import Explained, Explanation, Finding
from rocktune.cli import options
from rocktune.cli.app import app
from rocktune.cli.output import print_json, stderr, stdout, table
from rocktune.cli.progress import ProgressDisplay
from rocktune.report.explained import (
    MODEL_NOTE,
    NOTHING_FOUND,
    finding_facts,
    finding_tables,
    finding_title,
    held_sentence,
    source_sentence,
)
from rocktune.report.log_tables import opening_title, reading_notes


@app.command()
def explain(
    logs: options.Logs,
    options_file: Annotated[
        Path | None,
        typer.Option(
            metavar="OPTIONS", help="OPTIONS file of the store, for options that the LOG does not state."
        ),
    ] = None,
    json: options.Json = False,
) -> None:
    """Explain from RocksDB's LOG files what held writes or reads up.

    Shows each cause with its column family, since when and how much, the options to try, and a command that
    proves it on a model.
    """
    with ProgressDisplay(stderr()) as display:
        explanation = api.explain_log(logs, options_file=options_file, observer=display)
    if json:
        print_json(api.explanation_json(explanation))
    else:
        _print_explanation(stdout(), explanation)


def _print_explanation(console: Console, explanation: Explanation) -> None:
    """Prints each opening with its findings, and what was not read."""
    for explained in explanation.openings:
        console.print(opening_title(explained.opening), style="bold", soft_wrap=True)
        console.print(held_sentence(explained), soft_wrap=True)
        for number, finding in enumerate(explained.findings, 1):
            _print_finding(console, number, finding)
        if not explained.findings:
            console.print(NOTHING_FOUND, soft_wrap=True)
        _print_rest(console, explained)
    for sentence in reading_notes(explanation.document):
        console.print(sentence, soft_wrap=True)


def _print_finding(console: Console, number: int, finding: Finding) -> None:
    console.print(f"\n{finding_title(number, finding)}", style="bold", soft_wrap=True)
    console.print(finding_facts(finding), style="dim", soft_wrap=True)
    console.print(finding.cause, soft_wrap=True)
    console.print(source_sentence(finding), style="dim", soft_wrap=True)
    for shown in finding_tables(finding):
        console.print()
        made = table(*shown.heads)
        for row in shown.rows:
            made.add_row(*row)
        console.print(made)
    if finding.commands:
        console.print("To compare the present values with these:", soft_wrap=True)
        for command in finding.commands:
            # Unwrapped, so that it can be copied.
            console.print(f"  {command}", soft_wrap=True)


def _print_rest(console: Console, explained: Explained) -> None:
    if any(finding.commands for finding in explained.findings):
        console.print(f"\n{MODEL_NOTE}", style="dim", soft_wrap=True)
    if explained.unknowns:
        console.print("\nNot shown by the LOG:", style="bold")
        for sentence in explained.unknowns:
            console.print(f"- {sentence}", soft_wrap=True)
    console.print()
