"""The account of an OPTIONS file as text for a terminal."""

from collections.abc import Mapping
from typing import Any

from rich.console import Console

from rocktune.cli.output import table
from rocktune.options_account import AccountEntry, Fate, OptionsAccount

_WIDTH = 60


def print_account(console: Console, account: OptionsAccount | None, verbose: bool = False) -> None:
    """Prints what became of the options of the user's file: one line, or with `verbose` a table of all.

    Args:
        console: where.
        account: nothing is printed without one.
        verbose: list every option.
    """
    if account is None:
        return
    end = "." if verbose else "; --verbose lists them."
    console.print(account.summary + end, soft_wrap=True)
    if not verbose:
        return
    made = table("line", "option", "value", "fate", "used instead", "why", numbers=("line",))
    for fate in reversed(Fate):
        for entry in account.with_fate(fate):
            made.add_row(
                str(entry.line), _named(entry), _cut(entry.given), str(fate), _cut(entry.value), entry.why
            )
    console.print(made)


def print_account_of(console: Console, answer: Mapping[str, Any], verbose: bool = False) -> None:
    """Prints the account in an answer of `rocktune.api`, if it has one; see `print_account`."""
    document = answer.get("options_account")
    if document is not None:
        fields = {name: value for name, value in document.items() if name != "counts"}
        print_account(console, OptionsAccount.model_validate(fields), verbose)


def print_account_and_notes(console: Console, answer: Mapping[str, Any], verbose: bool = False) -> None:
    """Prints the account in an answer of `rocktune.api` and its sentences, if it has one."""
    print_account_of(console, answer, verbose)
    for note in (answer.get("options_account") or {}).get("notes", ()):
        console.print(note, soft_wrap=True)


def _named(entry: AccountEntry) -> str:
    return f"{entry.family}: {entry.name}" if entry.family not in ("", "default") else entry.name


def _cut(text: str) -> str:
    return text if len(text) <= _WIDTH else text[: _WIDTH - 3] + "..."
