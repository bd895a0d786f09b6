"""Report section on the workloads of a robust study."""

from html import escape

from rocktune.outcome import Outcome
from rocktune.report import findings


def workload_rows(outcome: Outcome) -> list[tuple[str, list[str]]]:
    """Returns each workload with the ratio of winner to baseline and its interval, the worst first."""
    return [
        (each.workload, [findings.format_ratio(each.ratio), findings.format_ratio_interval(each.ratio)])
        for each in outcome.workloads
    ]


def workloads_section(outcome: Outcome) -> str:
    """Returns the section on the workloads; "" unless the study is robust."""
    if not outcome.workloads:
        return ""
    rows = ""
    for name, texts in workload_rows(outcome):
        cells = "".join(f'<td class="number">{escape(text)}</td>' for text in texts)
        rows += f"<tr><td>{escape(name)}</td>{cells}</tr>"
    return (
        '<section><h2>Workloads</h2>\n<p class="note">Each trial ran on the given workload and on others '
        "near it. The ratio of the study is that on the worst one, and its interval holds for all of them "
        "together; the intervals here are of each workload alone. Objectives, constraints and the means of "
        "the sides are the worst over the workloads; medians and series are of the given one.</p>\n"
        '<div class="scroll"><table><thead><tr><th>Workload</th><th class="number">Tuned to baseline</th>'
        f'<th class="number">95% interval</th></tr></thead><tbody>{rows}</tbody></table></div></section>\n'
    )
