"""Figures of a LOG over time: levels, pending bytes, stalls, write amplification."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from html import escape
from operator import itemgetter

from rocktune.importing.logs import Opening, SeriesPoint, series
from rocktune.report.figures import Figure, axes

_MAX_LINES = 8
"""Families in one figure; as many as the page has colours for series."""
_GIB = 1 << 30
_Point = tuple[datetime, float]


def shown_families(opening: Opening) -> tuple[str, ...]:
    """Returns the families with the most data, or else the first ones, as many as a figure can show."""
    sizes = dict.fromkeys(opening.families, 0.0)
    for point in series(opening):
        sizes[point.family] = point.size_bytes or 0.0
    ordered = sorted(sizes, key=lambda name: -sizes[name])
    return tuple(ordered[:_MAX_LINES])


def level_sizes(opening: Opening) -> Figure | None:
    """Returns the figure of the size of each level, all families together; None with fewer than two dumps."""
    sizes: dict[str, dict[datetime, float]] = {}
    times = [dump.time for dump in opening.dumps if dump.time is not None and dump.families]
    for dump in opening.dumps:
        for family in dump.families:
            for row in family.levels:
                if dump.time is not None and row.size_bytes is not None:
                    level = sizes.setdefault(row.level, {})
                    level[dump.time] = level.get(dump.time, 0.0) + row.size_bytes / _GIB
    if len(times) < 2 or not sizes:
        return None
    traces: list[Figure] = [
        {
            "type": "scatter",
            "mode": "lines",
            "stackgroup": "levels",
            "name": escape(level),
            "x": [time.isoformat() for time in times],
            "y": [_rounded(sizes[level].get(time, 0.0)) for time in times],
            "line": {"color": f"role:series{at % _MAX_LINES}", "width": 1},
        }
        for at, level in enumerate(sorted(sizes, key=lambda level: (len(level), level)))
    ]
    return {"data": traces, "layout": _axes("GiB") | {"hovermode": "x unified"}}


def level0_files(opening: Opening) -> Figure | None:
    """Returns the figure of tables in level 0 by family."""
    points = [_of(point, point.level0_files) for point in series(opening)]
    if opening.levels:
        points = [(each.family, each.time, each.files[0]) for each in opening.levels if each.files]
    return _by_family(opening, points, "Files in level 0")


def pending_bytes(opening: Opening) -> Figure | None:
    """Returns the figure of bytes that compactions still have to rewrite, by family."""
    points = [
        (each.family, each.time, None if each.pending_bytes is None else each.pending_bytes / _GIB)
        for each in opening.levels
    ]
    if all(value is None for _, _, value in points):
        points = [
            _of(point, None if point.pending_bytes is None else point.pending_bytes / _GIB)
            for point in series(opening)
        ]
    return _by_family(opening, points, "GiB")


def write_amplification(opening: Opening) -> Figure | None:
    """Returns the figure of write amplification since the opening, by family."""
    points = [_of(point, point.write_amplification) for point in series(opening)]
    return _by_family(opening, points, "Bytes written per byte of user writes")


def stalled_share(opening: Opening) -> Figure | None:
    """Returns the figure of the share of time in which writes were delayed or stopped."""
    points: list[_Point] = []
    for dump in opening.dumps:
        percent = dump.db.interval.stall_percent if dump.db is not None else None
        if dump.time is not None and percent is not None:
            # RocksDB adds up the waits of all threads, so that several can wait more than the time.
            points.append((dump.time, percent))
    if len(points) < 2:
        return None
    trace = _line(points, "Delayed or stopped", "role:best")
    return {"data": [trace], "layout": _axes("% of time, all threads") | {"showlegend": False}}


def stall_periods(opening: Opening) -> Figure | None:
    """Returns the figure of delays and stops as bars from their beginning to their certain end, by family."""
    traces: list[Figure] = []
    for stops, name, colour in ((False, "Delayed", "role:series1"), (True, "Stopped", "role:series3")):
        x: list[str | None] = []
        y: list[str | None] = []
        for period in opening.stall_periods:
            if period.stops is stops and period.began is not None and period.over is not None:
                end = max(period.began, period.over)
                x += [period.began.isoformat(), end.isoformat(), None]
                label = escape(period.family)
                y += [label, label, None]
        if x:
            style = {"color": colour, "width": 6 if stops else 14}
            traces.append(
                {"type": "scatter", "mode": "lines+markers", "name": name, "x": x, "y": y, "line": style,
                 "marker": {"color": colour, "size": 6}}
            )  # fmt: skip
    layout = _axes("Column family that is the cause")
    layout["yaxis"] |= {"type": "category"}
    return {"data": traces, "layout": layout} if traces else None


def write_rates(opening: Opening) -> Figure | None:
    """Returns the figure of the lowest rate of delayed writes in each period, by family."""
    points = [
        (each.family, each.last, None if each.min_rate_bytes_s is None else each.min_rate_bytes_s / (1 << 20))
        for each in opening.stall_periods
    ]
    figure = _by_family(opening, points, "MiB/s, logarithmic", "markers")
    if figure is not None:
        figure["layout"]["yaxis"] |= {"type": "log", "rangemode": "normal"}
    return figure


def _of(point: SeriesPoint, value: float | None) -> tuple[str | None, datetime | None, float | None]:
    return point.family, point.time, value


def _by_family(
    opening: Opening,
    points: Iterable[tuple[str | None, datetime | None, float | None]],
    y_title: str,
    mode: str = "lines",
) -> Figure | None:
    """Returns a figure with one line for each shown family; None if none has two points.

    Args:
        opening: gives the shown families and the length of the axis.
        points: family, time and value; those without any of these are left out.
        y_title: title of the vertical axis.
        mode: Plotly's mode of the lines.
    """
    lines: dict[str, list[_Point]] = {family: [] for family in shown_families(opening)}
    for family, time, value in points:
        if family in lines and time is not None and value is not None:
            lines[family].append((time, value))
    traces = [
        _line(line, family, f"role:series{at}") | {"mode": mode}
        for at, (family, line) in enumerate(lines.items())
        if line
    ]
    enough = any(len(line) > 1 for line in lines.values()) or (traces and mode == "markers")
    return {"data": traces, "layout": _axes(y_title)} if enough else None


def _line(points: Sequence[_Point], name: str, colour: str) -> Figure:
    ordered = sorted(points, key=itemgetter(0))
    return {
        "type": "scatter",
        "mode": "lines",
        "name": escape(name),
        "x": [time.isoformat() for time, _ in ordered],
        "y": [_rounded(value) for _, value in ordered],
        "line": {"color": colour, "width": 2},
        "marker": {"color": colour},
    }


def _axes(y_title: str) -> Figure:
    layout = axes("Time", y_title)
    # The page starts axes at zero, which for dates is the year 1970.
    layout["xaxis"] |= {"type": "date", "rangemode": "normal"}
    return layout


def _rounded(value: float) -> float:
    return float(f"{value:.6g}")
