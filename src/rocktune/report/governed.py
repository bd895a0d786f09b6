"""The report of a governed run: accepted writes, their cost for reads, and the course of both over time."""

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from rocktune.report.document import document, write_document
from rocktune.report.figures import Figure, axes
from rocktune.report.findings import format_number
from rocktune.report.sections import figure_section
from rocktune.units import format_bytes, format_seconds

GOVERNED_LABELS = {
    "writes_accepted": "Writes accepted",
    "ingest_mb_s": "User writes (MB/s)",
    "random_read_ops_s_after": "Random reads afterwards (operations/s)",
    "read_hit_ratio": "Reads that found their key",
    "write_latency_us_p999": "Write latency, p99.9 (µs)",
    "max_write_stop_ms": "Longest stop of writes (ms)",
    "stalled_share": "Share of time with writes delayed or stopped",
    "compaction_mb_s": "Writes of flushes and compactions (MB/s)",
    "db_bytes": "Size of the store",
    "write_amplification": "Write amplification",
}
"""Labels of a governed run's figures in tables."""

_RATES = (
    ("writes_mb_s", "Accepted writes", "role:series0"),
    ("flush_mb_s", "Flushes", "role:cause1"),
    ("compaction_write_mb_s", "Compaction, written", "role:cause2"),
    ("compaction_read_mb_s", "Compaction, read", "role:cause3"),
)


def write_governed_report(path: Path, found: Mapping[str, Any]) -> None:
    """Writes the report of a result of `rocktune.online.figures_of`, replacing the file atomically."""
    write_document(path, render_governed(found))


def governed_value(name: str, value: float | None) -> str:
    """Returns a figure of a governed run as text with its unit."""
    if value is None or value != value:
        return "–"
    if name == "db_bytes":
        return format_bytes(value)
    if name in ("read_hit_ratio", "stalled_share"):
        return f"{value:.1%}"
    return f"{value:,.0f}" if value >= 1000 else format_number(float(value))


def render_governed(found: Mapping[str, Any]) -> str:
    """Returns the report of a result of `rocktune.online.figures_of` as HTML."""
    series = found["series"]
    scale = "" if found["scale"] == "1" else f", on a {found['scale']} model, in full-size units"
    what = (
        f"{found['mode']} · {found['workload']} on {found['device']}, {format_seconds(found['seconds'])}"
        f"{scale} · {found['engine']}"
    )
    accepted = governed_value("ingest_mb_s", found["ingest_mb_s"])
    title = f"Compactions {escape(found['mode'])}: {accepted} MB/s accepted"
    body = (
        f'<header>\n<p class="kicker">{escape(what)}</p>\n<h1>{title}</h1></header>\n'
        + _table(found)
        + figure_section(
            "Writes by cause",
            "Shaded: RocksDB's own compactions were off. Dashed: bandwidth that the governor left to "
            "compactions.",
            [_rates(series)],
        )
        + figure_section(
            "Files in level 0",
            "Each is a sorted run that a read may have to search.",
            [_line(series, "level0_files", "Files in level 0")],
        )
        + figure_section(
            "Write latency",
            "99.9th percentile in each window, counted from the time at which a write was due.",
            [_line(series, "write_latency_us_p999", "µs, logarithmic", log=True)],
        )
    )
    return document(f"Compactions {found['mode']} · {found['workload']}", body)


def _table(found: Mapping[str, Any]) -> str:
    """Returns the HTML section with the figures and the governor's settings."""
    rows = "".join(
        f'<tr><td>{escape(label)}</td><td class="number">{governed_value(name, found[name])}</td></tr>'
        for name, label in GOVERNED_LABELS.items()
    )
    levels = " · ".join(format_bytes(size) for size in found["level_bytes"] if size) or "empty"
    settings = ", ".join(f"{name} = {text}" for name, text in found["governor_settings"].items())
    governor = (
        "Governor settings" if found["scale"] == "1" else f"Governor settings on the {found['scale']} model"
    )
    return (
        f'<section><h2>Result</h2>\n<div class="scroll"><table><tbody>{rows}'
        f"<tr><td>Bytes by level, from the top</td><td>{escape(levels)}</td></tr></tbody></table></div>"
        + (f'<p class="note">{governor}: {escape(settings)}</p>' if settings else "")
        + "</section>\n"
    )


def _rates(series: Mapping[str, Sequence[Any]]) -> Figure:
    """Returns the figure of writes by cause over time."""
    traces: list[Figure] = [
        _trace(series, name, {"name": label, "line": {"color": colour, "width": 2}})
        for name, label, colour in _RATES
    ]
    # Modes without a governor have no limit to draw.
    if any(limit is not None for limit in series["compaction_limit_mb_s"]):
        line = {"color": "role:muted", "width": 1.5, "dash": "dash"}
        traces.append(_trace(series, "compaction_limit_mb_s", {"name": "Limit of compactions", "line": line}))
    layout = axes("Time (s)", "MB/s") | {"hovermode": "x unified", "shapes": _off_shapes(series)}
    return {"data": traces, "layout": layout}


def _off_shapes(series: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Returns a shaded rectangle for each window that ended with compactions off."""
    # A window begins where the one before it ends.
    begins = [0.0, *series["time_s"]]
    return [
        {
            "type": "rect", "xref": "x", "yref": "paper", "x0": begin, "x1": end, "y0": 0, "y1": 1,
            "fillcolor": "role:muted/26", "line": {"width": 0}, "layer": "below",
        }
        for begin, end, off in zip(begins, series["time_s"], series["compactions_off"], strict=False)
        if off
    ]  # fmt: skip


def _line(series: Mapping[str, Sequence[Any]], name: str, title: str, log: bool = False) -> Figure:
    """Returns the figure of one series over time."""
    layout = axes("Time (s)", title)
    if log:
        # Latency at the peak of a wave is many times that in its trough.
        layout["yaxis"] |= {"type": "log", "dtick": 1}
    return {
        "data": [_trace(series, name, {"line": {"color": "role:best", "width": 2}})],
        "layout": layout | {"showlegend": False},
    }


def _trace(series: Mapping[str, Sequence[Any]], name: str, style: dict[str, Any]) -> Figure:
    """Returns a Plotly line of one series; `style` overrides its properties."""
    # NaN is the only value that differs from itself; JSON has null instead.
    values = [None if value is None or value != value else float(f"{value:.6g}") for value in series[name]]
    times_s = [float(f"{second:.6g}") for second in series["time_s"]]
    return {"type": "scatter", "mode": "lines", "x": times_s, "y": values} | style
