"""Figures of the benchmarks: panels of one Plotly page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plotly.subplots import make_subplots

from benchmarks.claims import Settings

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


def write_figure(settings: Settings, title: str, panels: Sequence[Panel]) -> None:
    """Writes the panels, two in a row, as figure.html into `--out`; nothing without it.

    The page takes Plotly's script from its publisher, so that the evidence in the repository stays small.
    """
    if settings.out is None or not panels:
        return
    columns = min(2, len(panels))
    rows = -(-len(panels) // columns)
    figure = make_subplots(rows=rows, cols=columns, subplot_titles=[panel.title for panel in panels])
    for position, panel in enumerate(panels):
        place = {"row": position // columns + 1, "col": position % columns + 1}
        for trace in panel.traces:
            figure.add_trace(dict(trace), **place)
        figure.update_xaxes(title_text=panel.x, **place)
        figure.update_yaxes(title_text=panel.y, **place)
    figure.update_layout(title=title, height=_PANEL_HEIGHT * rows, template="plotly_white", barmode="group")
    figure.write_html(settings.out / "figure.html", include_plotlyjs="cdn")
