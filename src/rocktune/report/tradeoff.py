"""The report of a trade-off map: which shape of the tree suits which mix of operations."""

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from rocktune.report.document import document, write_document
from rocktune.report.figures import Figure, axes
from rocktune.report.sections import figure_section

_COLOURS = 8
"""Number of colours for series; further series repeat them."""


def write_tradeoff_report(path: Path, found: Mapping[str, Any]) -> None:
    """Writes the report of a result of `rocktune.api.map_flsm`, replacing the file atomically."""
    write_document(path, render_tradeoff(found))


def render_tradeoff(found: Mapping[str, Any]) -> str:
    """Returns the report of a result of `rocktune.api.map_flsm` as HTML."""
    settings = _settings(found["summary"])
    scale = "" if found["scale"] == "1" else f", on a {found['scale']} model"
    keys = "absent" if found["absent"] else "present"
    kicker = f"{found['workload']} on {found['device']}{scale} · lookups of {keys} keys · {found['engine']}"
    best = ", ".join(f"{share:.0%} lookups: {escape(shape)}" for share, shape in _best(found).items())
    body = (
        f'<header>\n<p class="kicker">{escape(kicker)}</p>\n<h1>Best shape by lookups</h1>'
        f"<p>{best}</p></header>\n"
        + figure_section(
            "Throughput",
            "As a share of the best shape's throughput with the same mix of operations.",
            [_throughput(found["summary"], setting) for setting in settings],
        )
        + figure_section(
            "Write amplification",
            "Bytes written to the device for each byte that the user writes.",
            [_lines(found["summary"], setting, "write_amplification", "times") for setting in settings],
        )
        + figure_section(
            "Lookup latency",
            "99th percentile.",
            [
                _lines(found["summary"], setting, "read_latency_us_p99", "µs", log=True)
                for setting in settings
            ],
        )
        + _table(found["summary"])
    )
    return document(f"Map of the trade-off · {found['workload']}", body)


def _settings(summary: Sequence[Mapping[str, Any]]) -> list[tuple[str, float]]:
    """Returns the distinct filters as (scheme, bits per key)."""
    return list(dict.fromkeys((row["filters"], row["bits_per_key"]) for row in summary))


def _best(found: Mapping[str, Any]) -> dict[float, str]:
    """Returns the shape of the highest throughput for each share of lookups."""
    best: dict[float, Mapping[str, Any]] = {}
    for row in found["summary"]:
        known = best.get(row["lookups"])
        if known is None or row["throughput_ops_s"] > known["throughput_ops_s"]:
            best[row["lookups"]] = row
    return {share: str(row["shape"]) for share, row in best.items()}


def _throughput(summary: Sequence[Mapping[str, Any]], setting: tuple[str, float]) -> Figure:
    """Returns the figure of each shape's share of the best throughput with the same mix."""
    best: dict[float, float] = {}
    for row in summary:
        best[row["lookups"]] = max(best.get(row["lookups"], 0.0), row["throughput_ops_s"])
    shares = [dict(row) | {"share": row["throughput_ops_s"] / best[row["lookups"]]} for row in summary]
    return _lines(shares, setting, "share", "share of the best")


def _lines(
    rows: Sequence[Mapping[str, Any]], setting: tuple[str, float], name: str, unit: str, log: bool = False
) -> Figure:
    """Returns a figure with one line per share of lookups over the shapes."""
    shown = [row for row in rows if (row["filters"], row["bits_per_key"]) == setting]
    traces: list[Figure] = []
    for number, share in enumerate(dict.fromkeys(row["lookups"] for row in shown)):
        # NaN is the only value that differs from itself: latency without lookups.
        points = [row for row in shown if row["lookups"] == share and row[name] == row[name]]
        colour = f"role:series{number % _COLOURS}"
        traces.append(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": f"{share:.0%} lookups",
                "x": [f"K={row['shape']}" if row["shape"].isdigit() else row["shape"] for row in points],
                "y": [float(f"{row[name]:.5g}") for row in points],
                "line": {"color": colour, "width": 2},
            }
        )
    scheme, bits = setting
    layout = axes(f"{scheme} filters, {bits:g} bits per key", unit)
    layout["xaxis"] |= {"type": "category"}
    if log:
        layout["yaxis"] |= {"type": "log"}
    return {"data": traces, "layout": layout}


def _table(summary: Sequence[Mapping[str, Any]]) -> str:
    """Returns the HTML section with the table of all points."""
    heads = ("lookups", "shape", "filters", "bits", "operations/s", "lowest", "highest", "read p99 (µs)",
             "write p99 (µs)", "write amplification", "stalled", "compaction's share of the I/O")  # fmt: skip
    head = "".join(f"<th>{escape(name)}</th>" for name in heads)
    rows = "".join(f"<tr>{''.join(_cells(row))}</tr>" for row in summary)
    return (
        '<section><h2>Every point</h2>\n<div class="scroll"><table>'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div></section>\n"
    )


def _cells(row: Mapping[str, Any]) -> list[str]:
    """Returns the HTML cells of one point."""

    def number(name: str, style: str = ",.0f") -> str:
        value = row[name]
        return "–" if value != value else format(value, style)

    texts = [
        f"{row['lookups']:.0%}", escape(row["shape"]), escape(row["filters"]), f"{row['bits_per_key']:g}",
        number("throughput_ops_s"), number("throughput_ops_s_low"), number("throughput_ops_s_high"),
        number("read_latency_us_p99"), number("write_latency_us_p99"), number("write_amplification", ".1f"),
        number("stalled_share", ".1%"), number("compaction_share", ".0%"),
    ]  # fmt: skip
    return [f'<td class="number">{text}</td>' for text in texts]
