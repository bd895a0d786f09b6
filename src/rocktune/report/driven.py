"""The report of a driven store: latency and policies by mission, and the reasons of policy changes."""

from collections.abc import Mapping, Sequence
from html import escape
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from rocktune.report.document import document, write_document
from rocktune.report.figures import Figure, axes
from rocktune.report.sections import figure_section
from rocktune.units import format_seconds

_SMOOTHED = 9
"""Number of missions in the moving median of latency."""
_LOGGED = 200


def write_driven_report(path: Path, found: Mapping[str, Any]) -> None:
    """Writes the report of a result of `rocktune.api.drive`, replacing the file atomically."""
    write_document(path, render_driven(found))


def render_driven(found: Mapping[str, Any]) -> str:
    """Returns the report of a result of `rocktune.api.drive` as HTML."""
    scale = "" if found["scale"] == "1" else f", on a {found['scale']} model"
    kicker = f"{found['sessions']} on {found['device']}{scale} · {found['engine']}"
    took = format_seconds(found["seconds"])
    body = (
        f'<header>\n<p class="kicker">{escape(kicker)}</p>\n'
        f"<h1>{escape(found['controller'])}: {len(found['missions'])} missions in {took}</h1></header>\n"
        + _sessions(found["per_session"])
        + figure_section(
            "Latency",
            f"Dots: mean of each mission. Line: median of {_SMOOTHED} missions. Dotted lines separate "
            "sessions.",
            [_latency(found)],
        )
    )
    # RocksDB's own stores have no policies and no decisions.
    if any(mission["policy"] for mission in found["missions"]):
        body += figure_section(
            "Policies",
            "K, the number of sorted runs in a full level. 1 makes reads cheap, the size ratio makes "
            "writes cheap.",
            [_policies(found)],
        )
        body += _decisions(found["missions"])
    return document(f"{found['controller']} · {found['sessions']}", body)


def _sessions(sessions: Sequence[Mapping[str, Any]]) -> str:
    """Returns the HTML section with the table of sessions."""
    rows = "".join(
        f"<tr><td>{escape(each['workload'])}</td><td class='number'>{each['missions']}</td>"
        f"<td class='number'>{format_seconds(each['seconds'])}</td>"
        f"<td class='number'>{each['converged_at_mission'] or '–'}</td></tr>"
        for each in sessions
    )
    return (
        '<section><h2>Sessions</h2>\n<div class="scroll"><table><thead><tr><th>Workload</th>'
        "<th class='number'>Missions</th><th class='number'>Took</th>"
        f"<th class='number'>Settled at mission</th></tr></thead><tbody>{rows}</tbody></table></div>"
        "</section>\n"
    )


def _latency(found: Mapping[str, Any]) -> Figure:
    """Returns the figure of latency by mission."""
    latencies = np.array([mission["latency_us"] for mission in found["missions"]], float)
    numbers = list(range(1, len(latencies) + 1))
    half = _SMOOTHED // 2
    # A mission without operations has no latency.
    smooth = [float(np.nanmedian(latencies[max(0, at - half) : at + half + 1])) for at in range(len(numbers))]
    dots = {"type": "scatter", "mode": "markers", "marker": {"size": 4, "color": "role:muted"}}
    line = {"type": "scatter", "mode": "lines", "line": {"width": 2, "color": "role:best"}}
    traces: list[Figure] = [
        dots | {"x": numbers, "y": _rounded(latencies.tolist()), "name": "mission"},
        line | {"x": numbers, "y": _rounded(smooth), "name": "median"},
    ]
    return {"data": traces, "layout": axes("Mission", "µs per operation") | {"shapes": _borders(found)}}


def _policies(found: Mapping[str, Any]) -> Figure:
    """Returns the figure of each level's K by mission."""
    missions = found["missions"]
    levels = max(len(mission["policy"]) for mission in missions)
    traces: list[Figure] = [
        {
            "type": "scatter",
            "mode": "lines",
            # Steps, because a policy holds until it is changed.
            "line": {"width": 2, "shape": "hv", "color": f"role:series{level % 8}"},
            "name": f"level {level + 1}",
            "x": list(range(1, len(missions) + 1)),
            "y": [
                mission["policy"][level] if level < len(mission["policy"]) else None for mission in missions
            ],
        }
        for level in range(levels)
    ]
    return {"data": traces, "layout": axes("Mission", "K") | {"shapes": _borders(found)}}


def _borders(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Returns a dotted vertical line after the last mission of each session, as Plotly shapes."""
    ends = list(accumulate(each["missions"] for each in found["per_session"]))[:-1]
    return [
        {
            "type": "line", "xref": "x", "yref": "paper", "x0": end + 0.5, "x1": end + 0.5, "y0": 0, "y1": 1,
            "line": {"color": "role:muted", "width": 1, "dash": "dot"},
        }
        for end in ends
    ]  # fmt: skip


def _decisions(missions: Sequence[Mapping[str, Any]]) -> str:
    """Returns the table of the last policy changes with their reasons; "" without changes."""
    explained = [(number, mission["why"]) for number, mission in enumerate(missions, 1) if mission["why"]]
    if not explained:
        return ""
    rows = "".join(
        f"<tr><td class='number'>{number}</td><td>{escape(why)}</td></tr>"
        for number, why in explained[-_LOGGED:]
    )
    left_out = f"<p>The last {_LOGGED} of {len(explained)} decisions.</p>" if len(explained) > _LOGGED else ""
    return (
        "<section><h2>Policy changes and their "
        f"reasons</h2>\n{left_out}<div class='scroll'><table><thead><tr>"
        f"<th class='number'>After mission</th><th>Why</th></tr></thead><tbody>{rows}</tbody></table></div>"
        "</section>\n"
    )


def _rounded(values: Sequence[float]) -> list[float | None]:
    """Returns values with five digits, None for NaN, which JSON lacks."""
    return [None if value != value else float(f"{value:.5g}") for value in values]
