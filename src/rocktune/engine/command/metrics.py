"""Reads a measurement's figures from the output of the user's program."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from rocktune.engine.base import RunFailed
from rocktune.engine.processes.postmortem import cause_line
from rocktune.engine.spec import MetricSpec
from rocktune.errors import unknown_name
from rocktune.trial import FIGURES, Status


def read_figures(
    metrics: Mapping[str, MetricSpec], text: str, required: Sequence[str] = ()
) -> dict[str, float]:
    """Returns the figures that a program reports.

    Args:
        metrics: location of each figure. If empty, `text` ends with a JSON object that has them by name.
        text: the program's standard output, or the contents of its result file.
        required: figures that must be present and above 0, because the study reports ratios of them.

    Returns:
        The value of each figure: all of `metrics`, or those of `FIGURES` that the JSON object has.

    Raises:
        RunFailed: no figure is reported, or one is missing, not a finite number, or negative (status
            `crashed`).
    """
    if not text.strip():
        raise _unusable("it printed nothing where its figures should be")
    figures = _figures_by_metric(metrics, text) if metrics else _figures_by_name(text)
    for name, value in figures.items():
        if not 0 <= value < math.inf:
            raise _unusable(f"{name} is {value:g}, which is not a finite number from 0")
    for name in required:
        if name not in figures:
            raise _unusable(f"it reports no {name}, which the study needs, only {', '.join(figures)}")
        if figures[name] == 0:
            raise _unusable(f"{name} is 0, so no ratio to it can be computed")
    return figures


def _figures_by_metric(metrics: Mapping[str, MetricSpec], text: str) -> dict[str, float]:
    """Returns the figures of `metrics`, multiplied by their factors."""
    document = _document(text) if any(metric.field for metric in metrics.values()) else {}
    return {
        name: metric.times
        * (_field(document, metric.field) if metric.field else _last_match(metric.pattern, text))
        for name, metric in metrics.items()
    }


def _figures_by_name(text: str) -> dict[str, float]:
    """Returns the figures of the JSON object whose names rocktune knows."""
    document = _document(text)
    figures = {name: _number(document[name], name) for name in FIGURES if name in document}
    if not figures:
        names = [name for name in document if isinstance(document[name], int | float)]
        hint = unknown_name("figure", names[0], FIGURES) if names else "it has no numbers"
        raise _unusable(f"its JSON object has no figure that rocktune knows: {hint}")
    return figures


def _document(text: str) -> dict[str, Any]:
    """Parses the whole text as a JSON object, or else the last line that is one."""
    for candidate in (text, *reversed(text.splitlines())):
        if candidate.strip().startswith("{"):
            try:
                document = json.loads(candidate)
            except (ValueError, RecursionError):
                continue
            if isinstance(document, dict):
                return document
    raise _unusable(f"no line of its output is a JSON object; the last line: {cause_line(text)[:200]}")


def _field(document: dict[str, Any], field: str) -> float:
    """Returns the number in a field of a JSON object; dots lead into nested objects."""
    value: Any = document
    for name in field.split("."):
        if not isinstance(value, dict) or name not in value:
            raise _unusable(f"its JSON object has no field '{field}'")
        value = value[name]
    return _number(value, field)


def _last_match(pattern: str | None, text: str) -> float:
    """Returns the number in the first group of a pattern's last match."""
    matches = list(re.finditer(pattern or "", text, re.MULTILINE))
    if not matches:
        raise _unusable(f"nothing in its output matches '{pattern}'")
    # A benchmark that reports its progress prints the final figure last.
    return _number(matches[-1][1], f"the text that matches '{pattern}'")


def _number(value: Any, what: str) -> float:
    """Returns a JSON value as a number; `what` names it in the failure."""
    # Programs print numbers as strings too; true and false are integers in Python.
    if isinstance(value, int | float | str) and not isinstance(value, bool):
        try:
            return float(value)
        except (ValueError, OverflowError):
            pass
    raise _unusable(f"{what} is {value!r:.60}, which is not a number")


def _unusable(problem: str) -> RunFailed:
    """Returns the failure of a run whose output cannot be used."""
    return RunFailed(Status.CRASHED, problem)
