"""Presents the findings on a LOG as sentences and tables of text, for terminals and pages."""

from datetime import datetime

from rocktune.analysis.explain import Evidence, Explained, Finding
from rocktune.report.log_tables import TextTable
from rocktune.units import format_seconds

NOTHING_FOUND = "Nothing was found that holds up writes or reads."
MODEL_NOTE = (
    "The commands measure a model of the store. Put your own workload and device in the place of the "
    "presets, and add --options-file with your OPTIONS file if it is missing."
)


def held_sentence(explained: Explained) -> str:
    """Returns a sentence on the time in which writes were held up."""
    if explained.held_share is None or explained.held_s is None:
        if explained.opening.stalls:
            return "Writes were delayed or stopped; the text has no times, so for how long is unknown."
        return "The LOG does not say whether writes were delayed or stopped."
    length = f"{explained.held_share:.1%} of the time, {format_seconds(explained.held_s)}"
    if explained.counted:
        return f"Writes were delayed or stopped for {length} in all, as RocksDB counted."
    if not explained.opening.stalls:
        return "The LOG has no message that writes were delayed or stopped."
    return f"Writes were delayed or stopped for about {length} in all, as messages tell."


def finding_title(number: int, finding: Finding) -> str:
    """Returns the heading of a finding."""
    return f"{number}. {finding.title[:1].upper()}{finding.title[1:]}"


def finding_facts(finding: Finding) -> str:
    """Returns its share of the time, since when, how sure it is, and its rule, in one line."""
    parts = []
    if finding.held_share is not None:
        parts.append(f"held writes up for {finding.held_share:.0%} of the time")
    if finding.first is not None and finding.last is not None:
        parts.append(f"{_time(finding.first)} to {_time(finding.last)}")
    parts += [f"{finding.confidence.value} confidence", f"rule {finding.rule}"]
    return "; ".join(parts)


def source_sentence(finding: Finding) -> str:
    """Returns a sentence that names where the mechanism is documented."""
    return f"RocksDB's documentation: {'; '.join(finding.sources)}."


def finding_tables(finding: Finding) -> list[TextTable]:
    """Returns the tables of evidence and of options to try, those that have rows."""
    evidence = tuple((_span(each), each.text, each.quote) for each in finding.evidence)
    heads = ("option", "now", "try", "because it")
    tried = tuple(
        (each.option, each.present or "unknown", each.value, each.why) for each in finding.suggestions
    )
    tables = (
        TextTable("Evidence", ("time", "the LOG says", "search it for"), (), evidence),
        TextTable("Options to try", heads, (), tried),
    )
    return [table for table in tables if table.rows]


def _span(evidence: Evidence) -> str:
    if evidence.first is None:
        return "–"
    if evidence.last is None or evidence.first == evidence.last:
        return _time(evidence.first)
    return f"{_time(evidence.first)} to {_time(evidence.last)}"


def _time(time: datetime) -> str:
    return f"{time:%m-%d %H:%M:%S}"
