"""What an upgrade changes, and its proof, as text for a terminal."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console

from rocktune.cli.account_table import print_account_of
from rocktune.cli.output import table
from rocktune.importing import Change, ChangeKind, StoreEffect, Upgrade
from rocktune.outcome import Interval
from rocktune.report import findings
from rocktune.units import format_seconds

_WIDTH = 40
_TITLES = {
    ChangeKind.NEW_DEFAULT: "New defaults, because the file leaves these options out",
    ChangeKind.KEPT: "Old defaults that the file states and keeps",
    ChangeKind.NEW_MEANING: "Options of the file whose value means something else",
    ChangeKind.GONE: "Options of the file that the new version does not use",
    ChangeKind.RENAMED: "Options of the file whose place another one has taken",
    ChangeKind.MEASURED: "Other values that the two versions have with this file",
}


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
    console.print(
        f"RocksDB {upgrade.from_version} to {upgrade.to_version}, {upgrade.path}, column family "
        f"'{upgrade.family}'",
        style="bold",
        soft_wrap=True,
    )
    if upgrade.refused:
        console.print(f"The new version refuses the file: {upgrade.refused}", soft_wrap=True)
    for kind, title in _TITLES.items():
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
        made.add_row(change.name, _values(change), _since(change))
    console.print(made)


def _values(change: Change) -> str:
    """Returns the old and the new value, and below them what the change means."""
    values = " → ".join(filter(None, map(_cut, (change.before, change.after))))
    return "\n".join(filter(None, (values, change.note)))


def _since(change: Change) -> str:
    """Returns the release lines of a change with its source, which mostly names them itself."""
    named = not change.since or all(line in change.source for line in change.since.split(", "))
    return change.source if named else f"{change.since} ({change.source})"


def _print_effects(console: Console, effects: Sequence[StoreEffect]) -> None:
    """Prints what happens to the data of the store; nothing if nothing does."""
    if not effects:
        return
    console.print("\nThe store's data", style="bold")
    made = table("because of", "effect", "source")
    for effect in effects:
        back = f"on the way back: {effect.back}" if effect.back else ""
        cause = effect.cause.partition(".")[2] if not effect.cause.startswith("RocksDB") else effect.cause
        made.add_row(cause, "\n".join(filter(None, (effect.effect, back))), effect.source)
    console.print(made)


def _print_new_options(console: Console, options: Sequence[str], verbose: bool) -> None:
    """Prints the number of new options, or with `verbose` all of them."""
    if verbose and options:
        console.print(f"New options: {', '.join(options)}.", soft_wrap=True)
    elif options:
        console.print(f"New options: {len(options)}; --verbose lists them.", soft_wrap=True)


def print_proof(console: Console, found: Mapping[str, Any]) -> None:
    """Prints the statement of a proof and the figures of both versions."""
    proof = found["proof"]
    console.print()
    console.print(_statement(found), style="bold", soft_wrap=True)
    console.print(
        f"{found['workload']} on {found['device']} for {format_seconds(found['seconds'])} at scale "
        f"{found['scale']}, {found['pairs']} pairs of fresh runs; 95% intervals"
    )
    heads = [
        engine or f"RocksDB {version}"
        for engine, version in zip(proof["engines"], found["rocksdb"], strict=True)
    ]
    made = table("", *heads, "new / old", numbers=(*heads, "new / old"))
    for field, compared in proof["figures"].items():
        old, new, ratio = (Interval(**compared[name]) for name in ("old", "new", "ratio"))
        unit = findings.field_unit(field)
        label = findings.field_label(field) + (f", {unit}" if unit in ("operations/s", "µs") else "")
        made.add_row(label, _with_interval(field, old), _with_interval(field, new), _ratio(ratio))
    console.print(made)
    for sentence in filter(None, (proof["caution"], *proof["failures"])):
        console.print(sentence, soft_wrap=True)


def _statement(found: Mapping[str, Any]) -> str:
    """Returns the sentence that says what is proven."""
    proof = found["proof"]
    old, new = found["rocksdb"]
    if proof["failures"]:
        return f"Nothing is proven: {len(proof['failures'])} of {2 * found['pairs']} runs failed."
    ratio = Interval(**proof["figures"]["throughput_ops_s"]["ratio"])
    model = "" if found["scale"] == "1" else f", on a {found['scale']} model"
    times = f"{findings.format_ratio(ratio)} the throughput ({findings.format_ratio_interval(ratio)}){model}"
    if proof["verdict"] == "no difference proven":
        return f"No difference is proven between RocksDB {new} and {old}: {times}."
    return f"RocksDB {new} is {proof['verdict']} than {old}: {times}."


def _with_interval(field: str, interval: Interval) -> str:
    """Returns a figure with its 95% interval on a second line."""
    low, high = (findings.format_field(field, end) for end in (interval.low, interval.high))
    return f"{findings.format_field(field, interval.value)}\n{low} to {high}"


def _ratio(interval: Interval) -> str:
    """Returns a ratio with its 95% interval on a second line; nothing where there is none."""
    if not interval.repeats:
        return ""
    return f"{findings.format_ratio(interval)}\n{findings.format_ratio_interval(interval)}"


def _cut(text: str) -> str:
    return text if len(text) <= _WIDTH else text[: _WIDTH - 3] + "..."
