"""The report of an upgrade: the proof, what changes for the file, and what happens to the data."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from rocktune.importing import Change, ChangeKind, Upgrade
from rocktune.outcome import Interval
from rocktune.report import findings
from rocktune.report.document import document, write_document
from rocktune.units import format_seconds

CHANGE_TITLES = {
    ChangeKind.NEW_DEFAULT: "New defaults, because the file leaves these options out",
    ChangeKind.KEPT: "Old defaults that the file states and keeps",
    ChangeKind.NEW_MEANING: "Options whose value, or absence, means something else",
    ChangeKind.GONE: "Options of the file that the new version does not use",
    ChangeKind.RENAMED: "Options of the file whose place another one has taken",
    ChangeKind.MEASURED: "Other values that the two versions have with this file",
}
"""The heading of each kind of change."""


def write_upgrade_report(path: Path, found: Mapping[str, Any]) -> None:
    """Writes the report of a result of `rocktune.api.upgrade`, replacing the file atomically."""
    write_document(path, render_upgrade(found))


def render_upgrade(found: Mapping[str, Any]) -> str:
    """Returns the report of a result of `rocktune.api.upgrade` with a proof as HTML."""
    upgrade = Upgrade.model_validate(found["upgrade"])
    title, kicker = proof_statement(found), upgrade_title(upgrade)
    body = (
        f'<header>\n<p class="kicker">{escape(kicker)}</p>\n<h1>{escape(title)}</h1></header>\n'
        + _proof(found)
        + "".join(_changes(heading, upgrade.of_kind(kind)) for kind, heading in CHANGE_TITLES.items())
        + _effects(upgrade)
        + _notes((*upgrade.disagreements, *found["notes"]))
        + _new_options(upgrade)
    )
    return document(f"{title} · {found['study']}", body)


def upgrade_title(upgrade: Upgrade) -> str:
    """Returns the versions, the file and the column family in a line."""
    return (
        f"RocksDB {upgrade.from_version} to {upgrade.to_version}, {upgrade.path}, column family "
        f"'{upgrade.family}'"
    )


def proof_statement(found: Mapping[str, Any]) -> str:
    """Returns the sentence that says what the proof of an upgrade proves."""
    proof = found["proof"]
    old, new = found["rocksdb"]
    if proof["failures"]:
        return f"Nothing is proven: {len(proof['failures'])} of {2 * found['pairs']} runs failed."
    if proof["reason"]:
        return f"Nothing is proven: {proof['reason']}."
    ratio = Interval(**proof["figures"]["throughput_ops_s"]["ratio"])
    model = "" if found["scale"] == "1" else f", on a {found['scale']} model"
    times = f"{findings.format_ratio(ratio)} the throughput ({findings.format_ratio_interval(ratio)}){model}"
    if proof["verdict"] == "no difference proven":
        return f"No difference is proven between RocksDB {new} and {old}: {times}."
    return f"RocksDB {new} is {proof['verdict']} than {old}: {times}."


def proof_cautions(found: Mapping[str, Any]) -> list[str]:
    """Returns sentences on what limits a proof: builds that differ, other programs, and failed runs."""
    proof, disturbed = found["proof"], ""
    if proof["disturbed_pairs"]:
        disturbed = (
            "Other programs took the processors during "
            f"{findings.count_of(proof['disturbed_pairs'], 'pair')} of {found['pairs']}, in all their "
            "repeats."
        )
    return [*filter(None, (proof["caution"], disturbed, *proof["failures"]))]


def proof_conditions(found: Mapping[str, Any]) -> str:
    """Returns a line on what was run for the proof of an upgrade."""
    return (
        f"{found['workload']} on {found['device']} for {format_seconds(found['seconds'])} at scale "
        f"{found['scale']}, {found['pairs']} pairs of fresh runs; 95% intervals"
    )


def proof_table(found: Mapping[str, Any]) -> tuple[list[str], list[list[tuple[str, str]]]]:
    """Returns the heads and the rows of a proof's figures.

    Returns:
        The heads of the three columns of numbers; and rows of four cells, each a text and a text below it.
    """
    proof = found["proof"]
    named = zip(proof["engines"], found["rocksdb"], strict=True)
    heads = [*(engine or f"RocksDB {version}" for engine, version in named), "new / old"]
    rows = []
    for field, compared in proof["figures"].items():
        old, new, ratio = (Interval(**compared[name]) for name in ("old", "new", "ratio"))
        unit = findings.field_unit(field)
        label = findings.field_label(field) + (f", {unit}" if unit in ("operations/s", "µs") else "")
        times = (findings.format_ratio(ratio), findings.format_ratio_interval(ratio))
        rows.append(
            [(label, ""), _figure(field, old), _figure(field, new), times if ratio.repeats else ("", "")]
        )
    return heads, rows


def _figure(field: str, interval: Interval) -> tuple[str, str]:
    """Returns a figure and its 95% interval."""
    low, high = (findings.format_field(field, end) for end in (interval.low, interval.high))
    return findings.format_field(field, interval.value), f"{low} to {high}"


def change_values(change: Change) -> str:
    """Returns the old and the new value of a change."""
    return " → ".join(filter(None, (change.before, change.after)))


def change_source(change: Change) -> str:
    """Returns the release lines of a change with its source, which mostly names them itself."""
    is_named = all(line in change.source for line in change.since.split(", "))
    return change.source if is_named else f"{change.since} ({change.source})"


def effect_cause(cause: str) -> str:
    """Returns the cause of an effect without the section of an option."""
    return cause if cause.startswith("RocksDB") else cause.partition(".")[2]


def _proof(found: Mapping[str, Any]) -> str:
    """Returns the HTML section with the figures of both versions."""
    heads, rows = proof_table(found)
    head = "".join(f'<th class="number">{escape(text)}</th>' for text in heads)
    body = ""
    for (label, _), *cells in rows:
        numbers = "".join(
            f'<td class="number">{escape(text)}<span class="interval">{escape(below)}</span></td>'
            for text, below in cells
        )
        body += f"<tr><td>{escape(label[:1].upper() + label[1:])}</td>{numbers}</tr>"
    return (
        f'<section><h2>Side by side</h2>\n<p class="note">{escape(proof_conditions(found))}.</p>\n'
        f'<div class="scroll"><table><thead><tr><th>Measured</th>{head}</tr></thead><tbody>{body}</tbody>'
        f"</table></div>{_paragraphs(proof_cautions(found))}</section>\n"
    )


def _changes(heading: str, changes: Sequence[Change]) -> str:
    """Returns the HTML section of a kind of change; "" without changes."""
    rows = [(each.name, change_values(each), each.note, change_source(each)) for each in changes]
    return _section(heading, ("Option", "Old → new", "What it means", "Since"), rows)


def _effects(upgrade: Upgrade) -> str:
    """Returns the HTML section on the store's data."""
    rows = [(effect_cause(each.cause), each.effect, each.back, each.source) for each in upgrade.effects]
    return _section("The store's data", ("Because of", "Effect", "On the way back", "Source"), rows)


def _section(heading: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Returns an HTML section with a table of plain texts; "" without rows."""
    if not rows:
        return ""
    head = "".join(f"<th>{escape(text)}</th>" for text in heads)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return (
        f'<section><h2>{escape(heading)}</h2>\n<div class="scroll"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div></section>\n"
    )


def _notes(sentences: Sequence[str]) -> str:
    """Returns the HTML section with sentences on the versions and the proof; "" without any."""
    return f"<section><h2>Notes</h2>\n{_paragraphs(sentences)}</section>\n" if sentences else ""


def _new_options(upgrade: Upgrade) -> str:
    """Returns the HTML section that lists new options; "" without any."""
    if not upgrade.new_options:
        return ""
    return f"<section><h2>New options</h2>\n{_paragraphs([', '.join(upgrade.new_options)])}</section>\n"


def _paragraphs(sentences: Iterable[str]) -> str:
    """Returns sentences as HTML paragraphs."""
    return "".join(f'<p class="note">{escape(sentence)}</p>\n' for sentence in sentences)
