"""Report section on the cost of operations: winner and baseline, with the parts of their cost."""

from html import escape

from rocktune.cost import COST
from rocktune.outcome import Outcome
from rocktune.report import findings
from rocktune.report.figures import SIDES


def cost_rows(outcome: Outcome) -> list[tuple[str, list[str]]]:
    """Returns labels and texts for each compared configuration: the cost, then its parts.

    The texts are in the order of `outcome.sides`: means over the runs of the final proof, the cost with its
    interval on a second line. Empty unless the study has prices.
    """
    pricing = findings.objective_of(outcome).pricing
    if pricing is None:
        return []
    sides = outcome.sides.values()
    rows = []
    for field in (COST, *pricing.parts):
        # The cost inside a weighted sum is shown like one that is an objective itself.
        label = (
            findings.field_label(field) if field == COST else field.replace("cost_", "", 1).replace("_", " ")
        )
        unit = f", {pricing.prices.currency} {findings.field_unit(COST)}" if field == COST else ""
        texts = [findings.format_number(side.figure(field).value) for side in sides]
        if field == COST:
            spans = [findings.format_interval(side.figure(field)) for side in sides]
            texts = [f"{text}\n{span}" for text, span in zip(texts, spans, strict=True)]
        rows.append((label + unit, texts))
    return rows


def cost_section(outcome: Outcome) -> str:
    """Returns the section on the cost; "" unless the study has prices."""
    rows = cost_rows(outcome)
    if not rows:
        return ""
    heads = "".join(f'<th class="number">{escape(SIDES[side])}</th>' for side in outcome.sides)
    body = "".join(
        f"<tr><td>{escape(label[:1].upper() + label[1:])}</td>" + "".join(map(_cell, texts)) + "</tr>"
        for label, texts in rows
    )
    return (
        '<section><h2>Cost</h2>\n<p class="note">Means over the runs of the final proof, at full size, with '
        "the prices of the study. The parts add up to the cost.</p>\n"
        f'<div class="scroll"><table><thead><tr><th></th>{heads}</tr></thead><tbody>{body}</tbody></table>'
        "</div></section>\n"
    )


def _cell(text: str) -> str:
    """Returns the HTML cell of a text, whose second line is an interval."""
    value, _, interval = text.partition("\n")
    shown = f'<span class="interval">{escape(interval)}</span>' if interval else ""
    return f'<td class="number">{escape(value)}{shown}</td>'
