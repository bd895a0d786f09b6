"""Table and sentences on the constraints of a study, and how the sides of its proof keep them."""

from html import escape

from rocktune.constraint import YIELDED_FACTOR
from rocktune.outcome import Bound, Outcome
from rocktune.report.findings import UNKNOWN, baseline_name, field_label, format_field

HEADS = ("bound", "tuned", "baseline")
_ORIGINS = {False: "", True: " (default)"}


def bound_rows(outcome: Outcome) -> list[tuple[str, list[str]]]:
    """Returns label and texts of each constraint: its bound, and the means of both sides of the proof.

    Empty without constraints, without a proof, and for older documents.
    """
    if outcome.best is None:
        return []
    rows = []
    for bound in outcome.bounds:
        means = [side.figure(bound.field).value for side in (outcome.best, outcome.baseline)]
        texts = [_bound_text(bound), *(format_field(bound.field, mean) for mean in means)]
        rows.append((f"{field_label(bound.field)}{_ORIGINS[bound.is_default]}", texts))
    return rows


def _bound_text(bound: Bound) -> str:
    """Returns a bound in words, with the multiple of the baseline's figure that it was stated as."""
    value = UNKNOWN if bound.bound is None else format_field(bound.field, bound.bound)
    stated = bound.constraint.partition("=")[2]
    multiple = f" ({stated.removesuffix('x')}× the baseline)" if stated.endswith("x") else ""
    if bound.has_yielded:
        multiple = f" ({YIELDED_FACTOR:g}× the baseline)"
    return f"at {'most' if bound.at_most else 'least'} {value}{multiple}"


def yielded_sentence(outcome: Outcome) -> str:
    """Returns a sentence on the defaults that the baseline breaks; "" if it keeps all."""
    labels = [field_label(bound.field) for bound in outcome.bounds if bound.has_yielded]
    if not labels:
        return ""
    name = baseline_name(outcome)
    return (
        f"{name[:1].upper()}{name[1:]} itself breaks the default constraint on {' and '.join(labels)}. So "
        f"the bound is {YIELDED_FACTOR:g} times its own figure."
    )


def section(outcome: Outcome) -> str:
    """Returns the report's section on the constraints; "" where there is no row to show."""
    found = bound_rows(outcome)
    if not found:
        return ""
    rows = "".join(
        f"<tr><td>{escape(label)}</td>" + "".join(f"<td>{escape(text)}</td>" for text in texts) + "</tr>"
        for label, texts in found
    )
    heads = "".join(f"<th>{head.capitalize()}</th>" for head in HEADS)
    return (
        '<section><h2>Bounds</h2>\n<p class="note">What a configuration has to keep to be recommended, and '
        "the means over the runs of the proof. Every tuner has the same defaults; a --constraint on a figure "
        "replaces its default.</p>\n"
        f'<div class="scroll"><table><thead><tr><th></th>{heads}</tr></thead><tbody>{rows}</tbody></table>'
        "</div></section>\n"
    )
