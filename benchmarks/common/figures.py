"""Figures of the benchmarks: panels of one Plotly page."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plotly.colors import qualitative
from plotly.subplots import make_subplots

from benchmarks.common.claims import Settings

_PANEL_HEIGHT = 420


@dataclass(frozen=True)
class Panel:
    """A diagram.

    Attributes:
        title: title of the diagram.
        x: title of the horizontal axis, with its unit.
        y: title of the vertical axis, with its unit.
        traces: traces in Plotly's JSON ("type", "x", "y", "name", ...).
    """

    title: str
    x: str
    y: str
    traces: Sequence[Mapping[str, Any]]


def lines(
    name: str, x: Sequence[float], y: Sequence[float], mode: str = "lines", **further: Any
) -> dict[str, Any]:
    """Returns a named trace of lines or markers."""
    return {"type": "scatter", "mode": mode, "name": name, "x": list(x), "y": list(y), **further}


def bars(name: str, x: Sequence[str], y: Sequence[float], **further: Any) -> dict[str, Any]:
    """Returns a named trace of bars."""
    return {"type": "bar", "name": name, "x": list(x), "y": list(y), **further}


def write_figure(settings: Settings, title: str, panels: Sequence[Panel], columns: int = 2) -> None:
    """Writes panels, `columns` in a row, as figure.html into `--out`; writes nothing without `--out`.

    Traces of one name share a colour in all panels and one entry in the legend. The page loads Plotly's
    script from its publisher, so that the evidence in the repository stays small.
    """
    if settings.out is None or not panels:
        return
    columns = min(columns, len(panels))
    colours = itertools.cycle(qualitative.Plotly)
    colour_of: dict[str, str] = {}
    rows = -(-len(panels) // columns)
    figure = make_subplots(rows=rows, cols=columns, subplot_titles=[panel.title for panel in panels])
    for position, panel in enumerate(panels):
        place = {"row": position // columns + 1, "col": position % columns + 1}
        for trace in panel.traces:
            figure.add_trace(_coloured(trace, colour_of, colours), **place)
        figure.update_xaxes(title_text=panel.x, **place)
        figure.update_yaxes(title_text=panel.y, **place)
    figure.update_layout(title=title, height=_PANEL_HEIGHT * rows, template="plotly_white", barmode="group")
    figure.write_html(settings.out / "figure.html", include_plotlyjs="cdn")


def _coloured(trace: Mapping[str, Any], colour_of: dict[str, str], colours: Iterator[str]) -> dict[str, Any]:
    """Returns a trace in its name's colour, unless it has its own or its type has none."""
    name = trace.get("name")
    if trace.get("type") not in ("scatter", "bar") or name is None or "line" in trace or "marker" in trace:
        return dict(trace)
    known = name in colour_of
    if not known:
        colour_of[name] = next(colours)
    painted = {"marker": {"color": colour_of[name]}}
    if trace["type"] == "scatter":
        painted["line"] = {"color": colour_of[name]}
    return {"legendgroup": name, "showlegend": not known, **trace, **painted}
