"""What an upgrade changes, and its proof, as text for a terminal."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console

from rocktune.cli.account_table import print_account_of
from rocktune.cli.output import table
from rocktune.importing import Change, StoreEffect, Upgrade
from rocktune.report import upgraded
from rocktune.units import format_seconds


def print_upgrade(console: Console, found: Mapping[str, Any]) -> None:
    """Prints what changes and the proof."""
    print_changes(console, found)
    print_proof(console, found)


def print_changes(console: Console, found: Mapping[str, Any], verbose: bool = False) -> None:
    """Prints what an upgrade changes for the file, and how long the proof will take.

    Args:
        console: where.
        found: the result of `rocktune.api.upgrade`, or of its estimate.
        verbose: list new options and the file's options too.
    """
    upgrade = Upgrade.model_validate(found["upgrade"])
    console.print(upgraded.upgrade_title(upgrade), style="bold", soft_wrap=True)
    if upgrade.refused:
        console.print(f"The new version refuses the file: {upgrade.refused}", soft_wrap=True)
    for kind, title in upgraded.CHANGE_TITLES.items():
        _print_kind(console, title, upgrade.of_kind(kind))
    _print_effects(console, upgrade.effects)
    console.print()
    _print_new_options(console, upgrade.new_options, verbose)
    for sentence in (*upgrade.disagreements, *found["notes"]):
        console.print(sentence, soft_wrap=True)
    print_account_of(console, found, verbose)
    if "total_s" in found:
        console.print(
            f"Upgrade '{found['study']}' at scale {found['scale']}: {found['pairs']} pairs of runs, about "
            f"{format_seconds(found['total_s'])} plus loading. Ctrl-C stops it; 'rocktune resume "
            f"{found['study']}' continues.",
            soft_wrap=True,
        )


def _print_kind(console: Console, title: str, changes: Sequence[Change]) -> None:
    """Prints the changes of a kind; nothing if there are none."""
    if not changes:
        return
    console.print(f"\n{title}", style="bold")
    made = table("option", "old → new", "since")
    for change in changes:
        values = filter(None, (upgraded.change_values(change), change.note))
        made.add_row(change.name, "\n".join(values), upgraded.change_source(change))
    console.print(made)


def _print_effects(console: Console, effects: Sequence[StoreEffect]) -> None:
    """Prints what happens to the data of the store; nothing if nothing does."""
    if not effects:
        return
    console.print("\nThe store's data", style="bold")
    made = table("because of", "effect", "source")
    for effect in effects:
        back = f"on the way back: {effect.back}" if effect.back else ""
        text = "\n".join(filter(None, (effect.effect, back)))
        made.add_row(upgraded.effect_cause(effect.cause), text, effect.source)
    console.print(made)


def _print_new_options(console: Console, options: Sequence[str], verbose: bool) -> None:
    """Prints the number of new options, or with `verbose` all of them."""
    if verbose and options:
        console.print(f"New options: {', '.join(options)}.", soft_wrap=True)
    elif options:
        console.print(f"New options: {len(options)}; --verbose lists them.", soft_wrap=True)


def print_proof(console: Console, found: Mapping[str, Any]) -> None:
    """Prints the statement of a proof, the figures of both versions, and the report's file."""
    console.print()
    console.print(upgraded.proof_statement(found), style="bold", soft_wrap=True)
    console.print(upgraded.proof_conditions(found))
    heads, rows = upgraded.proof_table(found)
    made = table("", *heads, numbers=heads)
    for row in rows:
        made.add_row(*("\n".join(filter(None, cell)) for cell in row))
    console.print(made)
    for sentence in upgraded.proof_cautions(found):
        console.print(sentence, soft_wrap=True)
    console.print(f"Report: {found['report']}", soft_wrap=True)
