"""Report section on memory: the limits of the compared configurations, and their use in the proof."""

from collections.abc import Sequence
from html import escape

from rocktune.outcome import Memory, Outcome
from rocktune.report import findings
from rocktune.report.figures import SIDES
from rocktune.space import BlockCache
from rocktune.units import format_bytes

_MEASURED = {
    "memtable_bytes": "Memtables, measured",
    "block_cache_bytes": "Block cache, measured",
    "table_reader_bytes": "Table readers, measured",
    "resident_bytes": "Resident, measured",
}
_LIMITS = {
    "memtable_bytes": "Memtables, maximum",
    "filter_bytes": "Filters, expected",
    "block_cache": "Block cache",
    "total_bytes": "Sum at full size",
}


def memory_rows(outcome: Outcome) -> list[tuple[str, list[str]]]:
    """Returns labels and texts for each compared configuration: first its limits, then its measured memory.

    The texts are in the order of `outcome.sides`. Outcomes of older ledgers have no rows.
    """
    sides = outcome.sides.values()
    # Ledgers from before memory was recorded.
    if not any(side.memory for side in sides):
        return []
    rows = [(label, [_limit(side.memory, name) for side in sides]) for name, label in _LIMITS.items()]
    for field, label in _MEASURED.items():
        texts = [findings.format_field(field, side.figure(field).value) for side in sides]
        # db_bench and the user's own program do not report all kinds of memory.
        if set(texts) != {findings.UNKNOWN}:
            rows.append((f"{label} {findings.scale_phrase(outcome)}", texts))
    return rows


def _limit(memory: Memory | None, name: str) -> str:
    """Returns one limit of a configuration as text; `name` is a key of `_LIMITS`."""
    if memory is None:
        return "RocksDB's own" if name == "block_cache" else findings.UNKNOWN
    if name != "block_cache":
        return format_bytes(getattr(memory, name))
    cache = memory.block_cache
    if cache is None:
        return "none"
    return BlockCache(cache.capacity_bytes, cache.kind, tuple(cache.settings.items())).shown


def memory_sentence(outcome: Outcome) -> str:
    """Returns whether winner and baseline had equal memory, with the sizes; "" if unknown."""
    if outcome.best is None or outcome.best.memory is None or outcome.baseline.memory is None:
        return ""
    tuned, baseline = outcome.best.memory.total_bytes, outcome.baseline.memory.total_bytes
    if tuned == baseline:
        return f"Baseline and tuned configuration had equal memory: {format_bytes(tuned)} at full size."
    return (
        f"The tuned configuration may take {format_bytes(tuned)} of memory and the baseline "
        f"{format_bytes(baseline)}, at full size."
    )


def memory_section(outcome: Outcome) -> str:
    """Returns the section on memory; "" if nothing is known."""
    rows = memory_rows(outcome)
    if not rows:
        return ""
    heads = "".join(f'<th class="number">{escape(SIDES[side])}</th>' for side in outcome.sides)
    notes = "".join(f"<li>{escape(note)}</li>" for note in outcome.own_options_notes)
    return (
        f'<section><h2>Memory</h2>\n<p class="note">{escape(memory_sentence(outcome))} '
        "Measured values are means over the runs of the final proof.</p>\n"
        f'<div class="scroll"><table><thead><tr><th></th>{heads}</tr></thead><tbody>{_body(rows)}</tbody>'
        f"</table></div>\n{f'<ul>{notes}</ul>' if notes else ''}</section>\n"
    )


def _body(rows: Sequence[tuple[str, Sequence[str]]]) -> str:
    """Returns the HTML rows of a table, each with a label and its texts."""
    return "".join(
        f"<tr><td>{escape(label)}</td>"
        + "".join(f'<td class="number">{escape(text)}</td>' for text in texts)
        + "</tr>"
        for label, texts in rows
    )
