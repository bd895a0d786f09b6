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
    """One diagram.

    Attributes:
        title: what it shows.
        x: the horizontal axis' title, with its unit.
        y: the vertical one's.
        traces: as Plotly's JSON has them ("type", "x", "y", "name", ...).
    """

    title: str
    x: str
    y: str
    traces: Sequence[Mapping[str, Any]]


def lines(
    name: str, x: Sequence[float], y: Sequence[float], mode: str = "lines", **further: Any
) -> dict[str, Any]:
    """Returns a trace of lines, or of markers, with a name."""
    return {"type": "scatter", "mode": mode, "name": name, "x": list(x), "y": list(y), **further}


def bars(name: str, x: Sequence[str], y: Sequence[float], **further: Any) -> dict[str, Any]:
    """Returns a trace of bars with a name."""
    return {"type": "bar", "name": name, "x": list(x), "y": list(y), **further}


def write_figure(settings: Settings, title: str, panels: Sequence[Panel], columns: int = 2) -> None:
    """Writes the panels, so many in a row, as figure.html into `--out`; nothing without it.

    Lines and bars of one name have one colour in all panels, and stand in the legend once. The page takes
    Plotly's script from its publisher, so that the evidence in the repository stays small.
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
    """Returns a trace in its name's colour, unless it has one of its own or is of a kind without."""
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
