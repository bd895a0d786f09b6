"""Report sections on the Pareto front of several objectives, and on constraints."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from rocktune.ledger import TrialRecord
from rocktune.objective import Feasibility
from rocktune.outcome import FrontPoint, Outcome
from rocktune.report import findings, sections
from rocktune.report.figures import Figure, axes, field_title
from rocktune.study.proving.bounds import recorded_bounds
from rocktune.trial import Result

_LINE = {"color": "role:best", "width": 2, "shape": "hv"}
_ROLES = {
    Feasibility.FEASIBLE: ("Trial", "muted", "circle"),
    Feasibility.INFEASIBLE: ("Breaks a constraint", "warn", "x"),
}


def section(outcome: Outcome, trials: Sequence[TrialRecord]) -> str:
    """Returns the sections on front and constraints; "" for one objective without constraints."""
    fields = fields_of(outcome)
    # One figure has no plane to draw.
    if len(fields) < 2:
        return ""
    growth = sections.figure_section(
        "Growth of the front",
        "The hypervolume: the share of the plane between the worst and the best seen in each objective that "
        "the front dominates. Where the line is flat, further searching found nothing better.",
        [growth_of_front(outcome)],
        short=True,
    )
    figure = sections.figure_section(
        "The front" if outcome.front else "Constraints",
        "Each trial of the search at its full age, in two figures. No other point beats a point of the "
        "front in all objectives by more than noise. The front's points were measured again in fresh runs."
        if outcome.front
        else "Each trial of the search at its full age: the objective and the constrained figure.",
        [scatter(outcome, trials)],
    )
    return figure + _table(outcome) + growth


def fields_of(outcome: Outcome) -> list[str]:
    """Returns the fields of objectives and constraints; empty for "balance" without constraints."""
    objective = findings.objective_of(outcome)
    return list(objective.all_fields) if objective.seeks_front or objective.constraints else []


def scatter(outcome: Outcome, trials: Sequence[TrialRecord]) -> Figure | None:
    """Returns a figure of the search's trials in the first two fields, with front and baseline.

    Returns:
        None if the search measured nothing.
    """
    # A plane shows two figures; the table below has the others.
    across, up = fields_of(outcome)[:2]
    objective = recorded_bounds(findings.objective_of(outcome), trials)
    records = [record for record in trials if record.phase == "search" and record.measurement]
    if not records:
        return None
    # Younger trials of halving are faster and would seem to beat the front.
    full_age_s = max(record.trial.until_s for record in records)
    results = [
        Result(record.trial, record.status, record.measurement)
        for record in records
        if record.trial.until_s == full_age_s
    ]
    traces = []
    for feasibility, (name, role, symbol) in _ROLES.items():
        of_kind = [result for result in results if objective.feasibility(result) is feasibility]
        points = [(objective.figure(result, across), objective.figure(result, up)) for result in of_kind]
        traces.append(_points(points, name, role, symbol))
    front = [(point.figures[across], point.figures[up]) for point in outcome.front]
    traces.append(_points(front, "Front", "best", "circle") | {"mode": "lines+markers", "line": _LINE})
    baseline = (outcome.baseline.figure(across).value, outcome.baseline.figure(up).value)
    traces.append(_points([baseline], "Baseline", "baseline", "diamond"))
    layout = axes(field_title(across), field_title(up)) | {"hovermode": "closest"}
    return {"data": [trace for trace in traces if trace["x"]], "layout": layout}


def growth_of_front(outcome: Outcome) -> Figure | None:
    """The hypervolume over seconds of measuring; None where no front was sought or nothing was found."""
    if outcome.hypervolume is None or not outcome.hypervolume.by_time:
        return None
    trace = {
        "type": "scatter",
        "mode": "lines",
        "name": "Hypervolume",
        "x": [round(at_s, 3) for at_s, _ in outcome.hypervolume.by_time],
        "y": [round(volume, 5) for _, volume in outcome.hypervolume.by_time],
        "line": _LINE,
        "hovertemplate": "%{y:.3f} after %{x:,.4s} s<extra></extra>",
    }
    return {"data": [trace], "layout": axes("Time spent measuring (s)", "Hypervolume")}


def _points(points: Sequence[tuple[Any, Any]], name: str, role: str, symbol: str) -> dict[str, Any]:
    """Returns Plotly markers at the points whose coordinates are both known."""
    known = [(x, y) for x, y in points if x is not None and y is not None and x == x and y == y]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": [x for x, _ in known],
        "y": [y for _, y in known],
        "marker": {"color": f"role:{role}", "size": 8, "symbol": symbol, "opacity": 0.85},
        "hovertemplate": f"%{{x:,.4s}}, %{{y:,.4s}}<extra>{name}</extra>",
    }


def noise_sentences(outcome: Outcome) -> list[str]:
    """Returns sentences on the noise of a front, and on points that are alike; empty without one."""
    if not outcome.front_noise:
        return []
    spans = [
        f"{100 * (ratio - 1):.2g}% in {findings.field_label(field)}"
        for field, ratio in outcome.front_noise.items()
    ]
    limits = f"Differences of up to {' and '.join(spans)} between two points may be chance (95%)."
    alike = [
        f"Point {number} cannot be told apart from {'points' if len(point.alike) > 1 else 'point'} "
        f"{' and '.join(map(str, point.alike))} in any objective."
        for number, point in enumerate(outcome.front, 1)
        # Each pair is named once, at its first point.
        if min(point.alike, default=0) > number
    ]
    return [limits, *alike]


def _table(outcome: Outcome) -> str:
    """Returns the table of the front's points; "" without a front."""
    if not outcome.front:
        return ""
    fields = fields_of(outcome)
    heads = "".join(f'<th class="number">{escape(findings.field_label(field))}</th>' for field in fields)
    baseline = outcome.baseline.configuration
    rows = "".join(_row(number, point, fields, baseline) for number, point in enumerate(outcome.front, 1))
    noise = escape(" ".join(noise_sentences(outcome)))
    export = f"rocktune export {outcome.study} --to options-file --point NUMBER"
    return (
        '<section><h2>Points of the front</h2>\n<p class="note">Choose a point and export it: '
        f"<code>{escape(export)}</code>. Proven above is the one that balances all "
        f"objectives. {noise}</p>\n"
        f'<div class="scroll"><table><thead><tr><th class="number">Point</th>{heads}<th>Configuration</th>'
        f"</tr></thead><tbody>{rows}</tbody></table></div></section>\n"
    )


def _row(number: int, point: FrontPoint, fields: Sequence[str], baseline: Mapping[str, Any]) -> str:
    """Returns the HTML row of one point of the front."""
    cells = "".join(
        f'<td class="number">{findings.format_field(field, point.figures.get(field))}</td>'
        for field in fields
    )
    changes = findings.format_changes(point.configuration, baseline)
    return f'<tr><td class="number">{number}</td>{cells}<td class="configuration">{escape(changes)}</td></tr>'
