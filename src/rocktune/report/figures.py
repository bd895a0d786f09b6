"""The report's figures as Plotly specifications.

Colours are roles (`role:best`) that theme.js replaces by the colours of the page's light or dark theme. All
text that a user could have chosen is escaped, because Plotly interprets markup in labels.
"""

import html
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rocktune.ledger import TrialRecord
from rocktune.objective import Objective, is_larger_better
from rocktune.outcome import Outcome
from rocktune.report.findings import field_label, field_unit, objective_of, primary_field
from rocktune.trial import Configuration, Measurement

Figure = dict[str, Any]

SIDES = {"best": "Tuned", "baseline": "Baseline", "rocksdb_defaults": "RocksDB defaults"}
"""Labels of the three compared configurations, by their names in the outcome."""

CAUSES = {
    "wal": "Write-ahead log",
    "flush": "Flush",
    "compaction_write": "Compaction, written",
    "compaction_read": "Compaction, read",
    "user_read": "User reads",
    "other": "Other",
}
_DASHES = {"best": "solid", "baseline": "dash", "rocksdb_defaults": "dot"}
_TAILS = {"p50": "p50", "p95": "p95", "p99": "p99", "p999": "p99.9"}


def proof_phase(outcome: Outcome) -> str:
    """Returns the phase of the outcome's figures: the study's own proof, or a later verification."""
    scale = outcome.verified_at_scale
    # A later verification at another scale replaces the outcome's figures, under a phase of its own.
    return "prove" if scale == outcome.search_scale else f"verify {scale}"


def proof_runs(outcome: Outcome, trials: Sequence[TrialRecord]) -> dict[str, list[Measurement]]:
    """Returns the proof's measurements by configuration (keys of `SIDES`), in the order of measuring."""
    runs: dict[str, list[Measurement]] = {}
    phase = proof_phase(outcome)
    for name, side in outcome.sides.items():
        found = _measured(trials, (phase,), Configuration(side.configuration).key)
        if found:
            runs[name] = found
    return runs


def _measured(trials: Sequence[TrialRecord], phases: Sequence[str], key: str) -> list[Measurement]:
    """Returns the successful measurements of one configuration in some phases."""
    return [
        record.measurement
        for record in trials
        if record.phase in phases and record.measurement and record.trial.configuration.key == key
    ]


def median_figure(runs: Sequence[Measurement], field: str) -> float:
    """Returns the median of a figure over runs, NaN if no run has it."""
    values = [run.figures[field] for run in runs]
    defined = [value for value in values if not math.isnan(value)]
    return float(np.median(defined)) if defined else math.nan


def search_progress(outcome: Outcome, trials: Sequence[TrialRecord]) -> Figure | None:
    """Returns the figure of the search: each trial and the best so far, over seconds of measuring.

    Values are multiples of the baseline at the nearest age, because young stores are faster than old ones.

    Returns:
        None if the search or the baseline measured nothing.
    """
    field = primary_field(outcome)
    at_s, ratios, hovers = _search_points(objective_of(outcome), trials)
    if not ratios:
        return None
    traces = [
        {
            "type": "scatter",
            "mode": "markers",
            "name": "Trial",
            "x": at_s,
            "y": ratios,
            "text": hovers,
            "marker": {"color": "role:muted", "size": 7, "opacity": 0.75},
            "hovertemplate": "%{y:.2f} × baseline<br>%{text}<extra>Trial</extra>",
        },
        {
            "type": "scatter",
            "mode": "lines",
            "name": "Best so far",
            "x": at_s,
            "y": [float(ratio) for ratio in np.maximum.accumulate(ratios)],
            "line": {"color": "role:best", "width": 2.5, "shape": "hv"},
            "hovertemplate": "%{y:.2f} × baseline<extra>Best so far</extra>",
        },
        {
            "type": "scatter",
            "mode": "lines",
            "name": "Baseline",
            "x": [0, at_s[-1]],
            "y": [1, 1],
            "line": {"color": "role:baseline", "width": 2, "dash": "dash"},
            "hoverinfo": "skip",
        },
    ]
    title = f"{field_label(field)}, times better than the baseline"
    return {"data": traces, "layout": axes("Time spent measuring (s)", title) | {"hovermode": "closest"}}


def _search_points(
    objective: Objective, trials: Sequence[TrialRecord]
) -> tuple[list[float], list[float], list[str]]:
    """Returns seconds of measuring, multiples of the baseline and hover texts of the trials."""
    field = objective.primary
    baselines = {
        record.trial.until_s: objective.figure_of(record.measurement, field)
        for record in trials
        if record.phase == "baseline" and record.measurement
    }
    spent, at_s, ratios, hovers = 0.0, [], [], []
    for record in trials:
        # Phases other than the search do not advance the axis of time spent searching.
        if record.phase != "search":
            continue
        spent += record.measured_s
        if not record.measurement or not baselines:
            continue
        age_s, value = record.trial.until_s, objective.figure_of(record.measurement, field)
        ratio = objective.improvement(value, baselines[min(baselines, key=lambda age: abs(age - age_s))])
        if not math.isnan(ratio):
            at_s.append(round(spent, 3))
            ratios.append(ratio)
            hovers.append(f"{value:,.4g} {field_unit(field)} at age {age_s:.3g} s")
    return at_s, ratios, hovers


def throughput_series(outcome: Outcome, trials: Sequence[TrialRecord]) -> Figure | None:
    """Returns the figure of throughput over age: the proof's configurations, and other finalists thin.

    Returns:
        None if no series was recorded.
    """
    runs = proof_runs(outcome, trials)
    shown = {Configuration(outcome.sides[side].configuration).key for side in runs}
    traces = [
        _series_trace(_series(found), "Other finalists", "muted", "solid", 1.2) | {"legendgroup": "finalists"}
        for found in (_finalists(trials, shown) if proof_phase(outcome) == "prove" else ())
    ]
    # One entry in the legend stands for all finalists.
    for trace in traces[1:]:
        trace["showlegend"] = False
    traces += [
        _series_trace(_series(found), SIDES[side], side, _DASHES[side], 2.5) for side, found in runs.items()
    ]
    if not any(trace["x"] for trace in traces):
        return None
    layout = axes("Age of the run (s of load)", "Throughput (operations/s)") | {"hovermode": "x unified"}
    return {"data": traces, "layout": layout}


def _finalists(trials: Sequence[TrialRecord], shown: set[str]) -> list[list[Measurement]]:
    """Returns the measurements in the pick of each configuration that is not among `shown`."""
    found: dict[str, list[Measurement]] = {}
    for record in trials:
        key = record.trial.configuration.key
        if record.phase == "pick" and record.measurement and key not in shown:
            found.setdefault(key, []).append(record.measurement)
    return list(found.values())


def _series(runs: Sequence[Measurement]) -> tuple[list[float], list[float]]:
    """Returns ages and operations per second, the mean over runs, in at most about 200 points.

    Empty if an engine other than the worker reported no series.
    """
    # db_bench and the user's own program report no series.
    if any("series" not in run.raw for run in runs):
        return [], []
    interval_s = float(runs[0].raw["series"]["interval_s"])
    # The small term keeps a rounding error from dropping the last whole interval.
    whole = min(int(run.until_s / interval_s + 1e-6) for run in runs)
    # A program other than the worker may end before it reports its last interval.
    length = min(whole, *(len(run.raw["series"]["operations"]) for run in runs))
    if length == 0:
        return [], []
    mean = np.mean([run.raw["series"]["operations"][:length] for run in runs], axis=0)
    step = max(1, length // 200)
    # An incomplete last group would be a mean of fewer intervals, and noisier.
    kept = length - length % step
    smooth = mean[:kept].reshape(-1, step).mean(axis=1) / interval_s
    ages = (np.arange(smooth.size) + 1) * step * interval_s
    return [round(float(age), 4) for age in ages], [round(float(value), 1) for value in smooth]


def _series_trace(
    points: tuple[list[float], list[float]], name: str, role: str, dash: str, width: float
) -> dict[str, Any]:
    """Returns a Plotly line of throughput over age."""
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": points[0],
        "y": points[1],
        "line": {"color": f"role:{role}", "width": width, "dash": dash},
        "hovertemplate": "%{y:,.4s}",
    }


def latency_percentiles(kind: str, runs: Mapping[str, Sequence[Measurement]]) -> Figure | None:
    """Returns the figure of latency percentiles of one kind of operation ("read", "write", "scan").

    Returns:
        None without such operations.
    """
    traces = []
    for side, found in runs.items():
        values = [median_figure(found, f"{kind}_latency_us_{tail}") for tail in _TAILS]
        if not all(math.isnan(value) for value in values):
            traces.append(
                {
                    "type": "bar",
                    "name": SIDES[side],
                    "x": list(_TAILS.values()),
                    "y": [None if math.isnan(value) else round(value, 2) for value in values],
                    "marker": {"color": f"role:{side}"},
                    "hovertemplate": "%{y:,.4s} µs",
                }
            )
    layout = axes("Percentile", f"{kind.capitalize()} latency (µs, logarithmic)")
    # Tails are often ten times the median; on a linear axis the median would vanish.
    layout["yaxis"] |= {"type": "log", "dtick": "D2"}
    layout["xaxis"] |= {"type": "category", "showgrid": False}
    return {"data": traces, "layout": layout | {"hovermode": "x unified", "bargap": 0.3}} if traces else None


def bytes_by_cause(runs: Mapping[str, Sequence[Measurement]]) -> Figure | None:
    """Returns the figure of device bytes per operation by cause, for the proof's configurations.

    Returns:
        None if nothing was measured.
    """
    # Plotly draws horizontal bars from the bottom up.
    sides = list(runs)[::-1]
    traces = []
    for position, (cause, label) in enumerate(CAUSES.items()):
        values = [_bytes_per_operation(runs[side], cause) for side in sides]
        if any(value > 0 for value in values):
            traces.append(
                {
                    "type": "bar",
                    "orientation": "h",
                    "name": label,
                    "x": values,
                    "y": [SIDES[side] for side in sides],
                    "marker": {"color": f"role:cause{position}"},
                    "hovertemplate": "%{x:,.4s}B per operation<extra>" + label + "</extra>",
                }
            )
    layout = axes("Device bytes per operation", "")
    layout["yaxis"] |= {"showgrid": False, "ticksuffix": "  "}
    layout["xaxis"] |= {"ticksuffix": "B", "tickformat": "~s"}
    return {"data": traces, "layout": layout | {"barmode": "stack", "bargap": 0.45}} if traces else None


def _bytes_per_operation(runs: Sequence[Measurement], cause: str) -> float:
    """Returns the median over runs of the device bytes of one cause per operation."""
    # Engines other than the worker know fewer causes.
    ratios = [run.raw["device_bytes"].get(cause, 0) / run.operations() for run in runs if run.operations()]
    return round(float(np.median(ratios)), 1) if ratios else 0.0


def arms_map(arms: Sequence[Mapping[str, Any]], outcome: Outcome) -> Figure | None:
    """Returns the map of Dremel's arms: half of the features down, half across, coloured by best result.

    Args:
        arms: arms as `arms.arm_results` returns them, all with the same features.
        outcome: outcome of the study.

    Returns:
        None without arms.
    """
    if not arms:
        return None
    features = list(arms[0]["buckets"])
    # Four features make a map of two by two.
    down, across = features[: len(features) // 2], features[len(features) // 2 :]
    rows = sorted({tuple(arm["buckets"][name] for name in down) for arm in arms})
    columns = sorted({tuple(arm["buckets"][name] for name in across) for arm in arms})
    values: list[list[float | None]] = [[None] * len(columns) for _ in rows]
    counts = [[0] * len(columns) for _ in rows]
    for arm in arms:
        row = rows.index(tuple(arm["buckets"][name] for name in down))
        column = columns.index(tuple(arm["buckets"][name] for name in across))
        values[row][column], counts[row][column] = arm["value"], arm["trials"]
    field = primary_field(outcome)
    trace = {
        "type": "heatmap",
        "x": [_bucket_label(column) for column in columns],
        "y": [_bucket_label(row) for row in rows],
        "z": values,
        "customdata": counts,
        # With more rows the numbers no longer fit into the cells.
        "texttemplate": "%{z:.3s}" if len(rows) <= 4 else "",
        "xgap": 3,
        "ygap": 3,
        "colorscale": [[0, "role:low"], [1, "role:high"]],
        # Of all other objectives smaller is better; the best always has the colour role:high.
        "reversescale": not is_larger_better(field),
        "showscale": False,
        "hoverongaps": False,
        "hovertemplate": f"%{{z:,.4s}} {field_unit(field)}<br>%{{customdata}} trials<extra></extra>",
    }
    layout = axes(_arm_title(across), _arm_title(down))
    for axis in ("xaxis", "yaxis"):
        layout[axis] |= {"type": "category", "showgrid": False}
    return {"data": [trace], "layout": layout | {"hovermode": "closest"}}


def _bucket_label(buckets: tuple[int, ...]) -> str:
    """Returns the buckets of one row or column of the map as a label."""
    return " · ".join(map(str, buckets))


def _arm_title(features: Sequence[str]) -> str:
    """Returns the title of an axis of the map, which names its features."""
    return "<br>× ".join(html.escape(f"bucket of {name.replace('_', ' ')}") for name in features)


def field_title(field: str) -> str:
    """Returns the title of an axis for a figure, with its unit."""
    label, unit = html.escape(field_label(field)), field_unit(field)
    return f"{label[:1].upper()}{label[1:]}" + (f" ({unit})" if unit else "")


def axes(x_title: str, y_title: str) -> Figure:
    """Returns a Plotly layout of two axes with titles."""
    return {"xaxis": {"title": {"text": x_title}}, "yaxis": {"title": {"text": y_title}}}
