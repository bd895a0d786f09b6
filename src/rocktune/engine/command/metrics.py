"""Reads a measurement's figures from what the user's program has printed or written."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from rocktune.engine.base import RunFailed
from rocktune.engine.processes.postmortem import telling_line
from rocktune.engine.spec import MetricSpec
from rocktune.errors import unknown_name
from rocktune.trial import FIGURES, Status


def read_figures(
    metrics: Mapping[str, MetricSpec], said: str, required: Sequence[str] = ()
) -> dict[str, float]:
    """Returns the figures that a program reports.

    Args:
        metrics: where each figure is; without any, `said` ends with a JSON object that has them by name.
        said: what the program printed, or wrote into its result file.
        required: figures that have to be there, above 0, for the study states ratios of them.

    Returns:
        By measurement field; all of `metrics`, or those of `FIGURES` that the JSON object has.

    Raises:
        RunFailed: there are none, or one is missing, no number, not finite, or negative (status `crashed`).
    """
    if not said.strip():
        raise _nonsense("it printed nothing where its figures should be")
    figures = _named(metrics, said) if metrics else _listed(said)
    for name, value in figures.items():
        if not 0 <= value < math.inf:
            raise _nonsense(f"{name} is {value:g}, which cannot be")
    for name in required:
        if name not in figures:
            raise _nonsense(f"it reports no {name}, which the study asks for, only {', '.join(figures)}")
        if figures[name] == 0:
            raise _nonsense(f"{name} is 0, with which nothing can be compared")
    return figures


def _named(metrics: Mapping[str, MetricSpec], said: str) -> dict[str, float]:
    document = _document(said) if any(metric.field for metric in metrics.values()) else {}
    return {
        name: metric.times * (_at(document, metric.field) if metric.field else _matched(metric.pattern, said))
        for name, metric in metrics.items()
    }


def _listed(said: str) -> dict[str, float]:
    document = _document(said)
    figures = {name: _number(document[name], name) for name in FIGURES if name in document}
    if not figures:
        names = [name for name in document if isinstance(document[name], int | float)]
        hint = unknown_name("figure", names[0], FIGURES) if names else "it has no numbers"
        raise _nonsense(f"its JSON object has no figure that rocktune knows: {hint}")
    return figures


def _document(said: str) -> dict[str, Any]:
    """Returns the JSON object that the whole text is, or else its last line that is one."""
    for text in (said, *reversed(said.splitlines())):
        if text.strip().startswith("{"):
            try:
                document = json.loads(text)
            except (ValueError, RecursionError):
                continue
            if isinstance(document, dict):
                return document
    raise _nonsense(f"no line of its output is a JSON object; the last one: {telling_line(said)[:200]}")


def _at(document: dict[str, Any], field: str) -> float:
    value: Any = document
    for name in field.split("."):
        if not isinstance(value, dict) or name not in value:
            raise _nonsense(f"its JSON object has no field '{field}'")
        value = value[name]
    return _number(value, field)


def _matched(pattern: str | None, said: str) -> float:
    matches = list(re.finditer(pattern or "", said, re.MULTILINE))
    if not matches:
        raise _nonsense(f"nothing in its output matches '{pattern}'")
    return _number(matches[-1][1], f"what matches '{pattern}'")


def _number(value: Any, what: str) -> float:
    if isinstance(value, int | float | str) and not isinstance(value, bool):
        try:
            return float(value)
        except (ValueError, OverflowError):
            pass
    raise _nonsense(f"{what} is {value!r:.60}, no number")


def _nonsense(problem: str) -> RunFailed:
    return RunFailed(Status.CRASHED, problem)
