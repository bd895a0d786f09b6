"""The page of a LOG: what holds the store up, tables, and plots of levels, stalls and write amplification."""

from collections.abc import Iterable
from html import escape
from pathlib import Path

from rocktune.analysis.explain import Explained, Finding, explain_opening
from rocktune.importing.logs import LogDocument, Opening
from rocktune.report import log_figures
from rocktune.report.document import document as html_document
from rocktune.report.document import write_document
from rocktune.report.explained import (
    MODEL_NOTE,
    NOTHING_FOUND,
    finding_facts,
    finding_tables,
    finding_title,
    held_sentence,
    source_sentence,
)
from rocktune.report.log_tables import (
    TextTable,
    opening_sentences,
    opening_tables,
    opening_title,
    reading_notes,
)
from rocktune.report.sections import figure_section

_MAX_OPENINGS = 20
"""Openings that a page shows, the last ones; each has figures of its own."""


def write_log_report(path: Path, log: LogDocument) -> None:
    """Writes the page of a LOG, replacing the file atomically; see `render_log`."""
    write_document(path, render_log(log))


def render_log(log: LogDocument) -> str:
    """Returns the page of a LOG as HTML."""
    shown = log.openings[-_MAX_OPENINGS:]
    title = opening_title(shown[-1])
    left_out = len(log.openings) - len(shown)
    notes = reading_notes(log)
    if left_out:
        notes.append(
            f"This page shows the last {len(shown)} openings of the database; {left_out} come before."
        )
    body = (
        f'<header>\n<p class="kicker">{escape(" · ".join(log.files[:5]))} · {log.lines:,} lines</p>\n'
        f"<h1>{escape(title)}</h1></header>\n"
        + "".join(_opening(opening, number, len(shown)) for number, opening in enumerate(shown, 1))
        + (f"<section><h2>What was not read or kept</h2>\n{_paragraphs(notes)}</section>\n" if notes else "")
    )
    return html_document(title, body)


def _opening(opening: Opening, number: int, openings: int) -> str:
    """Returns the sections of one opening; their titles are unique within the page."""
    mark = f" ({number} of {openings})" if openings > 1 else ""
    heading = f"<section><h2>{escape(opening_title(opening))}{mark}</h2>\n"
    tables = opening_tables(opening)
    return (
        f"{heading}{_paragraphs(opening_sentences(opening))}</section>\n"
        + _explained(explain_opening(opening), mark)
        + "".join(map(_table, tables[:1]))
        + _figures(opening, mark)
        + "".join(map(_table, tables[1:]))
    )


def _explained(explained: Explained, mark: str) -> str:
    """Returns the section on what holds the store up."""
    findings = "".join(_finding(number, each) for number, each in enumerate(explained.findings, 1))
    proofs = any(finding.commands for finding in explained.findings)
    return (
        f"<section><h2>What holds the store up{mark}</h2>\n{_paragraphs([held_sentence(explained)])}"
        + (findings or _paragraphs([NOTHING_FOUND]))
        + _paragraphs([MODEL_NOTE] if proofs else [])
        + _paragraphs(f"Not shown by the LOG: {sentence}" for sentence in explained.unknowns)
        + "</section>\n"
    )


def _finding(number: int, finding: Finding) -> str:
    commands = "\n".join(finding.commands)
    return (
        f"<h3>{escape(finding_title(number, finding))}</h3>\n"
        f"{_paragraphs([finding_facts(finding)])}<p>{escape(finding.cause)}</p>\n"
        + _paragraphs([source_sentence(finding)])
        + "".join(map(_rows, finding_tables(finding)))
        + (f"<pre><code>{escape(commands)}</code></pre>\n" if commands else "")
    )


def _figures(opening: Opening, mark: str) -> str:
    """Returns the sections with figures; one without data is left out."""
    shown = log_figures.shown_families(opening)
    which = f" The {len(shown)} largest families are shown." if len(shown) < len(opening.families) else ""
    return (
        figure_section(
            f"Delays and stops{mark}",
            "Bars reach from a cause's first message to the next line that shows another state, so they may "
            "be too long. Each cause holds up the writes to all families.",
            [log_figures.stall_periods(opening), log_figures.stalled_share(opening)],
        )
        + figure_section(
            f"Rate of delayed writes{mark}",
            f"The lowest rate that RocksDB set in each period.{which}",
            [log_figures.write_rates(opening)],
        )
        + figure_section(
            f"Levels{mark}",
            f"Size of levels, all families together, and files in level 0.{which}",
            [log_figures.level_sizes(opening), log_figures.level0_files(opening)],
        )
        + figure_section(
            f"Pending compaction{mark}",
            f"Bytes that compactions still have to rewrite, as RocksDB estimates them.{which}",
            [log_figures.pending_bytes(opening)],
        )
        + figure_section(
            f"Write amplification{mark}",
            f"Bytes written by flushes and compactions for each byte flushed, since the opening.{which}",
            [log_figures.write_amplification(opening)],
        )
    )


def _table(table: TextTable) -> str:
    """Returns a section with a table."""
    note = _paragraphs([table.note] if table.note else [])
    return f"<section><h2>{escape(table.title)}</h2>\n{_rows(table)}{note}</section>\n"


def _rows(table: TextTable) -> str:
    """Returns a table."""
    marks = [' class="number"' if head in table.numbers else "" for head in table.heads]
    head = "".join(f"<th{mark}>{escape(text)}</th>" for mark, text in zip(marks, table.heads, strict=True))
    rows = "".join(
        "<tr>"
        + "".join(f"<td{mark}>{escape(cell)}</td>" for mark, cell in zip(marks, row, strict=True))
        + "</tr>"
        for row in table.rows
    )
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>\n'


def _paragraphs(sentences: Iterable[str]) -> str:
    """Returns sentences as HTML paragraphs."""
    return "".join(f'<p class="note">{escape(sentence)}</p>\n' for sentence in sentences)
