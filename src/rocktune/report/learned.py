"""Report section on the models of a Bayesian search: which knobs matter, and how tasks correlate."""

from collections.abc import Sequence
from html import escape

from rocktune.outcome import Outcome
from rocktune.outcome_parts import LearnedModel
from rocktune.report import findings
from rocktune.report.sections import breakable


def section(outcome: Outcome) -> str:
    """Returns the section on length scales and correlations between tasks; "" for tuners without models."""
    if not outcome.models:
        return ""
    count = len(outcome.models)
    parts = "".join(_model(model, number, count) for number, model in enumerate(outcome.models, 1))
    return (
        '<section><h2>What the model learned</h2>\n<p class="note">The length scale is the change of a knob '
        "after which the model expects a different result, in widths of the knob's (warped) range. "
        "The shorter it is, the more the knob matters; far above 1 it does not matter. From the last model "
        f"of the search, which knows only the measured configurations.</p>\n{parts}</section>\n"
    )


def _model(model: LearnedModel, number: int, of: int) -> str:
    """Returns the HTML tables of one model: length scales by knob, and correlations between tasks."""
    labels = [escape(findings.field_label(task)) for task in model.tasks]
    title = f"<h3>Cluster {number}: {', '.join(labels)}</h3>\n" if of > 1 else ""
    # The shortest scale, which matters most, comes first.
    scales = sorted(model.length_scales.items(), key=lambda item: item[1])
    rows = "".join(
        f'<tr><td class="option"><code>{breakable(name)}</code></td>'
        f'<td class="number">{findings.format_number(scale)}</td></tr>'
        for name, scale in scales
    )
    correlations = _correlations(labels, model.correlations)
    return (
        f'{title}<div class="scroll"><table><thead><tr><th>Knob</th><th class="number">Length scale</th></tr>'
        f"</thead><tbody>{rows}</tbody></table></div>\n{correlations}"
    )


def _correlations(labels: Sequence[str], rows: Sequence[Sequence[float]]) -> str:
    """Returns the table of correlations between tasks; "" for one task."""
    if len(labels) < 2:
        return ""
    heads = "".join(f'<th class="number">{label}</th>' for label in labels)
    body = "".join(
        f"<tr><td>{label}</td>" + "".join(f'<td class="number">{value:.2f}</td>' for value in row) + "</tr>"
        for label, row in zip(labels, rows, strict=True)
    )
    return (
        '<p class="note">Correlation between tasks, each with the sign that makes more better. Near 1 '
        "one task predicts the other; near 0 it says nothing about it.</p>\n"
        f'<div class="scroll"><table><thead><tr><th>Task</th>{heads}</tr></thead><tbody>{body}</tbody>'
        "</table></div>\n"
    )
