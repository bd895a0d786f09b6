"""Explains what held a store up, from its LOG files."""

from collections.abc import Sequence
from dataclasses import fields
from datetime import datetime
from pathlib import Path
from typing import Any

from rocktune.analysis.explain import Explained, Explanation, explain
from rocktune.api.logs import read_log
from rocktune.importing import read_options_document
from rocktune.study import Observer


def explain_log(
    logs: Sequence[str | Path],
    *,
    options_file: str | Path | None = None,
    observer: Observer | None = None,
) -> Explanation:
    """Finds what held writes or reads up, why, and what to try.

    Args:
        logs: LOG files in any order, or directories of databases; see `read_log`.
        options_file: the store's OPTIONS file, or another system's configuration, for options that the LOG
            does not state; None for none.
        observer: observer of progress.

    Returns:
        The findings of each opening of a database, those that cost most first. `explanation_json` gives them
        as plain data.

    Raises:
        UserError: a file cannot be read, or is no LOG or no OPTIONS file.
    """
    document = read_log(logs, observer=observer)
    options = None if options_file is None else read_options_document(Path(options_file))
    return explain(document, options)


def explanation_json(explanation: Explanation) -> dict[str, Any]:
    """Returns an explanation as plain data: `files`, `notes`, and `openings` with their `findings`."""
    return {
        "files": list(explanation.document.files),
        "notes": list(explanation.document.notes),
        "openings": [_opening(each) for each in explanation.openings],
    }


def _opening(explained: Explained) -> dict[str, Any]:
    opening = explained.opening
    return {
        "product": opening.product,
        "version": opening.version,
        "first": opening.first,
        "last": opening.last,
        "families": list(opening.families),
        "held_share": explained.held_share,
        "held_s": explained.held_s,
        "held_is_counted": explained.counted,
        "findings": [_finding(finding) for finding in explained.findings],
        "unknowns": list(explained.unknowns),
    }


def _finding(finding: Any) -> dict[str, Any]:
    """Returns a finding's fields with the times of its evidence; what it covers is of no use outside."""
    found = {name: value for name, value in _fields(finding).items() if name != "covers"}
    return found | {"first": finding.first, "last": finding.last}


def _fields(item: Any) -> dict[str, Any]:
    return {field.name: _plain(getattr(item, field.name)) for field in fields(item)}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    if value is None or isinstance(value, str | int | float | datetime | frozenset):
        return value
    return _fields(value)
