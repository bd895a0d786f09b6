"""The report's section on the configurations that a search began with."""

from collections.abc import Sequence
from html import escape

from rocktune.ledger import StudyRecord, TrialRecord
from rocktune.outcome import Outcome
from rocktune.report.findings import field_label, format_field, objective_of, primary_field
from rocktune.study.specs.tried import Tried
from rocktune.trial import Configuration, Result


def tried_section(study: StudyRecord, outcome: Outcome, trials: Sequence[TrialRecord]) -> str:
    """Returns the section on what was measured before the tuner began; "" if nothing was."""
    tried = [Tried.model_validate(each) for each in study.spec.get("tried", ())]
    if not tried:
        return ""
    field, objective = primary_field(outcome), objective_of(outcome)
    first: dict[Configuration, Result] = {}
    for record in trials:
        if record.phase == "search":
            first.setdefault(record.trial.configuration, record.result)
    rows = ""
    for each in tried:
        result = first.get(Configuration(each.configuration))
        figure = "" if result is None else format_field(field, objective.figure(result, field))
        cells = (each.source, figure, "; ".join(each.differences))
        rows += "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"
    return (
        '<section><h2>What the search began with</h2>\n<p class="note">These configurations were measured '
        "before the tuner began, at the search's cost. Those of earlier studies are the best ones under "
        "similar conditions; 0 stands for equal conditions.</p>\n"
        f'<div class="scroll"><table><thead><tr><th>From</th><th>{escape(field_label(field))}</th>'
        f"<th>Changed to fit</th></tr></thead><tbody>{rows}</tbody></table></div></section>\n"
    )
